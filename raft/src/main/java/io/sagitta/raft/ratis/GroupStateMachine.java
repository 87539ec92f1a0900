// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.LogPosition;
import io.sagitta.raft.ReplicatedState;
import io.sagitta.raft.ReplicatedState.Checkpoint;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.LifeCycle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands between Ratis' state machine updater, one thread a group, and a {@link ReplicatedState}.
 *
 * <ul>
 *   <li>Apply: each entry once, in order; a no-op (no bytes) and Ratis' own entries only move the
 *       applied index, so that whoever waits for an index never hangs on one of them. Whatever
 *       {@code apply} throws is kept as the group's failure, and the division is closed from
 *       outside. From then on this class only pretends to apply: Ratis' updater, if it catches an
 *       exception while its division is being closed, spins for ever and the close never ends.
 *   <li>Snapshot: publishes a checkpoint that the state has already made durable; it never writes
 *       one. The index that Ratis may purge up to is thus never ahead of what is on disk.
 *   <li>Install, on a follower: {@link PeerGate} calls {@link #announce} before Ratis handles the
 *       announcement: the files are checked to be here and the announcement is made durable. Under
 *       the division's lock Ratis then calls {@link #pause}, purges the log and answers; only later
 *       does the updater call {@link #reinitialize}. From {@code pause} on the announced checkpoint
 *       is this replica's newest, so that it cannot vote for a peer that lacks what it has just
 *       acknowledged.
 * </ul>
 *
 * <p><b>Why a replica without data neither votes nor leads.</b> Ratis grants votes and stands for
 * election by the last entry of log or snapshot, and acknowledges the install before the state has
 * loaded it. (1) The leader announces a checkpoint only after the follower's node reported every
 * file of it verified and fsynced. (2) The follower itself refuses an announcement whose files it
 * does not hold, before the log is touched. (3) The announcement is fsynced before the log is
 * purged, and a restart finishes it before the group takes part in anything. So whenever the log's
 * start says "the state up to here is in a checkpoint", that checkpoint is whole on this disk; if
 * it is damaged later, {@link LogInspection} finds the log beginning behind the newest valid
 * checkpoint and does not start the group.
 */
final class GroupStateMachine extends BaseStateMachine {
  private static final Logger LOG = LoggerFactory.getLogger(GroupStateMachine.class);
  private static final byte[] NOTHING = {};

  private final HostedGroup group;
  private final ReplicatedState state;
  private final LogPosition recovered;

  /** Index of the log's last entry at start: what is applied up to there was replayed. */
  private final long logEnd;

  private final AtomicBoolean checkpointWanted = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile boolean kept;
  private final StateMachineStorage storage = new NoStorage();

  /** The checkpoint that Ratis knows of: what may be purged up to, and what followers are sent. */
  private volatile CheckpointSnapshot latest;

  /** Announced and durable, not yet the state. */
  private volatile CheckpointSnapshot announced;

  private volatile RaftServer.Division division;

  /** Nothing is applied, published or installed any more; touched by the updater thread only. */
  private boolean failed;

  /**
   * Wraps a state that has been opened, with any pending install finished.
   *
   * @param logEnd index of the last entry in the log that it starts with
   * @throws IOException if the state has recovered a position that it has no checkpoint for
   */
  GroupStateMachine(HostedGroup group, ReplicatedState state, long logEnd) throws IOException {
    this.group = group;
    this.state = state;
    this.recovered = state.recovered();
    this.logEnd = logEnd;
    Optional<Checkpoint> checkpoint = state.checkpointed();
    if (recovered.index() >= 0) {
      Checkpoint own =
          checkpoint
              .filter(c -> c.position().equals(recovered))
              .orElseThrow(
                  () ->
                      new IOException(
                          "state recovered "
                              + recovered
                              + " but its newest checkpoint is "
                              + checkpoint.map(Checkpoint::position)));
      latest = new CheckpointSnapshot(own);
      setLastAppliedTermIndex(latest.getTermIndex());
    }
    group.waiters().advance(recovered.index());
  }

  @Override
  public void initialize(RaftServer server, RaftGroupId id, RaftStorage raftStorage)
      throws IOException {
    super.initialize(server, id, raftStorage);
    division = server.getDivision(id);
    getLifeCycle().transition(LifeCycle.State.STARTING);
    getLifeCycle().transition(LifeCycle.State.RUNNING);
  }

  /** Set once Ratis has begun to start the division. */
  Optional<RaftServer.Division> division() {
    return Optional.ofNullable(division);
  }

  // ---- proposing

  @Override
  public TransactionContext startTransaction(RaftClientRequest request) {
    Submission submission = group.submission(request.getCallId());
    TransactionContext transaction =
        TransactionContext.newBuilder()
            .setStateMachine(this)
            .setClientRequest(request)
            .setStateMachineContext(submission)
            .build();
    if (submission == null) {
      transaction.setException(new IOException("not proposed by this process: " + request));
    }
    return transaction;
  }

  /**
   * Called under the log's lock right before the append. Must not throw: Ratis leaks a permit then.
   */
  @Override
  public TransactionContext preAppendTransaction(TransactionContext transaction) {
    if (transaction.getStateMachineContext() instanceof Submission submission) {
      submission.appending();
    }
    return transaction;
  }

  // ---- applying

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto entry = transaction.getLogEntry();
    LogPosition at = new LogPosition(entry.getTerm(), entry.getIndex());
    Submission submission =
        transaction.getStateMachineContext() instanceof Submission own ? own : null;
    try {
      byte[] outcome = apply(at, entry.getStateMachineLogEntry().getLogData());
      if (at.index() <= logEnd) {
        group.countReplayed(entry.getSerializedSize());
      }
      if (checkpointWanted.compareAndSet(true, false)) {
        state.requestCheckpoint();
      }
      advance(at);
      if (submission != null) {
        submission.applied(at, outcome);
      }
    } catch (IOException | RuntimeException | Error e) {
      if (!failed) {
        failed = true;
        group.fail("apply of entry " + at.index() + " failed: " + RatisRaftHost.reason(e), e);
      }
      updateLastAppliedTermIndex(at.term(), at.index());
      if (submission != null) {
        submission.failed(group.id().toString(), e);
      }
    }
    return CompletableFuture.completedFuture(Message.EMPTY);
  }

  private byte[] apply(LogPosition at, ByteString data) throws IOException {
    if (failed) {
      throw new IOException("stopped by an earlier failure");
    }
    if (at.index() <= recovered.index() || data.isEmpty()) {
      return NOTHING;
    }
    byte[] outcome = state.apply(at, data.asReadOnlyByteBuffer());
    group.countApplied();
    return outcome;
  }

  /** Ratis' own entries: configurations, and metadata if it were on. */
  @Override
  public void notifyTermIndexUpdated(long term, long index) {
    advance(new LogPosition(term, index));
  }

  private void advance(LogPosition at) {
    updateLastAppliedTermIndex(at.term(), at.index());
    if (!failed) {
      group.waiters().advance(at.index());
    }
  }

  // ---- checkpoints

  /** Has the apply thread ask the state for a checkpoint, at the latest at the next snapshot. */
  void wantCheckpoint() {
    checkpointWanted.set(true);
  }

  /** Whether one has been asked for and the state has not been told. */
  boolean wantsCheckpoint() {
    return checkpointWanted.get();
  }

  /** Whether the state has a checkpoint that Ratis does not know of yet. */
  boolean hasNewCheckpoint() {
    Optional<Checkpoint> newest = state.checkpointed();
    return newest.isPresent() && newest.get().position().index() > latestIndex();
  }

  /** The state's newest, whether Ratis knows of it or not. */
  Optional<Checkpoint> newestCheckpoint() {
    return state.checkpointed();
  }

  long latestIndex() {
    CheckpointSnapshot known = latest;
    return known == null ? RaftLog.INVALID_LOG_INDEX : known.getIndex();
  }

  /**
   * Called by the updater thread. No I/O but an fsync of a folder and of a small file, and no
   * exception leaves it: Ratis would call again at once, for ever.
   */
  @Override
  public long takeSnapshot() {
    try {
      if (failed) {
        return RaftLog.INVALID_LOG_INDEX;
      }
      if (checkpointWanted.compareAndSet(true, false)) {
        state.requestCheckpoint();
      }
      Optional<Checkpoint> newest = state.checkpointed();
      if (newest.isEmpty()
          || newest.get().position().index() <= latestIndex()
          || newest.get().position().index() > getLastAppliedTermIndex().getIndex()
          || !group.mayPublishCheckpoint()) {
        return RaftLog.INVALID_LOG_INDEX;
      }
      // The purge may take the log's last configuration entry; from then on the file counts.
      group.logDirectory().sync();
      ConfigurationSeal.write(group.folder(), group.fsync());
      latest = new CheckpointSnapshot(newest.get());
      return latest.getIndex();
    } catch (IOException | RuntimeException e) {
      LOG.warn("group {}: checkpoint not published", group.id(), e);
      return RaftLog.INVALID_LOG_INDEX;
    }
  }

  @Override
  public SnapshotInfo getLatestSnapshot() {
    return latest;
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return storage;
  }

  // ---- install

  /**
   * Accepts or refuses an announcement; durable on return.
   *
   * @throws IOException if files are missing here
   */
  void announce(InstallRecord record) throws IOException {
    if (announced != null) {
      throw new IOException("group " + group.id() + ": " + announced + " is still being installed");
    }
    if (!state.holds(record.checkpoint())) {
      throw new IOException(
          "group "
              + group.id()
              + ": announced checkpoint at "
              + record.checkpoint().position()
              + " is not wholly here");
    }
    record.write(group.folder().install(), group.fsync());
    announced = new CheckpointSnapshot(record.checkpoint());
  }

  /** Ratis did not take the announcement. */
  void withdraw() throws IOException {
    if (getLifeCycle().getCurrentState() == LifeCycle.State.PAUSED) {
      IOException e =
          new IOException("group " + group.id() + ": install of " + announced + " failed");
      group.fail(e.getMessage(), e);
      return; // the record stays: the next start finishes the install
    }
    announced = null;
    DurableFile.delete(group.folder().install(), group.fsync());
  }

  @Override
  public void pause() {
    if (getLifeCycle().getCurrentState() == LifeCycle.State.RUNNING) {
      getLifeCycle().transition(LifeCycle.State.PAUSING);
      getLifeCycle().transition(LifeCycle.State.PAUSED);
    }
    if (announced != null) {
      latest = announced;
    }
  }

  /** Called by the updater thread, which must not see an exception (see above). */
  @Override
  public void reinitialize() {
    CheckpointSnapshot next = announced;
    if (next != null && !failed) {
      try {
        state.install(next.checkpoint());
        DurableFile.delete(group.folder().install(), group.fsync());
        announced = null;
        group.countInstalled();
        LOG.info("group {}: installed {}", group.id(), next);
      } catch (IOException | RuntimeException | Error e) {
        failed = true;
        group.fail("install of " + next + " failed: " + RatisRaftHost.reason(e), e);
      }
    }
    if (next != null) {
      setLastAppliedTermIndex(next.getTermIndex());
    }
    getLifeCycle().transition(LifeCycle.State.STARTING);
    getLifeCycle().transition(LifeCycle.State.RUNNING);
    if (next != null && !failed) {
      group.waiters().advance(next.getIndex());
    }
  }

  // ---- durability of votes and segments

  /** Called by the log's worker before each flush. */
  @Override
  public CompletableFuture<Void> flush(long logIndex) {
    try {
      group.logDirectory().syncIfChanged();
      return CompletableFuture.completedFuture(null);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Called under the division's lock. When this peer has just been elected, its own vote and term
   * become binding with its first message as leader, so they are made durable here.
   */
  @Override
  public void notifyLeaderChanged(RaftGroupMemberId member, RaftPeerId leader) {
    if (leader.equals(member.getPeerId())) {
      try {
        group.bind(division().orElseThrow().getRaftStorage().getMetadataFile().getMetadata());
      } catch (IOException e) {
        group.fail("vote not durable: " + RatisRaftHost.reason(e), e);
        throw new IllegalStateException("group " + group.id() + ": vote not durable", e);
      }
    }
  }

  // ---- ends

  @Override
  public void notifyLogFailed(Throwable cause, LogEntryProto entry) {
    group.fail("log failed: " + RatisRaftHost.reason(cause), cause);
  }

  @Override
  public void notifyConfigurationChanged(
      long term, long index, RaftConfigurationProto configuration) {
    LOG.info(
        "group {}: voters {} at index {}",
        group.id(),
        configuration.getPeersList().stream().map(p -> p.getId().toStringUtf8()).toList(),
        index);
    try {
      ConfigurationSeal.write(group.folder(), group.fsync());
    } catch (IOException e) {
      // The old seal is of another index and says nothing of this file, which the log has too.
      LOG.warn("group {}: the configuration at {} is not sealed", group.id(), index, e);
    }
  }

  @Override
  public void close() throws IOException {
    if (!kept) {
      releaseState();
    }
  }

  /** Lets the state outlive its division, so that it can be read, until {@link #releaseState}. */
  void keepState() {
    kept = true;
  }

  void releaseState() throws IOException {
    if (closed.compareAndSet(false, true)) {
      state.close();
    }
  }

  TermIndex lastApplied() {
    return getLastAppliedTermIndex();
  }

  /** Ratis keeps no snapshot files of ours. */
  private final class NoStorage implements StateMachineStorage {
    @Override
    public void init(RaftStorage raftStorage) {
      // Nothing of ours lies in Ratis' folders.
    }

    @Override
    public SnapshotInfo getLatestSnapshot() {
      return latest;
    }

    @Override
    public void format() {
      // As above.
    }

    @Override
    public void cleanupOldSnapshots(SnapshotRetentionPolicy policy) {
      // The state retires its own checkpoints.
    }
  }
}
