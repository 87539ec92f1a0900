// SPDX-License-Identifier: Apache-2.0

/**
 * Breaks a cluster on purpose and says what was lost.
 *
 * <p>A {@link io.sagitta.ops.bench.chaos.Workload} writes points that describe themselves ({@link
 * io.sagitta.ops.bench.chaos.Described}) and enters each write in a {@link
 * io.sagitta.ops.bench.chaos.Ledger} outside the cluster, before it is sent and again when its
 * outcome is known. After each fault a {@link io.sagitta.ops.bench.chaos.LedgerCheck} compares what
 * the cluster holds with what the ledger allows: nothing acknowledged lost, nothing deleted back,
 * nothing half, nothing twice. {@link io.sagitta.ops.bench.chaos.Staleness} does the same for
 * reads.
 *
 * <p>Invariants: everything drawn at random comes from one seed, which is printed with the command
 * that replays it; checkers are pure, and each kind of fault that they know is planted in their
 * tests. Start with {@code Ledger}.
 */
package io.sagitta.ops.bench.chaos;
