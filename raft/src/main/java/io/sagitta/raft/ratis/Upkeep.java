// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.LogPosition;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What Ratis does not do by itself, looked after for each group once a tick: high-water marks,
 * checkpoints and purges by bytes and age, and the watch over divisions, leaderships and followers.
 *
 * <p>Cures, each seen to be needed in Ratis 3.3.0: a leader that no longer reaches a majority gives
 * up (Ratis looks only when its event queue is idle, which entries that keep coming prevent); a
 * leader that has lost the appender of a voter, or whose follower is alive but makes no progress,
 * gives up, since a new leader starts its bookkeeping afresh; a division that failed for want of
 * space is started again; a candidate without room to vote in counts as failed, since Ratis ends an
 * election whose vote cannot be written and begins no other.
 */
final class Upkeep {
  /** A state takes the newest of several wishes, so that asking again costs next to nothing. */
  private static final int ASK_AGAIN_TICKS = 10;

  private static final Logger LOG = LoggerFactory.getLogger(Upkeep.class);

  /** Between two cures of one group: a cure that does not help must not become the illness. */
  private static final long CURE_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** A follower that answers but has not moved for so long is stuck. */
  private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** An entry without an outcome after so long is answered as unknown. */
  private static final long OUTCOME_TIMEOUT_MS = 60_000;

  private static final long REVIVE_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final Duration STEP_DOWN_TIMEOUT = Duration.ofSeconds(5);
  private static final long SNAPSHOT_TIMEOUT_MS = 600_000;

  private final RatisRaftHost host;
  private final RaftSettings settings;
  private final RaftResources resources;
  private final Map<PrefetchingLogAppender, Progress> appenders = new ConcurrentHashMap<>();
  private final Map<HostedGroup, Care> care = new HashMap<>(); // touched by the tick only
  private final Map<HostedGroup, Long> cured = new ConcurrentHashMap<>();
  private final AtomicLong stepDowns = new AtomicLong();
  private volatile ScheduledFuture<?> ticking;

  /** How far a follower had come, and when it last moved. */
  private static final class Progress {
    volatile long matchIndex = -1;
    volatile long movedNanos = System.nanoTime();
  }

  private static final class Care {
    final AtomicBoolean snapshotting = new AtomicBoolean();
    long checkpointSinceNanos = System.nanoTime();
    long checkpointSeen = -1;
    boolean checkpointAsked;
    long checkpointAskedNanos;
    long revivedNanos = System.nanoTime();
  }

  Upkeep(RatisRaftHost host, RaftSettings settings, RaftResources resources) {
    this.host = host;
    this.settings = settings;
    this.resources = resources;
  }

  void start() {
    ticking =
        resources.scheduler.scheduleWithFixedDelay(
            this::tick, settings.tickMs(), settings.tickMs(), TimeUnit.MILLISECONDS);
  }

  /** Stops; leaves each mark where its group stands, so that a clean stop hides no lost tail. */
  void close() {
    ScheduledFuture<?> running = ticking;
    if (running != null) {
      running.cancel(false);
    }
    for (HostedGroup group : host.hostedGroups()) {
      group.division().filter(d -> d.getInfo().isAlive()).ifPresent(d -> mark(group, d));
    }
  }

  long stepDowns() {
    return stepDowns.get();
  }

  void watch(PrefetchingLogAppender appender) {
    appenders.put(appender, new Progress());
  }

  void unwatch(PrefetchingLogAppender appender) {
    appenders.remove(appender);
  }

  /** Has followers that do not know of this commit told at once: one of them waits for it. */
  void tellCommit(GroupId group, long index) {
    for (PrefetchingLogAppender appender : appenders.keySet()) {
      if (appender.group().equals(group) && appender.getFollower().getCommitIndex() < index) {
        appender.triggerHeartbeat();
      }
    }
  }

  /** Gives up leadership as a cure, unless that was done a short while ago. */
  void stepDown(HostedGroup group, String why) {
    long now = System.nanoTime();
    Long before = cured.get(group);
    if (before != null && now - before < CURE_PAUSE_NANOS) {
      return;
    }
    cured.put(group, now);
    stepDowns.incrementAndGet();
    LOG.warn("group {}: stepping down: {}", group.id(), why);
    var _ =
        host.membership()
            .stepDown(group, STEP_DOWN_TIMEOUT)
            .whenComplete(
                (done, failure) -> {
                  if (failure != null) {
                    LOG.warn("group {}: could not step down: {}", group.id(), failure.toString());
                  }
                });
  }

  private void tick() {
    Set<HostedGroup> present = new HashSet<>(host.hostedGroups());
    care.keySet().retainAll(present);
    cured.keySet().retainAll(present);
    for (HostedGroup group : present) {
      try {
        lookAfter(group, care.computeIfAbsent(group, g -> new Care()));
      } catch (RuntimeException e) {
        LOG.warn("group {}: upkeep", group.id(), e);
      }
    }
  }

  private void lookAfter(HostedGroup group, Care its) {
    timeOutSubmissions(group);
    Optional<RaftServer.Division> running = group.division();
    if (running.isEmpty()) {
      reviveIfSpace(group, its);
      return;
    }
    RaftServer.Division division = running.get();
    if (!division.getInfo().isAlive()) {
      group.fail(
          "its division was closed by Ratis: removed from the voters, or failed",
          freeBytes(group) < settings.reviveFreeBytes() ? noSpace() : null);
      return;
    }
    if (isCandidateForLong(division) && freeBytes(group) < settings.preallocatedBytes()) {
      group.fail("it cannot elect a leader: there is no room to write", noSpace());
      return;
    }
    group.measureLog();
    mark(group, division);
    checkpoint(group, its);
    if (division.getInfo().isLeader()) {
      watchLeadership(group, division);
      watchFollowers(group);
    }
  }

  // ---- high-water mark

  private void mark(HostedGroup group, RaftServer.Division division) {
    if (host.planted(RaftHostConfig.Plant.NO_FSYNC)) {
      return;
    }
    RaftLog log = division.getRaftLog();
    long committed = log.getLastCommittedIndex();
    if (committed <= group.mark().position().index()) {
      return;
    }
    TermIndex at = log.getTermIndex(committed);
    if (at == null && group.machine().latestIndex() == committed) {
      at = group.machine().getLatestSnapshot().getTermIndex();
    }
    if (at != null) {
      try {
        group.mark().advance(new LogPosition(at.getTerm(), at.getIndex()));
      } catch (IOException e) {
        LOG.warn("group {}: high-water mark not written", group.id(), e);
      }
    }
  }

  // ---- checkpoints

  private void checkpoint(HostedGroup group, Care its) {
    GroupStateMachine machine = group.machine();
    long now = System.nanoTime();
    long latest = machine.latestIndex();
    if (latest != its.checkpointSeen) {
      its.checkpointSeen = latest;
      its.checkpointSinceNanos = now;
      its.checkpointAsked = false;
    }
    boolean appliedSince = group.waiters().applied() > latest;
    boolean large = group.logBytes() >= settings.checkpointLogBytes();
    boolean old =
        now - its.checkpointSinceNanos > TimeUnit.MILLISECONDS.toNanos(settings.checkpointAgeMs());
    boolean overdue = its.checkpointAsked && now - its.checkpointAskedNanos > askAgainNanos();
    boolean ask = appliedSince && (large || old) && (!its.checkpointAsked || overdue);
    if (ask) {
      its.checkpointAsked = true;
      its.checkpointAskedNanos = now;
      machine.wantCheckpoint();
    }
    if (ask || machine.wantsCheckpoint() || machine.hasNewCheckpoint()) {
      takeSnapshot(group, its);
    }
  }

  /**
   * After how long a checkpoint is asked for again that has not come: the state may have had
   * nothing new, since Ratis' own entries count as applied too, or its disk no room. Without it the
   * log would grow for ever.
   */
  private long askAgainNanos() {
    return TimeUnit.MILLISECONDS.toNanos(ASK_AGAIN_TICKS * (long) settings.tickMs());
  }

  /** Has Ratis' updater thread call {@link GroupStateMachine#takeSnapshot}, and purge. */
  private void takeSnapshot(HostedGroup group, Care its) {
    if (!its.snapshotting.compareAndSet(false, true)) {
      return;
    }
    var _ =
        host.server()
            .snapshotManagementAsync(
                SnapshotManagementRequest.newCreate(
                    host.clientId(),
                    host.server().getId(),
                    group.raftId(),
                    host.nextCallId(),
                    SNAPSHOT_TIMEOUT_MS,
                    1))
            .whenComplete(
                (reply, failure) -> {
                  its.snapshotting.set(false);
                  if (failure != null) {
                    LOG.warn("group {}: snapshot request: {}", group.id(), failure.toString());
                  }
                });
  }

  private static void timeOutSubmissions(HostedGroup group) {
    long oldest = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(OUTCOME_TIMEOUT_MS);
    for (Submission submission : group.submissions()) {
      if (submission.sinceNanos - oldest < 0) {
        submission.timedOut(group.id().toString(), OUTCOME_TIMEOUT_MS);
      }
    }
  }

  // ---- divisions

  private void reviveIfSpace(HostedGroup group, Care its) {
    boolean space = group.failure().map(HostedGroup.Failure::wantOfSpace).orElse(false);
    long now = System.nanoTime();
    if (space
        && now - its.revivedNanos > REVIVE_PAUSE_NANOS
        && freeBytes(group) > settings.reviveFreeBytes()) {
      its.revivedNanos = now;
      LOG.warn("group {}: there is space again; starting it", group.id());
      resources.closers.newThread(() -> host.restart(group)).start();
    }
  }

  private boolean isCandidateForLong(RaftServer.Division division) {
    RoleInfoProto role = division.getInfo().getRoleInfoProto();
    return role.hasCandidateInfo() && role.getRoleElapsedTimeMs() > 2L * settings.electionMaxMs();
  }

  private static long freeBytes(HostedGroup group) {
    return group.folder().root().toFile().getUsableSpace();
  }

  private static IOException noSpace() {
    return new IOException(HostedGroup.NO_SPACE + " on device");
  }

  // ---- leaders and followers

  private void watchLeadership(HostedGroup group, RaftServer.Division division) {
    RoleInfoProto role = division.getInfo().getRoleInfoProto();
    if (!role.hasLeaderInfo() || role.getRoleElapsedTimeMs() < 2L * settings.electionMaxMs()) {
      return;
    }
    Map<String, Long> silent = new HashMap<>();
    for (ServerRpcProto follower : role.getLeaderInfo().getFollowerInfoList()) {
      silent.put(follower.getId().getId().toStringUtf8(), follower.getLastRpcElapsedTimeMs());
    }
    int reached = 0;
    int voters = 0;
    for (RaftPeer voter : division.getRaftConf().getCurrentPeers()) {
      String id = voter.getId().toString();
      voters++;
      boolean self = voter.getId().equals(division.getId());
      if (!self && !silent.containsKey(id)) {
        stepDown(group, "voter " + id + " has no appender");
        return;
      }
      if (self || silent.get(id) <= 2L * settings.electionMaxMs()) {
        reached++;
      }
    }
    if (2 * reached <= voters) {
      stepDown(group, "only " + reached + " of " + voters + " voters reached");
    }
  }

  private void watchFollowers(HostedGroup group) {
    long now = System.nanoTime();
    appenders.forEach(
        (appender, progress) -> {
          if (!appender.group().equals(group.id())) {
            return;
          }
          long match = appender.getFollower().getMatchIndex();
          boolean moved = match != progress.matchIndex;
          boolean upToDate = match >= appender.getRaftLog().getLastCommittedIndex();
          boolean silent =
              appender.getFollower().getLastRpcResponseTime().elapsedTimeMs()
                  > settings.electionMaxMs();
          if (moved || upToDate || silent || appender.withheld()) {
            progress.matchIndex = match;
            progress.movedNanos = now;
          } else if (now - progress.movedNanos > STUCK_NANOS) {
            progress.movedNanos = now;
            stepDown(group, "follower " + appender.getFollowerId() + " is stuck at " + match);
          }
        });
  }
}
