// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.routing;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import io.sagitta.router.Leaders;
import java.util.Optional;

/**
 * Who led a shard last, as far as answers and refusals told. What was learned from a call goes
 * before the node's own hint, and is forgotten as soon as it proves wrong.
 */
public final class LeaderCache {
  /** Shards remembered: far more than a cluster has. */
  private static final int SHARDS_MAX = 100_000;

  private final Leaders hints;
  private final Cache<ShardId, NodeId> learned =
      Caffeine.newBuilder().maximumSize(SHARDS_MAX).executor(Runnable::run).build();

  public LeaderCache(Leaders hints) {
    this.hints = hints;
  }

  public Optional<NodeId> leaderOf(ShardId shard) {
    NodeId known = learned.getIfPresent(shard);
    return known != null ? Optional.of(known) : hints.leaderOf(shard);
  }

  /** A node answered as the shard's leader, or was named as such. */
  public void learn(ShardId shard, NodeId leader) {
    learned.put(shard, leader);
  }

  /** A node proved not to lead. */
  public void forget(ShardId shard, NodeId node) {
    learned.asMap().remove(shard, node);
  }
}
