// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.service;

import io.sagitta.flight.internal.InternalHandler;
import io.sagitta.flight.internal.SentCheckpoint;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.node.NodeConfig.HostPort;
import io.sagitta.node.placement.PeerCalls;
import io.sagitta.router.fanout.Peer;
import io.sagitta.router.fanout.PeerConnections;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Calls to other nodes over their internal ports; those to this node itself stay in the process.
 */
public final class PeerTransport implements PeerCalls, PeerLinks {
  /** One file of a checkpoint, at a bounded rate. */
  private static final Duration FILE_TIMEOUT = Duration.ofHours(1);

  private final HostPort self;
  private final Supplier<InternalHandler> local;
  private final PeerConnections connections;

  /**
   * The calls of a node.
   *
   * @param self its own internal address
   * @param local what answers there
   */
  public PeerTransport(
      HostPort self, Supplier<InternalHandler> local, PeerConnections connections) {
    this.self = self;
    this.local = local;
    this.connections = connections;
  }

  @Override
  public CompletableFuture<byte[]> metadata(HostPort to, byte[] request, Duration timeout) {
    return to.equals(self)
        ? local.get().metadata(request)
        : call(to.host(), to.port(), peer -> peer.metadata(request, timeout));
  }

  @Override
  public CompletableFuture<byte[]> placement(HostPort to, byte[] request, Duration timeout) {
    return to.equals(self)
        ? local.get().placement(request)
        : call(to.host(), to.port(), peer -> peer.placement(request, timeout));
  }

  @Override
  public CompletableFuture<List<Long>> terms(
      String host, int internalPort, List<UUID> groups, Duration timeout) {
    return call(host, internalPort, peer -> peer.terms(groups, timeout));
  }

  @Override
  public CompletableFuture<Long> leaderBarrier(
      String host, int internalPort, UUID group, Duration timeout) {
    return call(host, internalPort, peer -> peer.leaderBarrier(group, timeout));
  }

  @Override
  public CompletableFuture<Void> prefetch(
      String host,
      int internalPort,
      UUID group,
      byte[] manifest,
      NodeId source,
      String sourceHost,
      int sourcePort,
      Duration timeout) {
    return call(
        host,
        internalPort,
        peer -> peer.prefetch(group, manifest, source, sourceHost, sourcePort, timeout));
  }

  @Override
  public CompletableFuture<SentCheckpoint> sendCheckpoint(
      String host, int internalPort, UUID group, long minIndex, NodeId to, Duration timeout) {
    return call(host, internalPort, peer -> peer.sendCheckpoint(group, minIndex, to, timeout));
  }

  @Override
  public InputStream openFile(
      String host, int internalPort, ShardId shard, String file, long offset) throws IOException {
    return connections.peer(host, internalPort).openFile(shard, file, offset, FILE_TIMEOUT);
  }

  private <T> CompletableFuture<T> call(
      String host, int port, Function<Peer, CompletableFuture<T>> call) {
    try {
      return call.apply(connections.peer(host, port));
    } catch (SagittaException e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
