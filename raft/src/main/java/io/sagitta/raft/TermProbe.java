// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Asks other processes things that Raft's own transport does not offer. The node implements it over
 * its internal gRPC service; batching many groups into one call per peer is done by the caller.
 */
public interface TermProbe {
  /**
   * The peer's current term of each group as it stands when the peer handles the call; absent where
   * it does not host the group as a voter. Fails when the peer cannot be reached in time.
   */
  CompletableFuture<Map<GroupId, Long>> terms(Peer peer, List<GroupId> groups, Duration timeout);

  /** A read barrier at the group's leader, asked by a follower. */
  CompletableFuture<Long> leaderBarrier(Peer leader, GroupId group, Duration timeout);
}
