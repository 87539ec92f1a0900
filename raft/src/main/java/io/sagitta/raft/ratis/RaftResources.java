// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * What the Raft hosts of one process share: threads and the bounds that hold for the process as a
 * whole. Close it after the hosts.
 *
 * <p>Every queue here is bounded by what feeds it: the submitters' by the budgets of bytes and
 * entries in flight, the completions' by what was submitted or waits.
 */
public final class RaftResources implements AutoCloseable {
  /** Installs at a time: each moves a whole shard, and the disk and the network are shared. */
  static final int INSTALLS_MAX = 2;

  final ExecutorService submitters;
  final ExecutorService completions;
  final ScheduledThreadPoolExecutor scheduler;
  final ThreadFactory closers;
  final ByteBudget budget;
  final Semaphore installs = new Semaphore(INSTALLS_MAX);

  /**
   * Starts the threads.
   *
   * @param submitterThreads threads that append to logs; an append may wait for a group's lock, so
   *     more than cores: 8 is enough for 2 cores
   * @param pendingBytesMax bytes of entries in flight over all groups of the process
   * @param threads makes a factory for threads of the given role
   */
  public RaftResources(
      int submitterThreads, long pendingBytesMax, Function<String, ThreadFactory> threads) {
    submitters = pool(submitterThreads, threads.apply("raft-submit"));
    completions = pool(2, threads.apply("raft-complete"));
    // The upkeep of two hosts may wait for a slow disk; read barriers must not wait for it.
    scheduler = new ScheduledThreadPoolExecutor(4, threads.apply("raft-upkeep"));
    scheduler.setRemoveOnCancelPolicy(true);
    closers = threads.apply("raft-close");
    budget = new ByteBudget(pendingBytesMax);
  }

  /** With daemon threads named {@code role-number}. */
  public static RaftResources create(int submitterThreads, long pendingBytesMax) {
    return new RaftResources(
        submitterThreads,
        pendingBytesMax,
        role -> Thread.ofPlatform().name(role + "-", 0).daemon().factory());
  }

  private static ExecutorService pool(int size, ThreadFactory threads) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            size,
            size,
            30,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            threads,
            // Only after close(): whoever waits is still told.
            (task, closed) -> task.run());
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** Runs a task later; never once this is closed. */
  void after(long nanos, Runnable task) {
    try {
      var _ = scheduler.schedule(task, nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException closed) {
      // The hosts are closed before this: nobody waits any more.
    }
  }

  @Override
  public void close() {
    scheduler.shutdownNow();
    submitters.shutdown();
    completions.shutdown();
  }
}
