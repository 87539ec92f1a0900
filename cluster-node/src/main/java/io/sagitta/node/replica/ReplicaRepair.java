// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import io.sagitta.flight.FlightErrors;
import io.sagitta.flight.internal.SentCheckpoint;
import io.sagitta.model.ShardId;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.LogPosition;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.RaftHost.GroupStatus;
import io.sagitta.raft.RaftHost.Offer;
import io.sagitta.raft.ReplicatedState.Checkpoint;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repairs replicas whose checkpoint files are damaged, from peers, in place: what is bad is set
 * aside, a peer brings its newest checkpoint ({@link CheckpointSender}), and Raft starts the group
 * again with it, as the voter it was. Why nothing acknowledged can be lost stands in Raft's {@code
 * GroupStart}; a replica whose log or vote is damaged is not touched.
 *
 * <p>One replica at a time; after a round in which no peer could help the next one waits, twice as
 * long each time. Peers are asked one after the other. What has been fetched stays, also over a
 * restart, so that a round goes on where the one before broke off.
 */
public final class ReplicaRepair {
  private static final Logger log = LoggerFactory.getLogger(ReplicaRepair.class);

  private static final long PAUSE_NANOS_MIN = 1_000_000_000L;

  /** Doublings of the pause between rounds: about a minute at most. */
  private static final int DOUBLINGS_MAX = 6;

  /** The other replicas. */
  public interface Peers {
    /** Names of the nodes that have another replica of a shard. */
    List<String> of(ShardId shard);

    /** Has one of them bring a checkpoint here that reaches an index. */
    CompletableFuture<SentCheckpoint> ask(String node, ShardId shard, long minIndex);
  }

  /** A damaged replica, from the first round until it runs. */
  private static final class Case {
    volatile String note = "it is going to be repaired from a peer";
    // Below: touched by look() and, while a round runs, by that round alone.
    String outcomeSaid = "";
    boolean announced;
    int rounds;
    long dueNanos;
  }

  private final RaftHost host;
  private final Replicas replicas;
  private final Peers peers;
  private final Executor executor;
  private final LongSupplier nanoTime;
  private final Map<ShardId, Case> cases = new ConcurrentHashMap<>();
  private final AtomicBoolean busy = new AtomicBoolean();
  private final AtomicLong repaired = new AtomicLong();
  private final AtomicLong failedRounds = new AtomicLong();

  /**
   * The repairs of a node.
   *
   * @param executor runs a round, which blocks: one virtual thread each
   */
  public ReplicaRepair(
      RaftHost host, Replicas replicas, Peers peers, Executor executor, LongSupplier nanoTime) {
    this.host = host;
    this.replicas = replicas;
    this.peers = peers;
    this.executor = executor;
    this.nanoTime = nanoTime;
  }

  /**
   * Begins a round where one is due. Called every second or so, and by a round that has repaired a
   * replica; soon done.
   */
  public void look() {
    if (!busy.compareAndSet(false, true)) {
      return;
    }
    boolean begun = false;
    try {
      begun = begin();
    } finally {
      if (!begun) {
        busy.set(false);
      }
    }
  }

  private boolean begin() {
    Map<ShardId, Long> damaged = damaged();
    cases.keySet().retainAll(damaged.keySet());
    replicas.endRepairs(damaged.keySet());
    damaged.keySet().forEach(shard -> cases.computeIfAbsent(shard, s -> newCase()));
    long now = nanoTime.getAsLong();
    Optional<ShardId> due =
        cases.entrySet().stream()
            .filter(e -> e.getValue().dueNanos - now <= 0)
            .min(Comparator.comparingLong(e -> e.getValue().dueNanos - now))
            .map(Map.Entry::getKey);
    due.ifPresent(
        shard -> executor.execute(() -> run(shard, cases.get(shard), damaged.get(shard))));
    return due.isPresent();
  }

  private void run(ShardId shard, Case its, long minIndex) {
    boolean repairedIt = false;
    try {
      repairedIt = round(shard, its, minIndex);
    } finally {
      busy.set(false);
    }
    if (repairedIt) {
      look(); // for the next one
    }
  }

  /** Index of the checkpoint wanted, of each replica that a peer's checkpoint would repair. */
  private Map<ShardId, Long> damaged() {
    Map<ShardId, Long> found = new HashMap<>();
    for (GroupStatus status : host.groups()) {
      ShardId shard = new ShardId(status.group().value());
      if (status.repairIndex().isPresent() && !peers.of(shard).isEmpty()) {
        found.put(shard, status.repairIndex().getAsLong());
      }
    }
    return found;
  }

  private Case newCase() {
    Case made = new Case();
    made.dueNanos = nanoTime.getAsLong();
    return made;
  }

  /** Whether it has been repaired. */
  private boolean round(ShardId shard, Case its, long minIndex) {
    try {
      Optional<SentCheckpoint> sent = fetch(shard, its, minIndex);
      if (sent.isPresent()) {
        start(shard, its, sent.get());
        return true;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } catch (IOException | RuntimeException e) {
      say(shard, its, "its repair failed: " + e.getMessage());
      log.debug("How shard {}'s repair failed", shard, e);
    }
    failedRounds.incrementAndGet();
    its.dueNanos =
        nanoTime.getAsLong() + (PAUSE_NANOS_MIN << Math.min(its.rounds++, DOUBLINGS_MAX));
    return false;
  }

  /** A peer's checkpoint with all its files here; empty where none could bring one. */
  private Optional<SentCheckpoint> fetch(ShardId shard, Case its, long minIndex)
      throws IOException, InterruptedException {
    var damaged = replicas.beginRepair(shard);
    if (!its.announced) {
      log.warn("Shard {} is damaged and is going to be repaired from a peer", shard);
      its.announced = true;
    }
    List<String> reasons = new ArrayList<>();
    for (String peer : peers.of(shard)) {
      its.note = "it is being repaired from " + peer;
      log.debug("Shard {}: {}", shard, its.note);
      try {
        SentCheckpoint sent = peers.ask(peer, shard, minIndex).get();
        if (sent.index() >= minIndex && damaged.missingFiles(sent.manifest()).isEmpty()) {
          return Optional.of(sent);
        }
        reasons.add(peer + ": sent another checkpoint than was asked for");
      } catch (ExecutionException | RuntimeException e) {
        reasons.add(peer + ": " + FlightErrors.unwrap(e).getMessage());
      }
    }
    say(shard, its, "no healthy peer can repair it yet (" + String.join("; ", reasons) + ")");
    return Optional.empty();
  }

  /** How a round ended; in the log once, though it may be so for hours. */
  private static void say(ShardId shard, Case its, String outcome) {
    its.note = outcome;
    if (!outcome.equals(its.outcomeSaid)) {
      its.outcomeSaid = outcome;
      log.warn("Shard {} is damaged: {}", shard, outcome);
    }
  }

  private void start(ShardId shard, Case its, SentCheckpoint sent) throws IOException {
    GroupId group = new GroupId(shard.value());
    LogPosition position = new LogPosition(sent.term(), sent.index());
    host.repair(group, new Offer(new Checkpoint(position, sent.manifest()), sent.configuration()));
    Optional<String> failure = host.status(group).flatMap(GroupStatus::failure);
    if (failure.isPresent()) {
      throw new IOException("it does not start: " + failure.get());
    }
    repaired.incrementAndGet();
    cases.remove(shard, its);
    log.warn("Shard {} has been repaired with a peer's checkpoint at {}", shard, position);
  }

  /** What is being done about a damaged replica, for whoever reads of its damage. */
  public Optional<String> note(ShardId shard) {
    return Optional.ofNullable(cases.get(shard)).map(its -> its.note);
  }

  /** Replicas repaired since start. */
  public long repaired() {
    return repaired.get();
  }

  /** Rounds since start after which a replica was as damaged as before. */
  public long failedRounds() {
    return failedRounds.get();
  }

  /** Replicas that wait for their repair or are at it. */
  public int open() {
    return cases.size();
  }

  /** Failures of groups with what is done about them. */
  public String withNote(GroupStatus status) {
    String failure = status.failure().orElse("");
    return note(new ShardId(status.group().value()))
        .filter(note -> !failure.isEmpty())
        .map(note -> failure + "; " + note)
        .orElse(failure);
  }
}
