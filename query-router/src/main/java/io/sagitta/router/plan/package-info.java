// SPDX-License-Identifier: Apache-2.0

/**
 * Pure plans: what to ask of which shard, decided from the request and the shard map alone. Nothing
 * here waits, allocates off the heap or sends.
 *
 * <p>{@link io.sagitta.router.plan.SearchPlan} is a search, {@link
 * io.sagitta.router.plan.ScanCursor} where a scan goes on, {@link io.sagitta.router.plan.Freshness}
 * what a consistency level means for one shard.
 */
package io.sagitta.router.plan;
