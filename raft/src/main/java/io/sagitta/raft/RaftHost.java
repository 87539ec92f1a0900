// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * The Raft groups that this process hosts over one transport: one host for the metadata group, one
 * for all shard groups. Knows no vectors.
 */
public interface RaftHost extends AutoCloseable {

  /**
   * Makes the state of a group; called before the group starts and after a failed division
   * restarts.
   */
  interface StateFactory {
    /**
     * Opens it.
     *
     * @throws DamageException where its files are damaged; {@link DamagedStateException} where a
     *     peer's checkpoint could take their place
     */
    ReplicatedState open(GroupId group) throws IOException;

    /**
     * Puts a peer's checkpoint in the place of a damaged one, so that the state opens. Durable on
     * return; a crash leaves what was damaged or what replaces it.
     *
     * @return false, with nothing changed, where not all of its files are here
     */
    default boolean replaceDamaged(GroupId group, ReplicatedState.Checkpoint checkpoint)
        throws IOException {
      return false;
    }
  }

  /**
   * Creates the group here. Idempotent.
   *
   * @param voters the first voters, this peer among them; empty when this peer is to be added later
   *     by {@link #changeVoters} and must stay silent until then
   */
  void create(GroupId group, List<Peer> voters);

  /** Stops and deletes the group here. Idempotent. */
  void remove(GroupId group);

  /** Groups hosted here, also those quarantined at start. */
  List<GroupStatus> groups();

  Optional<GroupStatus> status(GroupId group);

  /**
   * Proposes an entry on this process's leader and completes once it is fsynced at a majority and
   * applied here. Fails with {@link NotLeader} (not appended), {@link Overloaded} (not appended) or
   * {@link OutcomeUnknown} (appended, or perhaps).
   *
   * @param entry at most {@link #ENTRY_BYTES_MAX} bytes; not touched afterwards by the caller. An
   *     empty one is a no-op: it is committed, but {@link ReplicatedState#apply} never sees it and
   *     its outcome is empty
   */
  CompletableFuture<Committed> submit(GroupId group, ByteBuffer entry);

  /**
   * The read barrier for strong reads. Completes with an index such that a view at or above it sees
   * every write acknowledged before this call; the local state has applied it. On the leader this
   * costs a term probe of as many voters as a majority needs, shared with other groups and calls
   * (none with one voter); on a follower it asks the leader. Fails with {@link NotLeader} where no
   * leader can confirm it, {@link NoSuchGroup}, {@link Overloaded} where too many wait, or a {@link
   * java.util.concurrent.TimeoutException}.
   *
   * <p>Completes on whatever thread brings the last word, the transport's among them: what is
   * chained to it must not block.
   */
  default CompletableFuture<Long> readBarrier(GroupId group, Duration timeout) {
    return readBarrier(group, Optional.empty(), timeout);
  }

  /**
   * As {@link #readBarrier(GroupId, Duration)}, for a read that comes from another node.
   *
   * @param told that node's own term of the group where it votes, read after the read had been
   *     asked for: on the leader of three voters no probe is needed then
   */
  CompletableFuture<Long> readBarrier(GroupId group, Optional<VoterTerm> told, Duration timeout);

  /** Completes once the local state has applied {@code index}. */
  CompletableFuture<Long> awaitApplied(GroupId group, long index, Duration timeout);

  /** Index applied by the local state. */
  long applied(GroupId group);

  /**
   * The serving side of {@link TermProbe#leaderBarrier}: as {@link #readBarrier}, but only where
   * this process leads the group; else it fails with {@link NotLeader} and asks nobody.
   */
  CompletableFuture<Long> leaderReadIndex(GroupId group, Duration timeout);

  /**
   * The serving side of {@link TermProbe#terms}: this process's current term of each group, read
   * now; absent where it is not a running voter.
   */
  Map<GroupId, Long> terms(List<GroupId> groups);

  /**
   * Moves the voters one step towards {@code target} on this process's leader: at most one peer is
   * added or removed at a time. Completes with the voters after the step. Repeat until equal.
   */
  CompletableFuture<List<Peer>> changeVoters(GroupId group, List<Peer> target);

  /** Hands leadership to another voter where there is one: the one that answered last. */
  default CompletableFuture<Void> transferLeadership(GroupId group, Duration timeout) {
    return transferLeadership(group, Optional.empty(), timeout);
  }

  /**
   * Hands leadership to another voter where there is one.
   *
   * @param heir the peer that shall lead; empty: the one that answered last
   */
  CompletableFuture<Void> transferLeadership(
      GroupId group, Optional<String> heir, Duration timeout);

  /**
   * Asks for a checkpoint soon; where nothing has been applied since the last there will be none.
   */
  void wantCheckpoint(GroupId group);

  /**
   * What this replica can give to one whose state is damaged; empty where there is nothing yet, or
   * the group does not run here.
   */
  Optional<Offer> offer(GroupId group) throws IOException;

  /**
   * Starts a group again whose state's files are damaged ({@link GroupStatus#repairIndex}), from a
   * peer's checkpoint whose files have been prefetched. The replica keeps its vote, its log and its
   * place among the voters; {@link #status} tells whether it runs. Blocks.
   *
   * @param offer a peer's, of {@link GroupStatus#repairIndex} or later
   * @throws IllegalStateException where the group needs no repair, or not with this checkpoint
   */
  void repair(GroupId group, Offer offer) throws IOException;

  /**
   * Closes a group and opens it again from its folder, as a start of the process does: for a state
   * whose files are suspected. Where they are damaged the group stays refused ({@link
   * GroupStatus#repairIndex}). Before that, leadership is handed over where another voter takes it;
   * what is in flight fails as at the end of the process. A group that has failed is left alone.
   * Blocks.
   *
   * @param why for the log, and for those who are refused meanwhile
   */
  void reopen(GroupId group, String why);

  /**
   * Whether the host's server runs. One that does not although nobody closed it will not come back:
   * the process must end and be started again.
   */
  boolean isRunning();

  /** Numbers of this host for the metrics page. */
  HostMetrics metrics();

  @Override
  void close();

  /**
   * What a host counts, over all its groups.
   *
   * @param groups hosted, also those that failed
   * @param groupsFailed quarantined at start or stopped since
   * @param groupsLed led by this process
   * @param logBytes bytes of log on disk
   * @param logBytesReplayed bytes of entries that were found in logs at start, beyond the states'
   *     checkpoints, and have been applied since
   * @param pendingEntries submitted and not yet answered
   * @param pendingBytes their bytes
   * @param waiters callers that wait for an index to be applied
   * @param unappliedEntries committed and not yet applied here
   * @param entriesApplied since start
   * @param refusedOverload submits refused with {@link Overloaded} since start
   * @param barriers read barriers answered by this process as leader since start
   * @param probes term probes sent since start
   * @param installsRunning checkpoints on their way to followers
   * @param installsSent checkpoints announced to followers since start
   * @param installsReceived checkpoints installed here since start
   * @param stepDowns leaderships given up as a cure since start
   */
  record HostMetrics(
      int groups,
      int groupsFailed,
      int groupsLed,
      long logBytes,
      long logBytesReplayed,
      long pendingEntries,
      long pendingBytes,
      long waiters,
      long unappliedEntries,
      long entriesApplied,
      long refusedOverload,
      long barriers,
      long probes,
      int installsRunning,
      long installsSent,
      long installsReceived,
      long stepDowns) {}

  /**
   * What a replica can be repaired with.
   *
   * @param checkpoint whose files must lie there before
   * @param configuration of the group, committed and no older than the checkpoint; opaque
   */
  record Offer(ReplicatedState.Checkpoint checkpoint, byte[] configuration) {}

  /** An entry's place and outcome. */
  record Committed(LogPosition position, byte[] outcome) {}

  /**
   * What this process knows of a group.
   *
   * @param leader peer id of the leader as last heard
   * @param leaderReady whether this peer is leader and has applied an entry of its term
   * @param logBytes bytes of log on disk
   * @param failure why the group is quarantined or stopped, if it is
   * @param damaged whether that is because of damaged files, which the failure then names
   * @param repairIndex where only the state's files are damaged: log index of the oldest checkpoint
   *     that can take their place
   * @param wantsSpace whether it stopped for want of space: it can be read, and starts again once
   *     there is some
   */
  record GroupStatus(
      GroupId group,
      Optional<String> leader,
      boolean leaderReady,
      long term,
      long commitIndex,
      long appliedIndex,
      List<Peer> voters,
      long logBytes,
      Optional<String> failure,
      boolean damaged,
      OptionalLong repairIndex,
      boolean wantsSpace) {}

  /** Bytes an entry may have. */
  int ENTRY_BYTES_MAX = 1 << 20;
}
