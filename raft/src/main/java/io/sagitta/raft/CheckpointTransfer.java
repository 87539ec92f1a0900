// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft;

import java.util.concurrent.CompletableFuture;

/**
 * Moves a checkpoint's files to a peer before it is announced. Runs on the leader: it tells the
 * follower's node to fetch what it lacks and completes once that node reports every file verified
 * and fsynced. The source's files are pinned meanwhile. Safe to call again for the same checkpoint.
 */
public interface CheckpointTransfer {
  CompletableFuture<Void> prefetch(
      Peer follower, GroupId group, ReplicatedState.Checkpoint checkpoint);
}
