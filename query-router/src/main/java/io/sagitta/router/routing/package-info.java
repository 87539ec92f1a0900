// SPDX-License-Identifier: Apache-2.0

/**
 * Who owns a slot, who leads a shard, and which replica is asked.
 *
 * <p>Start with {@link io.sagitta.router.routing.MapCache}: the shard map with its refresh, shared
 * by all who find it too old at the same time. {@link io.sagitta.router.routing.LeaderCache}
 * remembers what refusals said about leaders; {@link io.sagitta.router.routing.ReplicaChoice} puts
 * replicas in the order in which they are tried. All of it may be wrong at any time: a shard's own
 * apply refuses what was routed by an old map, and a node that does not lead says so.
 */
package io.sagitta.router.routing;
