// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import io.sagitta.model.SagittaException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Writers that keep a window of writes unanswered all the time. Each owns a range of ids, small
 * enough that ids are overwritten and deleted again and again, and a few counters that it raises by
 * conditional writes. What they do is drawn from the seed; when it happens is up to the machine.
 *
 * <p>Between {@link #resume} and {@link #drain} they write; outside of that nobody writes, so that
 * the ledger can be compared with the cluster.
 */
public final class Workload implements AutoCloseable {
  private static final int LANES = 4;
  private static final int WINDOW = 4;
  private static final int IDS = 400;
  private static final int COUNTERS = 8;
  private static final int BATCH_MAX = 40;
  private static final Duration GRACE = Duration.ofSeconds(20);

  /** Half of the writers give up early, so that there are unknown outcomes to get right. */
  private static final List<Duration> DEADLINES =
      List.of(Duration.ofSeconds(20), Duration.ofMillis(1_500));

  /**
   * Of a writer, once the fault has struck: writes go on all the time, but what is to come back
   * needs the machine too. Nodes of a real cluster have one each.
   */
  private static final long BREATH_MS = 50;

  private final Ledger ledger;
  private final PointStore store;
  private final Resumption resumption = new Resumption();
  private final List<Thread> threads = new ArrayList<>();
  private final Set<Write> underWay = ConcurrentHashMap.newKeySet();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean writing; // guarded by lock
  private volatile boolean sparing;
  private volatile boolean breathing;
  private boolean ended; // guarded by lock
  private int idle; // guarded by lock: writers that wait to be resumed

  public Workload(Ledger ledger, PointStore store, SplittableRandom random) {
    this.ledger = ledger;
    this.store = store;
    for (int writer = 0; writer < LANES; writer++) {
      int number = writer;
      SplittableRandom own = random.split();
      threads.add(
          Thread.ofPlatform().daemon().name("writer-" + writer).start(() -> run(number, own)));
    }
  }

  /** Lets the writers write, whatever they like. */
  public void resume() {
    sparing = false;
    breathing = false;
    lock.lock();
    try {
      writing = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * From now on half of the ids are spared: what had been written to them when the fault struck is
   * still there to be found, or missed, when the ledger is compared.
   */
  void spare() {
    sparing = true;
  }

  /** The fault has struck: from now on writes go on at a slower pace. */
  void struck() {
    resumption.struck(System.nanoTime());
    breathing = true;
  }

  /** Since the last fault, when shards have acknowledged again. */
  Resumption resumption() {
    return resumption;
  }

  /** Whether an id is one of those that are spared. */
  static boolean isSpared(long id) {
    return id < (long) LANES * IDS && id % IDS < IDS / 2;
  }

  /** Lets the writers stop and waits until every write has an outcome. */
  public void drain() throws InterruptedException {
    lock.lock();
    try {
      writing = false;
      long left = DEADLINES.getFirst().plus(GRACE).toNanos();
      while (idle < LANES || !underWay.isEmpty()) {
        throwIfFailed();
        if (left <= 0) {
          throw new IllegalStateException(
              underWay.size() + " writes have no outcome long after their deadline");
        }
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
    throwIfFailed();
  }

  /** Writes that were sent and have no outcome. */
  public Set<Write> underWay() {
    return Set.copyOf(underWay);
  }

  private void throwIfFailed() {
    if (failure.get() != null) {
      throw new IllegalStateException("a writer broke", failure.get());
    }
  }

  private void run(int writer, SplittableRandom random) {
    Semaphore window = new Semaphore(WINDOW);
    try (PointStore.Lane lane = store.lane(writer, DEADLINES.get(writer % DEADLINES.size()))) {
      while (awaitTurn()) {
        if (window.tryAcquire(100, TimeUnit.MILLISECONDS) && !step(writer, lane, window, random)) {
          window.release();
        }
        if (breathing) {
          Thread.sleep(BREATH_MS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
      wake();
    }
  }

  private boolean awaitTurn() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!writing && !ended) {
        idle++;
        changed.signalAll();
        changed.await();
        idle--;
      }
      return !ended;
    } finally {
      lock.unlock();
    }
  }

  /** One write; false where there was nothing to do. */
  private boolean step(int writer, PointStore.Lane lane, Semaphore window, SplittableRandom random)
      throws InterruptedException {
    double dice = random.nextDouble();
    if (dice < 0.10) {
      return increment(writer, lane, window, random);
    }
    boolean delete = dice < 0.25;
    List<Write.Point> points = new ArrayList<>();
    int wanted = random.nextInt(1, BATCH_MAX + 1);
    int start = random.nextInt(IDS);
    for (int i = 0; i < IDS && points.size() < wanted; i++) {
      long id = (long) writer * IDS + (start + i) % IDS;
      boolean mayWrite = ledger.isFree(id) && !(sparing && isSpared(id));
      if (mayWrite && (!delete || ledger.isThere(id))) {
        long edition = ledger.edition(id);
        points.add(new Write.Point(id, delete ? edition : edition + 1));
      }
    }
    if (points.isEmpty()) {
      Thread.sleep(5); // all ids are under way: let some come back
      return false;
    }
    Write.Kind kind = delete ? Write.Kind.DELETE : Write.Kind.UPSERT;
    send(ledger.begin(kind, writer, points), OptionalLong.empty(), lane, window);
    return true;
  }

  private boolean increment(
      int writer, PointStore.Lane lane, Semaphore window, SplittableRandom random) {
    long id = (long) LANES * IDS + (long) writer * COUNTERS + random.nextInt(COUNTERS);
    if (!ledger.isFree(id)) {
      return false;
    }
    OptionalLong version = OptionalLong.of(0); // must not exist
    if (ledger.isThere(id)) {
      List<StoredPoint> found;
      try {
        found = store.get(List.of(id));
      } catch (SagittaException e) {
        return false; // no leader now
      }
      if (found.isEmpty()) {
        return false; // lost: the check will say so
      }
      version = OptionalLong.of(found.getFirst().version());
    }
    Write.Point point = new Write.Point(id, ledger.edition(id) + 1);
    send(ledger.begin(Write.Kind.INCREMENT, writer, List.of(point)), version, lane, window);
    return true;
  }

  private void send(Write write, OptionalLong version, PointStore.Lane lane, Semaphore window) {
    underWay.add(write);
    long sentNanos = System.nanoTime();
    CompletableFuture<Outcome> answer = lane.send(write, version);
    var unused =
        answer.whenComplete(
            (outcome, broken) -> {
              if (broken != null) {
                failure.compareAndSet(null, broken);
              } else {
                ledger.settle(write, outcome);
                if (outcome instanceof Outcome.Acknowledged acknowledged) {
                  resumption.acknowledged(
                      acknowledged.indexes().keySet(), sentNanos, System.nanoTime());
                }
              }
              underWay.remove(write);
              window.release();
              wake();
            });
  }

  private void wake() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      ended = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    try {
      for (Thread thread : threads) {
        thread.join(GRACE);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
