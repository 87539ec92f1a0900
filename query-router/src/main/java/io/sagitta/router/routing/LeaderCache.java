// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.routing;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import io.sagitta.router.Leaders;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Who leads a shard: this node's own replica knows first, since followers elect; where it has no
 * word, whoever answers and refusals told of last. That is forgotten as soon as it proves wrong, or
 * does not answer: a leader that is paused or cut off never says that it no longer leads.
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
    return hints.leaderOf(shard).or(() -> Optional.ofNullable(learned.getIfPresent(shard)));
  }

  /**
   * Whether somebody other than this node has come to be known as the leader since now. That the
   * node was no leader to begin with does not count: then it was asked for another reason.
   */
  public BooleanSupplier succession(ShardId shard, NodeId asked) {
    Optional<NodeId> before = leaderOf(shard);
    return () -> {
      Optional<NodeId> now = leaderOf(shard);
      return now.isPresent() && !now.get().equals(asked) && !now.equals(before);
    };
  }

  /** A node answered as the shard's leader, or was named as such. */
  public void learn(ShardId shard, NodeId leader) {
    learned.put(shard, leader);
  }

  /** A node proved not to lead, or did not answer. */
  public void forget(ShardId shard, NodeId node) {
    learned.asMap().remove(shard, node);
  }
}
