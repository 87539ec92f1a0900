// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.Peer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.grpc.server.GrpcLogAppender;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.FileChunkProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto.SnapshotChunkProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.raftlog.LogProtoUtils;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.raftlog.RaftLogIOException;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.util.AwaitForSignal;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.MD5FileUtil;

/**
 * Sends the log to one follower, and announces a checkpoint where the follower lacks entries that
 * have been purged; not before {@link InstallGate} says that its files are there. Until then the
 * follower gets heartbeats and nothing else: it stays a live member, and this thread does not spin.
 *
 * <p>Where Ratis would send a snapshot without need, it does not: to a new member whose missing
 * entries are all in the log, to a healthy follower whose appender was restarted (P9: the leader
 * then starts from index 0; here it first asks where the follower's log goes on), and twice in a
 * row to one that has just installed (RATIS-2500's condition).
 */
final class PrefetchingLogAppender extends GrpcLogAppender {
  /**
   * Between two heartbeats that only tell of commits: a follower's reads are not older than this.
   */
  private static final long TELL_COMMIT_MS = 5;

  private final FollowerReplies replies;
  private final PeerHooks hooks;
  private final AwaitForSignal wakeUp = new StickySignal();

  /** A checkpoint is needed and may not be announced yet. */
  private volatile boolean withheld;

  /** What was handed to Ratis to announce; touched by the appender's thread only. */
  private CheckpointSnapshot announcing;

  /**
   * Where the follower said its log goes on, when that was last tried; the appender's thread only.
   */
  private long triedNext = -1;

  /** Up to which commit index the follower was told by a heartbeat, and when; the same. */
  private long toldCommit = -1;

  private long toldNanos = System.nanoTime();

  PrefetchingLogAppender(
      RaftServer.Division server, FollowerReplies replies, FollowerInfo follower, PeerHooks hooks) {
    super(server, replies, follower);
    this.replies = replies;
    this.hooks = hooks;
  }

  GroupId group() {
    return new GroupId(getServer().getMemberId().getGroupId().getUuid());
  }

  boolean withheld() {
    return withheld;
  }

  @Override
  public void start() {
    hooks.appenderStarted(this);
    super.start();
  }

  @Override
  public CompletableFuture<LifeCycle.State> stopAsync() {
    hooks.appenderStopped(this);
    hostedGroup().ifPresent(g -> hooks.installs().abandon(g, getFollowerId().toString()));
    return super.stopAsync();
  }

  // ---- whether to announce

  @Override
  public SnapshotInfo shouldInstallSnapshot() {
    SnapshotInfo now = decide();
    if (now == null && getLeaderState().isFollowerBootstrapping(getFollower()) && !withheld) {
      // Ratis waits for an attempt before it counts a new member as caught up; none is needed.
      if (!getFollower().hasAttemptedToInstallSnapshot()) {
        getFollower().setAttemptedToInstallSnapshot();
      }
    }
    return now;
  }

  private SnapshotInfo decide() {
    concludeAnnouncement();
    if (!lacksEntries()) {
      withheld = false;
      return null;
    }
    long followersNext = replies.nextIndex();
    boolean silent =
        getFollower().getLastRpcResponseTime().elapsedTimeMs()
            > getServer().properties().minRpcTimeoutMs();
    if (followersNext < 0 || silent) {
      withheld = true; // the answer to a heartbeat will tell
      return null;
    }
    long start = getRaftLog().getStartIndex();
    if (start != RaftLog.INVALID_LOG_INDEX
        && followersNext > getFollower().getNextIndex()
        && followersNext > start
        && followersNext != triedNext) {
      // Once for each answer: a log that has diverged answers the same again.
      triedNext = followersNext;
      getFollower().setNextIndex(Math.min(followersNext, getRaftLog().getNextIndex()));
      withheld = false;
      return null;
    }
    return ask(start).orElse(null);
  }

  private Optional<CheckpointSnapshot> ask(long start) {
    SnapshotInfo newest = getServer().getStateMachine().getLatestSnapshot();
    Optional<HostedGroup> group = hostedGroup();
    if (!(newest instanceof CheckpointSnapshot checkpoint) || group.isEmpty()) {
      withheld = true;
      return Optional.empty();
    }
    Optional<CheckpointSnapshot> ready =
        hooks.installs().ask(group.get(), peer(), checkpoint, start, this::notifyLogAppender);
    withheld = ready.isEmpty();
    announcing = ready.orElse(null);
    return ready;
  }

  /**
   * Ratis sends the announcement and waits for the answer before it comes back here. Without one
   * the follower may have installed all the same, and then lacks nothing.
   */
  private void concludeAnnouncement() {
    CheckpointSnapshot sent = announcing;
    if (sent != null) {
      announcing = null;
      boolean installed = getFollower().getSnapshotIndex() >= sent.getIndex();
      if (!installed) {
        replies.forget();
      }
      hostedGroup().ifPresent(g -> hooks.installs().announced(g, peer(), installed));
    }
  }

  /**
   * As Ratis decides it, without its haste: the follower's next entry, or the one before, is gone.
   */
  private boolean lacksEntries() {
    RaftLog log = getRaftLog();
    long next = getFollower().getNextIndex();
    if (next >= log.getNextIndex()) {
      return false;
    }
    long start = log.getStartIndex();
    if (start == RaftLog.INVALID_LOG_INDEX || next < start) {
      return true;
    }
    return next == start
        && next > RaftLog.LEAST_VALID_LOG_INDEX
        && next != getFollower().getSnapshotIndex() + 1
        && getPrevious(next) == null;
  }

  // ---- what to send, and when to look again

  @Override
  public boolean hasAppendEntries() {
    return !withheld && super.hasAppendEntries();
  }

  @Override
  public AppendEntriesRequestProto newAppendEntriesRequest(long callId, boolean heartbeat)
      throws RaftLogIOException {
    if (heartbeat || hasAppendEntries() || getHeartbeatWaitTimeMs() <= 0) {
      return super.newAppendEntriesRequest(callId, heartbeat || withheld);
    }
    if (!withheld && tellCommitInMs() == 0) {
      toldCommit = getRaftLog().getLastCommittedIndex();
      toldNanos = System.nanoTime();
      return super.newAppendEntriesRequest(callId, true);
    }
    return null;
  }

  /**
   * In how many milliseconds the follower is to be told of a commit that no entry will tell it of;
   * at once if that has not been done lately. Ratis leaves it to the next heartbeat, up to a
   * second, and all that time nobody can read at the follower what has been acknowledged.
   */
  private long tellCommitInMs() {
    long commit = getRaftLog().getLastCommittedIndex();
    if (commit <= toldCommit
        || commit <= getFollower().getCommitIndex()
        || hasPendingDataRequests()) {
      return Long.MAX_VALUE;
    }
    long elapsedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - toldNanos);
    return Math.max(0, TELL_COMMIT_MS - elapsedMs);
  }

  /**
   * With nothing to send Ratis does not wait at all while it has no stream, that is while the
   * follower is down: it spins until the next heartbeat is due.
   */
  @Override
  public long getWaitTimeMs() {
    if (hasAppendEntries()) {
      return super.getWaitTimeMs();
    }
    return Math.max(1, Math.min(getHeartbeatWaitTimeMs(), tellCommitInMs()));
  }

  @Override
  public AwaitForSignal getEventAwaitForSignal() {
    return wakeUp;
  }

  // ---- the announcement

  /** The manifest, in one chunk, from memory. */
  @Override
  public Iterable<InstallSnapshotRequestProto> newInstallSnapshotRequests(
      String requestId, SnapshotInfo snapshot) {
    byte[] manifest = ((CheckpointSnapshot) snapshot).checkpoint().manifest();
    FileChunkProto chunk =
        FileChunkProto.newBuilder()
            .setFilename("sm/manifest")
            .setTotalSize(manifest.length)
            .setFileDigest(ByteString.copyFrom(MD5FileUtil.newMD5().digest(manifest)))
            .setChunkIndex(0)
            .setOffset(0)
            .setData(UnsafeByteOperations.unsafeWrap(manifest))
            .setDone(true)
            .build();
    synchronized (getServer()) {
      RaftConfiguration conf = getServer().getRaftConf();
      return List.of(
          InstallSnapshotRequestProto.newBuilder()
              .setServerRequest(
                  ClientProtoUtils.toRaftRpcRequestProtoBuilder(
                      getServer().getMemberId(), getFollowerId()))
              .setLeaderTerm(getServer().getInfo().getCurrentTerm())
              .setLastRaftConfigurationLogEntryProto(
                  LogProtoUtils.toLogEntryProto(conf, null, conf.getLogEntryIndex()))
              .setSnapshotChunk(
                  SnapshotChunkProto.newBuilder()
                      .setRequestId(requestId)
                      .setRequestIndex(0)
                      .setTermIndex(snapshot.getTermIndex().toProto())
                      .addFileChunks(chunk)
                      .setTotalSize(manifest.length)
                      .setDone(true))
              .build());
    }
  }

  private Optional<HostedGroup> hostedGroup() {
    return hooks.group(getServer().getMemberId().getGroupId());
  }

  private Peer peer() {
    RaftPeer peer = getFollower().getPeer();
    return new Peer(peer.getId().toString(), peer.getAddress());
  }

  /**
   * Ratis' own signal is lost when it comes between the look at the log and the wait, and an entry
   * then waits for the next heartbeat. This one is kept until it is waited for.
   */
  private static final class StickySignal extends AwaitForSignal {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition raised = lock.newCondition();
    private boolean signalled; // guarded by lock

    StickySignal() {
      super("appender");
    }

    @Override
    public void await() throws InterruptedException {
      lock.lockInterruptibly();
      try {
        while (!signalled) {
          raised.await();
        }
        signalled = false;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public boolean await(long time, TimeUnit unit) throws InterruptedException {
      lock.lockInterruptibly();
      try {
        long left = unit.toNanos(time);
        while (!signalled && left > 0) {
          left = raised.awaitNanos(left);
        }
        boolean was = signalled;
        signalled = false;
        return was;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void signal() {
      lock.lock();
      try {
        signalled = true;
        raised.signal();
      } finally {
        lock.unlock();
      }
    }
  }
}
