// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.internal;

import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * What a node does for other nodes. Implemented by the node, served by the internal endpoint,
 * called through the fan-out's peer connections.
 */
public interface InternalHandler extends ShardDoor {

  /** Current term of each group hosted here as a voter, read now (not cached). */
  Map<UUID, Long> terms(List<UUID> groups);

  /** A read barrier at this node as the group's leader. */
  CompletableFuture<Long> leaderBarrier(UUID group, long timeoutMs);

  /** Serves a request to the metadata group: a node joins, asks for the map, proposes a command. */
  CompletableFuture<byte[]> metadata(byte[] request);

  /** Creates or removes a group-replica here, as the metadata leader's reconcile loop asks. */
  CompletableFuture<byte[]> placement(byte[] request);

  /**
   * Fetches the files of a checkpoint that this replica lacks, from the node named; then fsynced.
   */
  CompletableFuture<Void> prefetchCheckpoint(
      UUID group, byte[] manifest, NodeId source, String sourceHost, int sourcePort);

  /**
   * Brings the newest checkpoint of the replica here to a node whose own has damaged files:
   * completes once that node has all of its files.
   *
   * @param minIndex log index that it must reach; where it does not yet, one that does is asked for
   *     here and the call fails with UNAVAILABLE
   */
  CompletableFuture<SentCheckpoint> sendCheckpoint(UUID group, long minIndex, NodeId to);

  /** Opens a checkpoint's file for a peer, from {@code offset}. */
  InputStream openFile(ShardId shard, String fileId, OptionalLong offset) throws IOException;
}
