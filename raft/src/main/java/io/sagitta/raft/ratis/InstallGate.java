// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.CheckpointTransfer;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.Peer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides, on a leader, when a checkpoint may be announced to a follower: once the follower's node
 * has reported all its files. At most {@link RaftResources#INSTALLS_MAX} installs run at a time in
 * this process; the others wait their turn, asking again with each heartbeat.
 *
 * <p>An install goes {@code idle -> fetching -> ready -> idle}: {@code ready} ends with the
 * announcement. After a failure the next attempt waits, twice as long each time.
 */
final class InstallGate {
  private static final Logger LOG = LoggerFactory.getLogger(InstallGate.class);
  private static final int MANIFEST_BYTES_MAX = 8 << 20;
  private static final long RETRY_NANOS_MIN = 250_000_000L;
  private static final int RETRY_DOUBLINGS_MAX = 7;

  private enum Stage {
    IDLE,
    FETCHING,
    READY
  }

  private record Key(GroupId group, String follower) {}

  private static final class Install {
    Stage stage = Stage.IDLE;
    CheckpointSnapshot checkpoint;
    long startedNanos;
    long notBeforeNanos;
    int failures;
    long attempt;
  }

  private final CheckpointTransfer transfer;
  private final RaftResources resources;
  private final long prefetchTimeoutNanos;
  private final AtomicLong sent = new AtomicLong();
  private final Map<Key, Install> installs = new HashMap<>(); // guarded by this

  InstallGate(CheckpointTransfer transfer, RaftResources resources, long prefetchTimeoutMs) {
    this.transfer = transfer;
    this.resources = resources;
    this.prefetchTimeoutNanos = prefetchTimeoutMs * 1_000_000L;
  }

  /**
   * Asks to announce; starts the prefetch if need be.
   *
   * @param newest the leader's newest checkpoint
   * @param logStart first index of the leader's log
   * @param wake called once asking again is worthwhile
   * @return the checkpoint to announce now, if its files are there and the log goes on from it
   */
  synchronized Optional<CheckpointSnapshot> ask(
      HostedGroup group, Peer follower, CheckpointSnapshot newest, long logStart, Runnable wake) {
    Install install =
        installs.computeIfAbsent(new Key(group.id(), follower.id()), k -> new Install());
    long now = System.nanoTime();
    return switch (install.stage) {
      case IDLE -> {
        if (now - install.notBeforeNanos >= 0 && resources.installs.tryAcquire()) {
          group.installBegun();
          fetch(group, follower, newest, install, wake);
        }
        yield Optional.empty();
      }
      case FETCHING -> {
        if (now - install.startedNanos > prefetchTimeoutNanos) {
          LOG.warn("group {}: prefetch by {} timed out", group.id(), follower.id());
          end(group, install, false);
        }
        yield Optional.empty();
      }
      case READY -> {
        if (install.checkpoint.getIndex() + 1 < logStart) {
          // The log was purged past it after all: bring the follower up to the newest one.
          fetch(group, follower, newest, install, wake);
          yield Optional.empty();
        }
        yield Optional.of(install.checkpoint);
      }
    };
  }

  /** The announcement has been answered. */
  synchronized void announced(HostedGroup group, Peer follower, boolean installed) {
    Install install = installs.get(new Key(group.id(), follower.id()));
    if (install != null && install.stage == Stage.READY) {
      if (installed) {
        sent.incrementAndGet();
      }
      end(group, install, installed);
    }
  }

  /** The appender is going: no longer leader, or the follower was removed. */
  synchronized void abandon(HostedGroup group, String follower) {
    Install install = installs.remove(new Key(group.id(), follower));
    if (install != null && install.stage != Stage.IDLE) {
      end(group, install, false);
    }
  }

  long sent() {
    return sent.get();
  }

  private void fetch(
      HostedGroup group, Peer follower, CheckpointSnapshot newest, Install install, Runnable wake) {
    install.stage = Stage.FETCHING;
    install.checkpoint = newest;
    install.startedNanos = System.nanoTime();
    long attempt = ++install.attempt;
    LOG.info("group {}: {} prefetches {}", group.id(), follower.id(), newest);
    resources.submitters.execute(
        () -> {
          var _ =
              start(group, follower, newest)
                  .whenComplete(
                      (done, failure) -> {
                        fetched(group, follower, install, attempt, failure);
                        wake.run();
                      });
        });
  }

  private CompletableFuture<Void> start(
      HostedGroup group, Peer follower, CheckpointSnapshot newest) {
    int bytes = newest.checkpoint().manifest().length;
    if (bytes > MANIFEST_BYTES_MAX) {
      return CompletableFuture.failedFuture(
          new IllegalStateException(
              "manifest of " + bytes + " bytes; at most " + MANIFEST_BYTES_MAX + " can be sent"));
    }
    try {
      return transfer.prefetch(follower, group.id(), newest.checkpoint());
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private synchronized void fetched(
      HostedGroup group, Peer follower, Install install, long attempt, Throwable failure) {
    if (install.stage != Stage.FETCHING || install.attempt != attempt) {
      return; // abandoned or timed out meanwhile
    }
    if (failure == null) {
      install.stage = Stage.READY;
    } else {
      LOG.warn(
          "group {}: prefetch by {} failed: {}", group.id(), follower.id(), failure.toString());
      end(group, install, false);
    }
  }

  private void end(HostedGroup group, Install install, boolean success) {
    install.stage = Stage.IDLE;
    install.failures = success ? 0 : Math.min(install.failures + 1, RETRY_DOUBLINGS_MAX);
    long pause = success ? 0 : RETRY_NANOS_MIN << install.failures;
    install.notBeforeNanos = System.nanoTime() + pause;
    group.installEnded();
    resources.installs.release();
  }
}
