// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.service;

import io.sagitta.flight.internal.CallContext;
import io.sagitta.flight.internal.InternalHandler;
import io.sagitta.flight.internal.NotLeaderException;
import io.sagitta.flight.internal.SentCheckpoint;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteOutcome;
import io.sagitta.node.placement.Cluster;
import io.sagitta.node.replica.CheckpointExports;
import io.sagitta.node.replica.CheckpointFetcher;
import io.sagitta.node.replica.CheckpointSender;
import io.sagitta.node.replica.LocalShards;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.NotLeader;
import io.sagitta.raft.RaftHost;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * What this node does for other nodes, spread over the parts that do it. It answers from the moment
 * the internal port opens; what has not started yet is UNAVAILABLE.
 */
public final class NodeInternals implements InternalHandler {
  private final Cluster cluster;
  private final PeerLinks links;

  private volatile RaftHost metaHost; // null until it runs
  private volatile Shards shards; // null until they run

  /** The parts that answer for shards. */
  public record Shards(
      RaftHost host,
      LocalShards local,
      CheckpointFetcher fetcher,
      CheckpointExports exports,
      CheckpointSender sender) {}

  public NodeInternals(Cluster cluster, PeerLinks links) {
    this.cluster = cluster;
    this.links = links;
  }

  /** From now on the metadata group's Raft runs. */
  public void attach(RaftHost running) {
    metaHost = running;
  }

  /** From now on shards run. */
  public void attach(Shards running) {
    shards = running;
  }

  /** From now on nothing runs any more. */
  public void detach() {
    shards = null;
    metaHost = null;
  }

  @Override
  public CompletableFuture<WriteOutcome> write(ShardWrite write, CallContext call) {
    Shards running = shards;
    return running == null ? starting() : running.local().write(write, call);
  }

  @Override
  public CompletableFuture<ShardAnswer> read(ShardRead read, CallContext call) {
    Shards running = shards;
    return running == null ? starting() : running.local().read(read, call);
  }

  @Override
  public Map<UUID, Long> terms(List<UUID> groups) {
    List<GroupId> ids = groups.stream().map(GroupId::new).toList();
    Map<UUID, Long> terms = new HashMap<>();
    RaftHost meta = metaHost;
    if (meta != null) {
      meta.terms(ids).forEach((group, term) -> terms.put(group.value(), term));
    }
    Shards running = shards;
    if (running != null) {
      running.host().terms(ids).forEach((group, term) -> terms.put(group.value(), term));
    }
    return terms;
  }

  @Override
  public CompletableFuture<Long> leaderBarrier(UUID group, long timeoutMs) {
    GroupId id = new GroupId(group);
    Duration timeout = Duration.ofMillis(timeoutMs);
    RaftHost meta = metaHost;
    if (meta != null && meta.status(id).isPresent()) {
      return meta.leaderReadIndex(id, timeout);
    }
    Shards running = shards;
    if (running == null) {
      return starting();
    }
    return running
        .host()
        .leaderReadIndex(id, timeout)
        .exceptionally(
            failure -> {
              if (failure instanceof NotLeader e) {
                throw new NotLeaderException(
                    e.getMessage(), running.local().leader(new ShardId(group)));
              }
              throw failure instanceof RuntimeException e ? e : new IllegalStateException(failure);
            });
  }

  @Override
  public CompletableFuture<byte[]> metadata(byte[] request) {
    return cluster.metadata(request);
  }

  @Override
  public CompletableFuture<byte[]> placement(byte[] request) {
    return cluster.placement(request);
  }

  @Override
  public CompletableFuture<Void> prefetchCheckpoint(
      UUID group, byte[] manifest, NodeId source, String sourceHost, int sourcePort) {
    RaftHost meta = metaHost;
    if (meta != null && meta.status(new GroupId(group)).isPresent()) {
      return CompletableFuture.completedFuture(null); // its manifest is all there is
    }
    Shards running = shards;
    if (running == null) {
      return starting();
    }
    return running
        .fetcher()
        .fetch(
            new ShardId(group),
            manifest,
            (shard, file, offset) -> links.openFile(sourceHost, sourcePort, shard, file, offset));
  }

  @Override
  public CompletableFuture<SentCheckpoint> sendCheckpoint(UUID group, long minIndex, NodeId to) {
    Shards running = shards;
    return running == null ? starting() : running.sender().send(new ShardId(group), minIndex, to);
  }

  @Override
  public InputStream openFile(ShardId shard, String fileId, OptionalLong offset)
      throws IOException {
    Shards running = shards;
    if (running == null) {
      throw SagittaException.unavailable("the node is starting", 500);
    }
    return running.exports().open(shard, fileId, offset.orElse(0));
  }

  private static <T> CompletableFuture<T> starting() {
    return CompletableFuture.failedFuture(
        SagittaException.unavailable("the node is starting or stopping", 500));
  }
}
