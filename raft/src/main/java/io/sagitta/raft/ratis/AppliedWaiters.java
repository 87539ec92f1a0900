// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.Overloaded;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Callers that wait until the state of one group has applied an index, sorted by index.
 *
 * <p>No wake-up is lost: a waiter is entered first and then looks at the applied index; the apply
 * thread publishes the index first and then looks at the waiters.
 */
final class AppliedWaiters {
  private record Key(long index, long arrival) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int byIndex = Long.compare(index, other.index);
      return byIndex != 0 ? byIndex : Long.compare(arrival, other.arrival);
    }
  }

  private final int waitersMax;
  private final Executor completions;
  private final ConcurrentSkipListMap<Key, CompletableFuture<Long>> waiters =
      new ConcurrentSkipListMap<>();
  private final AtomicInteger size = new AtomicInteger();
  private final AtomicLong arrivals = new AtomicLong();
  private volatile long applied;

  AppliedWaiters(long applied, int waitersMax, Executor completions) {
    this.applied = applied;
    this.waitersMax = waitersMax;
    this.completions = completions;
  }

  long applied() {
    return applied;
  }

  int size() {
    return size.get();
  }

  /** Completes with the applied index once it is at or above {@code index}. */
  CompletableFuture<Long> await(long index, Duration timeout) {
    long now = applied;
    if (now >= index) {
      return CompletableFuture.completedFuture(now);
    }
    if (size.incrementAndGet() > waitersMax) {
      size.decrementAndGet();
      return CompletableFuture.failedFuture(
          new Overloaded("more than " + waitersMax + " callers wait for an index to be applied"));
    }
    Key key = new Key(index, arrivals.getAndIncrement());
    CompletableFuture<Long> waiter = new CompletableFuture<>();
    waiters.put(key, waiter);
    if (applied >= index) {
      release(key, waiter);
    }
    return waiter
        .orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS)
        .whenComplete(
            (reached, failure) -> {
              if (waiters.remove(key) != null) {
                size.decrementAndGet();
              }
            });
  }

  /** Called by the apply thread after each entry. */
  void advance(long index) {
    applied = index;
    Map.Entry<Key, CompletableFuture<Long>> first;
    while ((first = waiters.firstEntry()) != null && first.getKey().index() <= index) {
      release(first.getKey(), first.getValue());
    }
  }

  void failAll(Throwable cause) {
    Map.Entry<Key, CompletableFuture<Long>> first;
    while ((first = waiters.pollFirstEntry()) != null) {
      size.decrementAndGet();
      CompletableFuture<Long> waiter = first.getValue();
      completions.execute(() -> waiter.completeExceptionally(cause));
    }
  }

  private void release(Key key, CompletableFuture<Long> waiter) {
    if (waiters.remove(key) != null) {
      size.decrementAndGet();
      completions.execute(() -> waiter.complete(applied));
    }
  }
}
