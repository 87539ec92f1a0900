// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import io.sagitta.shard.hnsw.GraphBuilder;
import io.sagitta.shard.hnsw.VectorIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Inserts a range of encoded rows by the calling thread and as many others as the executor lends.
 */
final class ParallelInsert {
  private final VectorIndex index;
  private final int to;
  private final AtomicInteger next;

  private ParallelInsert(VectorIndex index, int from, int to) {
    this.index = index;
    this.to = to;
    this.next = new AtomicInteger(from);
  }

  /** Returns when rows {@code [from, to)} are all in. */
  static void insert(VectorIndex index, int from, int to, int workers, Executor executor) {
    ParallelInsert insert = new ParallelInsert(index, from, to);
    List<Helper> helpers = new ArrayList<>();
    for (int i = 1; i < workers; i++) {
      Helper helper = insert.new Helper();
      try {
        executor.execute(helper);
        helpers.add(helper);
      } catch (RejectedExecutionException e) {
        break; // Shutting down: this thread does what is left.
      }
    }
    try {
      insert.work();
    } finally {
      helpers.forEach(Helper::end);
    }
  }

  private void work() {
    GraphBuilder builder = new GraphBuilder(index);
    for (int row = next.getAndIncrement(); row < to; row = next.getAndIncrement()) {
      builder.insert(row);
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
