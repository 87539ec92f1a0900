// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/**
 * Goes through a range of rows with the calling thread and as many others as the executor lends.
 */
final class ParallelRows {
  private final Supplier<? extends IntConsumer> worker;
  private final int to;
  private final AtomicInteger next;

  private ParallelRows(Supplier<? extends IntConsumer> worker, int from, int to) {
    this.worker = worker;
    this.to = to;
    this.next = new AtomicInteger(from);
  }

  /**
   * Returns when rows {@code [from, to)} are all done, each once.
   *
   * @param worker what a thread does with its rows; asked for one by each
   */
  static void run(
      Supplier<? extends IntConsumer> worker, int from, int to, int workers, Executor executor) {
    ParallelRows rows = new ParallelRows(worker, from, to);
    List<Helper> helpers = new ArrayList<>();
    for (int i = 1; i < workers; i++) {
      Helper helper = rows.new Helper();
      try {
        executor.execute(helper);
        helpers.add(helper);
      } catch (RejectedExecutionException e) {
        break; // Shutting down: this thread does what is left.
      }
    }
    try {
      rows.work();
    } finally {
      helpers.forEach(Helper::end);
    }
  }

  private void work() {
    IntConsumer mine = worker.get();
    for (int row = next.getAndIncrement(); row < to; row = next.getAndIncrement()) {
      mine.accept(row);
    }
  }

  private final class Helper implements Runnable {
    private final AtomicBoolean claimed = new AtomicBoolean();
    private final CountDownLatch done = new CountDownLatch(1);
    private volatile Throwable failure;

    @Override
    public void run() {
      if (!claimed.compareAndSet(false, true)) {
        return;
      }
      try {
        work();
      } catch (Throwable e) {
        failure = e;
      } finally {
        done.countDown();
      }
    }

    /** Keeps it from beginning, or waits until it has ended with the row in its hand. */
    void end() {
      if (claimed.compareAndSet(false, true)) {
        return;
      }
      boolean interrupted = false;
      while (true) {
        try {
          done.await();
          break;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      if (failure != null) {
        throw new IllegalStateException("an index worker failed: " + failure, failure);
      }
    }
  }
}
