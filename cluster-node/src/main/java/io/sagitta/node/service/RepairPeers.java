// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.service;

import io.sagitta.flight.internal.SentCheckpoint;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.node.placement.ClusterState.NodeEntry;
import io.sagitta.node.placement.ClusterState.ReplicaEntry;
import io.sagitta.node.placement.ClusterView;
import io.sagitta.node.replica.ReplicaRepair;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The other replicas of a shard by the cluster's map, asked over the internal port. */
public final class RepairPeers implements ReplicaRepair.Peers {
  /** A checkpoint of many gigabytes at a bounded rate takes its time. */
  private static final Duration TIMEOUT = Duration.ofHours(2);

  private final NodeId self;
  private final ClusterView view;
  private final PeerLinks links;

  public RepairPeers(NodeId self, ClusterView view, PeerLinks links) {
    this.self = self;
    this.view = view;
    this.links = links;
  }

  @Override
  public List<String> of(ShardId shard) {
    return view.state().find(shard).stream()
        .flatMap(placed -> placed.shard().replicas().stream())
        .filter(ReplicaEntry::created)
        .map(ReplicaEntry::node)
        .filter(node -> !node.equals(self))
        .flatMap(node -> view.node(node).stream())
        .map(entry -> entry.node().name())
        .toList();
  }

  @Override
  public CompletableFuture<SentCheckpoint> ask(String node, ShardId shard, long minIndex) {
    Optional<NodeEntry> peer =
        view.state().nodes().values().stream()
            .filter(entry -> entry.node().name().equals(node))
            .findAny();
    if (peer.isEmpty()) {
      return CompletableFuture.failedFuture(
          SagittaException.unavailable("it has left the cluster", 0));
    }
    return links.sendCheckpoint(
        peer.get().node().host(),
        peer.get().node().internalPort(),
        shard.value(),
        minIndex,
        self,
        TIMEOUT);
  }
}
