// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.shard.index.IndexingOptions;
import io.sagitta.shard.store.DiskRoom;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * What a node gives to each of its shards. Nothing here may change what apply does to the state:
 * that is logged ({@link ShardInit}).
 *
 * @param background runs flushes and checkpoints, one task at a time for each shard
 * @param memory accounts for memory, shared by all shards of a node
 * @param frozenWaitingMax frozen segments that may wait for their flush before apply waits too
 * @param indexing how graphs are built; empty: none are, and every search scans
 * @param room asked before a checkpoint or a graph is written
 */
public record ShardOptions(
    Executor background,
    MemoryBudget memory,
    int frozenWaitingMax,
    Optional<IndexingOptions> indexing,
    DiskRoom room) {
  /**
   * Frozen segments that may wait before apply does: each holds at most a freeze's worth of rows.
   */
  public static final int FROZEN_WAITING_MAX = 2;

  public ShardOptions {
    Objects.requireNonNull(background);
    Objects.requireNonNull(memory);
    Objects.requireNonNull(indexing);
    Objects.requireNonNull(room);
    if (frozenWaitingMax < 1) {
      throw new IllegalArgumentException("frozenWaitingMax " + frozenWaitingMax + " is below 1");
    }
  }

  /** Without graphs. */
  public ShardOptions(Executor background, MemoryBudget memory) {
    this(background, memory, FROZEN_WAITING_MAX);
  }

  /** Without graphs. */
  public ShardOptions(Executor background, MemoryBudget memory, int frozenWaitingMax) {
    this(background, memory, frozenWaitingMax, Optional.empty(), DiskRoom.ENDLESS);
  }
}
