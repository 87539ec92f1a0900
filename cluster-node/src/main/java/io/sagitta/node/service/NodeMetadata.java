// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.service;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.flight.internal.CallContext;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.node.placement.Cluster;
import io.sagitta.node.placement.ClusterState.NodeEntry;
import io.sagitta.node.verify.Verification;
import io.sagitta.router.Leaders;
import io.sagitta.router.Metadata;
import io.sagitta.router.ShardMaps;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

/** The metadata group as the router sees it, wherever its leader is. */
public final class NodeMetadata implements Metadata, ShardMaps, Leaders {
  /** Wait of a call that has no deadline worth the name. */
  private static final Duration TIMEOUT_MAX = Duration.ofMinutes(10);

  /** A refresh is asked for in the middle of a request; an election is worth waiting for. */
  private static final Duration REFRESH_TIMEOUT = Duration.ofSeconds(10);

  private final Cluster cluster;
  private final Executor executor;
  private final Function<ShardId, Optional<NodeId>> leaders;
  private final Verification verification;

  /**
   * The metadata of a node.
   *
   * @param executor runs what blocks: one virtual thread each
   * @param leaders who leads a shard, as far as this process knows
   */
  public NodeMetadata(
      Cluster cluster, Executor executor, Function<ShardId, Optional<NodeId>> leaders) {
    this.cluster = cluster;
    this.executor = executor;
    this.leaders = leaders;
    this.verification = new Verification(cluster::digest, this::name, executor);
  }

  @Override
  public ShardMap current() {
    return cluster.map();
  }

  @Override
  public CompletableFuture<ShardMap> refresh(long minEpoch) {
    return blocking(
        () -> {
          cluster.refresh(REFRESH_TIMEOUT);
          if (cluster.map().epoch() < minEpoch) {
            throw SagittaException.unavailable(
                "the shard map is at epoch " + cluster.map().epoch() + ", asked for " + minEpoch,
                100);
          }
          return cluster.map();
        });
  }

  @Override
  public Optional<NodeId> leaderOf(ShardId shard) {
    return leaders.apply(shard);
  }

  @Override
  public CompletableFuture<ShardMap> create(CreateSpec spec, CallContext call) {
    return blocking(
        () -> {
          cluster.create(
              spec.collection(),
              spec.schema(),
              spec.shards().orElse(0),
              spec.replicas().orElse(0),
              left(call));
          return cluster.map();
        });
  }

  @Override
  public CompletableFuture<ShardMap> drop(String collection, CallContext call) {
    return blocking(
        () -> {
          cluster.drop(collection, left(call));
          return cluster.map();
        });
  }

  @Override
  public CompletableFuture<ObjectNode> status(CallContext call) {
    return blocking(() -> status(left(call)).cluster());
  }

  @Override
  public CompletableFuture<ObjectNode> describeExtras(
      ShardMap.Collection collection, CallContext call) {
    return blocking(() -> status(left(call)).shardStates(collection.name()));
  }

  private StatusJson status(Duration timeout) {
    return new StatusJson(cluster.refresh(timeout), cluster.reports(timeout));
  }

  @Override
  public CompletableFuture<ObjectNode> verify(ShardMap.Collection collection, CallContext call) {
    return blocking(() -> verification.verify(collection, () -> left(call)));
  }

  private String name(NodeId id) {
    NodeEntry node = cluster.state().nodes().get(id);
    return node == null ? id.toString() : node.node().name();
  }

  // ---- calls ---------------------------------------------------------------------------------

  private <T> CompletableFuture<T> blocking(Supplier<T> work) {
    return CompletableFuture.supplyAsync(work, executor);
  }

  private static Duration left(CallContext call) {
    Duration left = Duration.ofNanos(call.deadlineNanos() - System.nanoTime());
    if (left.isNegative()) {
      return Duration.ofMillis(1);
    }
    return left.compareTo(TIMEOUT_MAX) < 0 ? left : TIMEOUT_MAX;
  }
}
