// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.RaftHost;
import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks whether the files of replicas that run are still what their checksums say. A start reads
 * every byte of them; from then on searches and apply read mapped memory, in which nothing is
 * checked, and a disk may lose what nobody has touched for a year.
 *
 * <p>Files are read once in a while at a bounded rate, one replica at a time; soon where a read has
 * failed in a way that only a bug or bad bytes explain; and at once where somebody verifies the
 * collection. A replica with a bad file is closed and opened again ({@link RaftHost#reopen}). That
 * finds the damage as a start of the node would, and from there on all is as after one: it does not
 * vote, lead or answer until {@link ReplicaRepair} has repaired it from a peer.
 */
public final class Scrub {
  private static final Logger log = LoggerFactory.getLogger(Scrub.class);

  /** A read that fails again and again does not have the files read as often. */
  private static final Duration SUSPICION_PAUSE = Duration.ofMinutes(1);

  /** Whoever verifies asks several times within a short while, until all replicas are at one. */
  private static final Duration VERIFY_PAUSE = Duration.ofSeconds(5);

  private final RaftHost host;
  private final Replicas replicas;
  private final RateLimit rate;
  private final Duration period;
  private final Executor executor;
  private final LongSupplier nanoTime;

  /** When the files of an open replica were last found whole; its opening counts. */
  private final Map<ShardReplica, Long> wholeAtNanos = new ConcurrentHashMap<>();

  private final Set<ShardId> suspected = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean busy = new AtomicBoolean();
  private final AtomicLong found = new AtomicLong();

  /**
   * The scrub of a node.
   *
   * @param rate of reading, but for what somebody waits for
   * @param period after which a replica's files are read again; zero: only where suspected
   * @param executor runs a check, which blocks: one virtual thread each
   */
  public Scrub(
      RaftHost host,
      Replicas replicas,
      RateLimit rate,
      Duration period,
      Executor executor,
      LongSupplier nanoTime) {
    this.host = host;
    this.replicas = replicas;
    this.rate = rate;
    this.period = period;
    this.executor = executor;
    this.nanoTime = nanoTime;
  }

  /** Begins a check where one is due. Called every second or so by one thread; soon done. */
  public void look() {
    if (!busy.compareAndSet(false, true)) {
      return;
    }
    Optional<ShardReplica> due = Optional.empty();
    try {
      due = due();
      due.ifPresent(replica -> executor.execute(() -> run(replica)));
    } finally {
      if (due.isEmpty()) {
        busy.set(false);
      }
    }
  }

  private Optional<ShardReplica> due() {
    List<ShardReplica> open = replicas.open();
    wholeAtNanos.keySet().retainAll(open);
    long now = nanoTime.getAsLong();
    open.forEach(replica -> wholeAtNanos.putIfAbsent(replica, now));
    Optional<ShardReplica> suspicious =
        open.stream().filter(replica -> suspected.remove(replica.id())).findAny();
    if (suspicious.isPresent() || period.isZero()) {
      return suspicious;
    }
    return open.stream()
        .min(Comparator.comparingLong(replica -> wholeAtNanos.get(replica) - now))
        .filter(replica -> !wholeWithin(replica, period));
  }

  private boolean wholeWithin(ShardReplica replica, Duration time) {
    Long at = wholeAtNanos.get(replica);
    return at != null && nanoTime.getAsLong() - at < time.toNanos();
  }

  private void run(ShardReplica replica) {
    try {
      check(replica, this::pace);
    } catch (CancellationException e) {
      log.debug("The node stops", e);
    } catch (IOException | RuntimeException e) {
      log.warn("The files of shard {} could not be checked", replica.id(), e);
    } finally {
      busy.set(false);
    }
  }

  private void pace(int bytes) {
    rate.take(bytes);
    if (Thread.currentThread().isInterrupted()) {
      throw new CancellationException();
    }
  }

  /** A read of this replica has failed in a way that damaged files would explain. */
  void suspect(ShardReplica replica) {
    if (!wholeWithin(replica, SUSPICION_PAUSE)) {
      suspected.add(replica.id());
    }
  }

  /**
   * Checks a replica's files now, unless that was done a moment ago. Blocks.
   *
   * @throws SagittaException CORRUPT, naming them, where some are damaged: it has been closed
   */
  void verify(ShardReplica replica) {
    if (wholeWithin(replica, VERIFY_PAUSE)) {
      return;
    }
    Optional<String> damage;
    try {
      damage = check(replica, step -> {});
    } catch (IOException e) {
      throw SagittaException.unavailable(
          "its files could not be checked: " + e.getMessage(), 1_000);
    }
    if (damage.isPresent()) {
      throw new SagittaException(ErrorCode.CORRUPT, damage.get());
    }
  }

  /** Which files are bad, if any; the replica has been closed then. */
  private Optional<String> check(ShardReplica replica, IntConsumer pace) throws IOException {
    Optional<String> damage = replica.damage(pace);
    boolean open = replicas.find(replica.id()).filter(now -> now == replica).isPresent();
    if (!open) {
      return Optional.empty(); // what took its place has been checked
    }
    if (damage.isEmpty()) {
      wholeAtNanos.put(replica, nanoTime.getAsLong());
      return damage;
    }
    log.error("Shard {}: {}", replica.id(), damage.get());
    found.incrementAndGet();
    host.reopen(new GroupId(replica.id().value()), damage.get());
    return damage;
  }

  /** Replicas whose files were found damaged while they ran, since start. */
  public long found() {
    return found.get();
  }
}
