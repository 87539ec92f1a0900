// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.service;

import io.sagitta.flight.internal.SentCheckpoint;
import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * Calls to other nodes that carry no client's request: probes, prefetches, files. They have
 * connections of their own, so that a flood of clients cannot delay a read barrier.
 */
public interface PeerLinks {

  /** Terms in the order asked, -1 where the peer does not vote. */
  CompletableFuture<List<Long>> terms(
      String host, int internalPort, List<UUID> groups, Duration timeout);

  CompletableFuture<Long> leaderBarrier(
      String host, int internalPort, UUID group, Duration timeout);

  /** Has a peer fetch what it lacks of a checkpoint from the node named. */
  CompletableFuture<Void> prefetch(
      String host,
      int internalPort,
      UUID group,
      byte[] manifest,
      NodeId source,
      String sourceHost,
      int sourcePort,
      Duration timeout);

  /** Has a peer bring its newest checkpoint, of {@code minIndex} or later, to the node named. */
  CompletableFuture<SentCheckpoint> sendCheckpoint(
      String host, int internalPort, UUID group, long minIndex, NodeId to, Duration timeout);

  /** Reads a file of a peer's checkpoint from {@code offset} on. */
  InputStream openFile(String host, int internalPort, ShardId shard, String file, long offset)
      throws IOException;
}
