// SPDX-License-Identifier: Apache-2.0
/**
 * One shard's state machine. {@link io.sagitta.shard.Shard} applies committed log entries on one
 * thread, hands out immutable {@link io.sagitta.shard.ShardView}s to any thread, and writes
 * checkpoints in the background.
 *
 * <p>Invariants: apply reads no clock and no randomness, so replicas that applied the same entries
 * hold the same rows in the same segments; a row is seen by a view at index v exactly if it was
 * born at or before v and had not died by then; readers never block apply. Start with {@code
 * Shard}.
 */
package io.sagitta.shard;
