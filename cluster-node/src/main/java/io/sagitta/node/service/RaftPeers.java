// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.service;

import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.raft.CheckpointTransfer;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.Peer;
import io.sagitta.raft.ReplicatedState;
import io.sagitta.raft.TermProbe;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** What Raft asks of other nodes beyond its own transport, sent over the internal port. */
public final class RaftPeers implements TermProbe, CheckpointTransfer {
  /** A checkpoint of many gigabytes at a bounded rate takes its time. */
  private static final Duration PREFETCH_TIMEOUT = Duration.ofHours(2);

  /** Keeps a checkpoint's files on disk while they travel. */
  @FunctionalInterface
  public interface Pins {
    AutoCloseable pin(GroupId group, byte[] manifest);
  }

  private final Function<NodeId, Optional<ShardMap.Node>> nodes;
  private final PeerLinks links;
  private final ShardMap.Node self;
  private final Pins pins;

  /**
   * The peers of this node.
   *
   * @param nodes where each node is, as far as known
   * @param self this node, as others reach it
   */
  public RaftPeers(
      Function<NodeId, Optional<ShardMap.Node>> nodes,
      PeerLinks links,
      ShardMap.Node self,
      Pins pins) {
    this.nodes = nodes;
    this.links = links;
    this.self = self;
    this.pins = pins;
  }

  @Override
  public CompletableFuture<Map<GroupId, Long>> terms(
      Peer peer, List<GroupId> groups, Duration timeout) {
    List<UUID> ids = groups.stream().map(GroupId::value).toList();
    return at(peer)
        .map(node -> links.terms(node.host(), node.internalPort(), ids, timeout))
        .orElseGet(() -> unknown(peer))
        .thenApply(terms -> byGroup(groups, terms));
  }

  private static Map<GroupId, Long> byGroup(List<GroupId> groups, List<Long> terms) {
    if (terms.size() != groups.size()) {
      throw new IllegalStateException("asked for " + groups.size() + " terms, got " + terms.size());
    }
    Map<GroupId, Long> byGroup = new HashMap<>();
    for (int i = 0; i < groups.size(); i++) {
      if (terms.get(i) >= 0) {
        byGroup.put(groups.get(i), terms.get(i));
      }
    }
    return byGroup;
  }

  @Override
  public CompletableFuture<Long> leaderBarrier(Peer leader, GroupId group, Duration timeout) {
    return at(leader)
        .map(node -> links.leaderBarrier(node.host(), node.internalPort(), group.value(), timeout))
        .orElseGet(() -> unknown(leader));
  }

  @Override
  public CompletableFuture<Void> prefetch(
      Peer follower, GroupId group, ReplicatedState.Checkpoint checkpoint) {
    return at(follower)
        .map(node -> prefetch(node, group, checkpoint.manifest()))
        .orElseGet(() -> unknown(follower));
  }

  private CompletableFuture<Void> prefetch(ShardMap.Node node, GroupId group, byte[] manifest) {
    AutoCloseable pin = pins.pin(group, manifest);
    return links
        .prefetch(
            node.host(),
            node.internalPort(),
            group.value(),
            manifest,
            self.id(),
            self.host(),
            self.internalPort(),
            PREFETCH_TIMEOUT)
        .whenComplete((done, failure) -> unpin(pin));
  }

  private static void unpin(AutoCloseable pin) {
    try {
      pin.close();
    } catch (Exception e) {
      throw new IllegalStateException("a checkpoint's files could not be released", e);
    }
  }

  private Optional<ShardMap.Node> at(Peer peer) {
    return nodes.apply(NodeId.parse(peer.id()));
  }

  private static <T> CompletableFuture<T> unknown(Peer peer) {
    return CompletableFuture.failedFuture(
        SagittaException.unavailable(
            "the address of node " + peer.id() + " is not known yet", 500));
  }
}
