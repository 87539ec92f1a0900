// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.DamageException;
import io.sagitta.raft.DamagedStateException;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.LogPosition;
import io.sagitta.raft.NotLeader;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorageMetadata;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the host knows of one group, whether its division runs or not: its folder, its bounds, its
 * waiters, and why it failed. Divisions come and go under it.
 */
final class HostedGroup {
  private static final Logger LOG = LoggerFactory.getLogger(HostedGroup.class);

  /** How the JDK words ENOSPC. */
  static final String NO_SPACE = "No space left";

  private final GroupId id;
  private final RaftGroupId raftId;
  private final GroupFolder folder;
  private final RaftSettings settings;
  private final DirectoryFsync fsync;
  private final RaftResources resources;
  private final DurableDirectory logDirectory;
  private final Object installLock = new Object();
  private final AppliedWaiters waiters;
  private final ByteBudget budget;
  private final Map<Long, Submission> submissions = new ConcurrentHashMap<>();
  private final AtomicInteger pending = new AtomicInteger();
  private final AtomicLong applied = new AtomicLong();
  private final AtomicLong replayed = new AtomicLong();
  private final AtomicLong installed = new AtomicLong();
  private final AtomicInteger installsRunning = new AtomicInteger();

  private volatile GroupStateMachine machine;
  private volatile RaftServer.Division division;
  private volatile HighWaterMark mark;
  private volatile long logBytes;
  private volatile long holdSinceNanos;
  private volatile Failure failure;
  private volatile Thread closing;
  private volatile long durableTerm = -1;
  private volatile BindingVote bindingVote;

  /**
   * The first thing that went wrong.
   *
   * @param ledAlone whether this peer led as the only voter, so that nobody can acknowledge
   *     anything that its state does not show
   */
  record Failure(String text, Optional<Throwable> cause, boolean ledAlone) {
    /** Where only the state's files are damaged: which checkpoints can take their place. */
    OptionalLong repairIndex() {
      for (Throwable t = cause.orElse(null); t != null; t = t.getCause()) {
        if (t instanceof DamagedStateException damaged) {
          return OptionalLong.of(damaged.indexWanted());
        }
      }
      return OptionalLong.empty();
    }

    /** Whether it is what lies on disk. */
    boolean damage() {
      for (Throwable t = cause.orElse(null); t != null; t = t.getCause()) {
        if (t instanceof DamageException) {
          return true;
        }
      }
      return false;
    }

    /** Whether there was no room to write; the group is started again once there is. */
    boolean wantOfSpace() {
      for (Throwable e = cause.orElse(null); e != null; e = e.getCause()) {
        if (e instanceof IOException && String.valueOf(e.getMessage()).contains(NO_SPACE)) {
          return true;
        }
      }
      return false;
    }
  }

  HostedGroup(
      GroupId id,
      GroupFolder folder,
      RaftSettings settings,
      DirectoryFsync fsync,
      RaftResources resources) {
    this.id = id;
    this.raftId = RaftGroupId.valueOf(id.value());
    this.folder = folder;
    this.settings = settings;
    this.fsync = fsync;
    this.resources = resources;
    this.logDirectory = new DurableDirectory(folder.current(), fsync);
    this.waiters =
        new AppliedWaiters(LogPosition.NONE.index(), settings.waitersMax(), resources.completions);
    this.budget = new ByteBudget(settings.pendingBytesMax());
  }

  GroupId id() {
    return id;
  }

  RaftGroupId raftId() {
    return raftId;
  }

  GroupFolder folder() {
    return folder;
  }

  DirectoryFsync fsync() {
    return fsync;
  }

  DurableDirectory logDirectory() {
    return logDirectory;
  }

  /**
   * Held while an announced checkpoint is handed to Ratis; before any lock of Ratis', never after.
   */
  Object installLock() {
    return installLock;
  }

  AppliedWaiters waiters() {
    return waiters;
  }

  // ---- the division under it

  /** A state machine for a division about to be started. */
  void prepare(GroupStateMachine next, HighWaterMark markRead, BindingVote bound) {
    division = null;
    machine = next;
    mark = markRead;
    bindingVote = bound;
    failure = null;
  }

  /** It is about to be started anew: what went wrong before is history. */
  void forgetFailure() {
    synchronized (this) {
      division = null;
      failure = null;
    }
  }

  void started(RaftServer.Division running) {
    division = running;
  }

  GroupStateMachine machine() {
    return machine;
  }

  HighWaterMark mark() {
    return mark;
  }

  /** The running division; empty if the group is quarantined, stopped or starting. */
  Optional<RaftServer.Division> division() {
    RaftServer.Division running = division;
    return failure == null && running != null ? Optional.of(running) : Optional.empty();
  }

  Optional<RaftServer.Division> divisionEvenIfFailed() {
    return Optional.ofNullable(division);
  }

  /** What Ratis has written of its term and vote becomes binding; durable on return. */
  void bind(RaftStorageMetadata written) throws IOException {
    logDirectory.sync();
    bindingVote.advance(written.getTerm(), written.getVotedFor().toString());
  }

  /** Up to which terms are known to be durable, folder included. */
  long durableTerm() {
    return durableTerm;
  }

  void durableTerm(long term) {
    durableTerm = term;
  }

  // ---- failure

  /**
   * Keeps the first cause, lets go of everyone who waits, and has the division closed by a thread
   * of its own: whoever calls this may hold Ratis' locks or be its updater. Where only room is
   * missing, the state stays open: what cannot be logged can still be read.
   */
  void fail(String text, Throwable cause) {
    synchronized (this) {
      if (failure != null) {
        return;
      }
      failure = new Failure(text, Optional.ofNullable(cause), leadsAlone());
    }
    LOG.error("group {} stopped: {}", id, text, cause);
    waiters.failAll(new NotLeader("group " + id + " is stopped: " + text, cause));
    GroupStateMachine failing = machine;
    if (failing != null) {
      if (failure.wantOfSpace()) {
        failing.keepState();
      }
      failing.division().ifPresent(this::closeElsewhere);
    }
  }

  private boolean leadsAlone() {
    RaftServer.Division running = division;
    return running != null
        && running.getInfo().isLeader()
        && running.getInfo().isLeaderReady()
        && running.getRaftConf().getPreviousPeers().isEmpty()
        && running.getRaftConf().getCurrentPeers().size() == 1;
  }

  /** Closes the state that a failure has left open. */
  void releaseState() {
    GroupStateMachine kept = machine;
    if (kept != null) {
      try {
        kept.releaseState();
      } catch (IOException | RuntimeException e) {
        LOG.warn("group {}: closing its state", id, e);
      }
    }
  }

  private void closeElsewhere(RaftServer.Division failing) {
    Thread closer = resources.closers.newThread(failing::close);
    closing = closer;
    closer.start();
  }

  /** Waits until a division that failed is closed, so that its folder can be used again. */
  void awaitClosed(Duration atMost) {
    Thread closer = closing;
    try {
      if (closer != null && !closer.join(atMost)) {
        LOG.warn("group {}: its division has not closed in {}", id, atMost);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * On purpose: as {@link #fail}, but nothing is wrong, and whoever calls this closes the division.
   */
  void retire(String why) {
    synchronized (this) {
      if (failure == null) {
        failure = new Failure(why, Optional.empty(), false);
      }
    }
    waiters.failAll(new NotLeader("group " + id + " is stopped: " + why));
  }

  Optional<Failure> failure() {
    return Optional.ofNullable(failure);
  }

  // ---- entries in flight

  boolean tryEnter(int bytes) {
    if (pending.incrementAndGet() > settings.pendingEntriesMax()) {
      pending.decrementAndGet();
      return false;
    }
    if (!budget.tryTake(bytes)) {
      pending.decrementAndGet();
      return false;
    }
    return true;
  }

  void leave(int bytes) {
    budget.giveBack(bytes);
    pending.decrementAndGet();
  }

  void enlist(Submission submission) {
    submissions.put(submission.callId, submission);
  }

  void delist(Submission submission) {
    submissions.remove(submission.callId);
  }

  Submission submission(long callId) {
    return submissions.get(callId);
  }

  Collection<Submission> submissions() {
    return submissions.values();
  }

  int pending() {
    return pending.get();
  }

  long pendingBytes() {
    return budget.used();
  }

  // ---- installs

  void installBegun() {
    if (installsRunning.getAndIncrement() == 0) {
      holdSinceNanos = System.nanoTime();
    }
  }

  void installEnded() {
    installsRunning.decrementAndGet();
  }

  int installsRunning() {
    return installsRunning.get();
  }

  /**
   * Whether the log may be purged up to a newer checkpoint. While a follower is being sent the
   * present one, the entries after it are kept, so that it can go on from there; for a bounded
   * time, and only until the log has grown to several times its usual size.
   */
  boolean mayPublishCheckpoint() {
    return installsRunning.get() == 0
        || System.nanoTime() - holdSinceNanos > settings.installHoldMs() * 1_000_000L
        || logBytes > 4 * settings.checkpointLogBytes();
  }

  // ---- numbers

  void countApplied() {
    applied.incrementAndGet();
  }

  long appliedCount() {
    return applied.get();
  }

  void countReplayed(int bytes) {
    replayed.addAndGet(bytes);
  }

  /** Bytes of entries applied that were in the log at start, of this process's starts together. */
  long bytesReplayed() {
    return replayed.get();
  }

  void countInstalled() {
    installed.incrementAndGet();
  }

  long installedCount() {
    return installed.get();
  }

  void measureLog() {
    logBytes = folder.logBytes();
  }

  long logBytes() {
    return logBytes;
  }
}
