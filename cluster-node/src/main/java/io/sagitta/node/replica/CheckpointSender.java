// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import io.sagitta.flight.internal.SentCheckpoint;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.raft.CheckpointTransfer;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.Peer;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.RaftHost.GroupStatus;
import io.sagitta.raft.RaftHost.Offer;
import io.sagitta.raft.ReplicatedState.Checkpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The healthy side of a repair: brings the newest checkpoint of a replica here to a node whose own
 * is damaged, by the prefetch that an install begins with. Any replica will do, whether it leads or
 * not: what a checkpoint holds is committed.
 */
public final class CheckpointSender {
  private static final Logger log = LoggerFactory.getLogger(CheckpointSender.class);

  /** At a time, of all shards: more would share the same disk and network, as installs do. */
  private static final int SENDS_MAX = 2;

  private static final int ATTEMPTS_MAX = 10;

  private static final long RETRY_AFTER_MS = 1_000;

  private final RaftHost host;
  private final CheckpointTransfer transfer;
  private final Semaphore slots = new Semaphore(SENDS_MAX);

  public CheckpointSender(RaftHost host, CheckpointTransfer transfer) {
    this.host = host;
    this.transfer = transfer;
  }

  /**
   * Completes once the other node has every file.
   *
   * @param minIndex log index that the checkpoint must reach
   * @throws SagittaException UNAVAILABLE where there is none yet; one has been asked for then
   */
  public CompletableFuture<SentCheckpoint> send(ShardId shard, long minIndex, NodeId to) {
    if (!slots.tryAcquire()) {
      throw unavailable(SENDS_MAX + " checkpoints are on their way to damaged replicas already");
    }
    CompletableFuture<SentCheckpoint> arrived;
    try {
      arrived = begin(shard, minIndex, new Peer(to.toString(), ""));
    } catch (RuntimeException e) {
      arrived = CompletableFuture.failedFuture(e);
    }
    return arrived.whenComplete((done, failure) -> slots.release());
  }

  /** Under writes a checkpoint may be replaced, its files with it, before they are held fast. */
  private CompletableFuture<SentCheckpoint> begin(ShardId shard, long minIndex, Peer to) {
    GroupId group = new GroupId(shard.value());
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      Offer offer = newest(shard, group, minIndex);
      Checkpoint checkpoint = offer.checkpoint();
      try {
        return transfer
            .prefetch(to, group, checkpoint)
            .thenApply(
                done ->
                    new SentCheckpoint(
                        checkpoint.position().term(),
                        checkpoint.position().index(),
                        checkpoint.manifest(),
                        offer.configuration()));
      } catch (UncheckedIOException gone) {
        log.debug("The checkpoint of shard {} at {} is gone", shard, checkpoint.position(), gone);
      }
    }
    throw unavailable("its checkpoints are replaced by newer ones faster than they can be sent");
  }

  private Offer newest(ShardId shard, GroupId group, long minIndex) {
    Optional<Offer> newest;
    try {
      newest = host.offer(group);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    long index = newest.map(offer -> offer.checkpoint().position().index()).orElse(-1L);
    if (index < minIndex) {
      if (host.status(group).flatMap(GroupStatus::failure).isEmpty()) {
        host.wantCheckpoint(group);
      }
      throw unavailable(
          "its newest checkpoint of shard %s ends at %d, not at %d or later"
              .formatted(shard, index, minIndex));
    }
    return newest.orElseThrow();
  }

  private static SagittaException unavailable(String why) {
    return SagittaException.unavailable(why, RETRY_AFTER_MS);
  }
}
