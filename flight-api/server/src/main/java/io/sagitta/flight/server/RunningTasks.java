// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Knows when all that was begun with it has ended, so that memory can be checked after. */
final class RunningTasks implements Executor {
  private final Executor executor;
  // Guarded by this.
  private int running;

  RunningTasks(Executor executor) {
    this.executor = executor;
  }

  @Override
  public void execute(Runnable task) {
    begun();
    boolean accepted = false;
    try {
      executor.execute(
          () -> {
            try {
              task.run();
            } finally {
              ended();
            }
          });
      accepted = true;
    } finally {
      if (!accepted) {
        ended();
      }
    }
  }

  /** Counts what runs elsewhere, until its future ends. */
  void count(CompletableFuture<?> task) {
    begun();
    var _ = task.whenComplete((value, failure) -> ended());
  }

  private synchronized void begun() {
    running++;
  }

  private synchronized void ended() {
    running--;
    if (running == 0) {
      notifyAll();
    }
  }

  /** Waits until no task runs; false where some still did at the end of the wait. */
  synchronized boolean awaitIdle(long timeoutMs) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    while (running > 0) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
      if (leftMs <= 0) {
        return false;
      }
      wait(leftMs);
    }
    return true;
  }
}
