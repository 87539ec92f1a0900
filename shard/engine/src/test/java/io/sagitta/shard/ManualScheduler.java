// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Keeps what is scheduled, whatever the delay, until a test runs it on its own thread. */
final class ManualScheduler extends AbstractExecutorService implements ScheduledExecutorService {
  private final Deque<Runnable> waiting = new ArrayDeque<>();

  /** Runs up to so many tasks. */
  void runSome(int count) {
    for (int i = 0; i < count && !waiting.isEmpty(); i++) {
      waiting.poll().run();
    }
  }

  /** Runs until nothing is left. */
  void runAll() {
    while (!waiting.isEmpty()) {
      waiting.poll().run();
    }
  }

  @Override
  public void execute(Runnable command) {
    waiting.add(command);
  }

  @Override
  public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
    waiting.add(command);
    return null;
  }

  @Override
  public <V> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ScheduledFuture<?> scheduleAtFixedRate(
      Runnable command, long initialDelay, long period, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ScheduledFuture<?> scheduleWithFixedDelay(
      Runnable command, long initialDelay, long delay, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void shutdown() {
    waiting.clear();
  }

  @Override
  public List<Runnable> shutdownNow() {
    return List.of();
  }

  @Override
  public boolean isShutdown() {
    return false;
  }

  @Override
  public boolean isTerminated() {
    return false;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    return true;
  }
}
