// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import io.sagitta.model.ShardId;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.RaftHost.GroupStatus;
import io.sagitta.shard.MemoryBudget;
import io.sagitta.shard.MemoryBudget.Part;
import io.sagitta.shard.ShardState;
import io.sagitta.shard.ShardState.Stage;
import io.sagitta.shard.log.ShardEntries;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Freezes segments before they are full where growing memory is short. A segment freezes by itself
 * once it is large enough, but where there is room for less than that, or for less than that of
 * each of many shards, none would ever be, and all writes would be refused for good.
 *
 * <p>What is frozen is flushed, and what is flushed is given back; so no other is frozen while one
 * waits for its flush.
 */
public final class EarlyFreeze {
  private final Replicas replicas;
  private final RaftHost host;
  private final MemoryBudget memory;
  private final InstantSource clock;

  /**
   * For the shards of a node.
   *
   * @param clock stamps entries
   */
  public EarlyFreeze(Replicas replicas, RaftHost host, MemoryBudget memory, InstantSource clock) {
    this.replicas = replicas;
    this.host = host;
    this.memory = memory;
    this.clock = clock;
  }

  private record Growing(ShardId shard, long bytes) {}

  /** Proposes a freeze of the largest growing segment that is led here, if it is time. */
  public void look() {
    if (memory.bytes(Part.GROWING) <= memory.growingBytesMax() / 2) {
      return;
    }
    List<Growing> led = new ArrayList<>();
    for (ShardId shard : replicas.ids()) {
      List<ShardState.SegmentInfo> segments =
          replicas.state(shard).map(ShardState::segments).orElse(List.of());
      if (segments.stream().anyMatch(segment -> segment.stage() == Stage.FROZEN)) {
        return;
      }
      segments.stream()
          .filter(segment -> segment.stage() == Stage.GROWING && segment.rows() > 0)
          .filter(segment -> isLed(shard))
          .forEach(segment -> led.add(new Growing(shard, segment.bytes())));
    }
    led.stream()
        .max(Comparator.comparingLong(Growing::bytes))
        .ifPresent(
            largest -> {
              // Another leader's word counts where this one is none any more.
              var unused =
                  host.submit(
                      new GroupId(largest.shard().value()),
                      ShardEntries.freeze(largest.shard(), clock.millis()));
            });
  }

  private boolean isLed(ShardId shard) {
    return host.status(new GroupId(shard.value())).filter(GroupStatus::leaderReady).isPresent();
  }
}
