// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A node's threads, by role. Raft, the Flight ports and operations HTTP bring their own, so that no
 * flood of requests can keep a heartbeat or a probe waiting.
 */
final class NodeThreads implements AutoCloseable {
  private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
  private static final long END_SECONDS = 10;

  /** Whatever waits: metadata requests, orders, steps, fetches. One virtual thread a task. */
  final ExecutorService blocking;

  /** Searches: as many threads as were configured and a bounded queue; more are refused. */
  final ThreadPoolExecutor search;

  /** Flushes, checkpoints, merges: below all others. */
  final ThreadPoolExecutor background;

  /** Builds graphs: what they may take of the machine. */
  final ScheduledThreadPoolExecutor indexing;

  /** Looks at disk, peers and files once in a while. */
  final ScheduledExecutorService upkeep;

  /** Proposes writes that had to wait for the indexer: their bytes in flight are bounded. */
  final ScheduledThreadPoolExecutor pace;

  /** Calls of the public port: one virtual thread a task. */
  final ExecutorService flight;

  NodeThreads(int searchThreads, int searchQueue, int backgroundThreads) {
    blocking =
        Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("blocking-", 0).factory());
    flight = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("flight-", 0).factory());
    search =
        new ThreadPoolExecutor(
            searchThreads,
            searchThreads,
            0,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(searchQueue),
            factory("search"));
    background =
        new ThreadPoolExecutor(
            backgroundThreads,
            backgroundThreads,
            0,
            TimeUnit.SECONDS,
            // One task a shard at a time, and shards are bounded by limits.groups.
            new LinkedBlockingQueue<>(),
            low("background"));
    indexing = new ScheduledThreadPoolExecutor(backgroundThreads, low("indexing"));
    indexing.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    upkeep = new ScheduledThreadPoolExecutor(2, factory("upkeep"));
    pace = new ScheduledThreadPoolExecutor(1, factory("pace"));
  }

  @SuppressWarnings("ThreadPriorityCheck") // on Linux a hint at best; searches do not rely on it
  private static ThreadFactory low(String role) {
    return Thread.ofPlatform().name(role + "-", 0).daemon().priority(Thread.MIN_PRIORITY).factory();
  }

  /** Daemon threads of a role. */
  static ThreadFactory factory(String role) {
    return Thread.ofPlatform().name(role + "-", 0).daemon().factory();
  }

  /** One thread for a loop that ends when it is told to. */
  static Thread loop(String role, Runnable loop) {
    return Thread.ofPlatform().name(role).daemon().start(loop);
  }

  /** Nanoseconds that the calling thread has run; by the clock, where the system cannot say. */
  static long cpuTime() {
    return CPU.isCurrentThreadCpuTimeSupported()
        ? CPU.getCurrentThreadCpuTime()
        : System.nanoTime();
  }

  /** A thread for the JVM to start when it shuts down. */
  static Thread unstarted(String role, Runnable work) {
    return Thread.ofPlatform().name(role).unstarted(work);
  }

  @Override
  public void close() {
    upkeep.shutdownNow();
    pace.shutdownNow();
    blocking.shutdownNow();
    flight.shutdownNow();
    search.shutdown();
    background.shutdown();
    indexing.shutdown();
    try {
      for (ExecutorService each :
          new ExecutorService[] {upkeep, pace, blocking, flight, search, background, indexing}) {
        if (!each.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
          throw new IllegalStateException("threads did not end: " + each);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
