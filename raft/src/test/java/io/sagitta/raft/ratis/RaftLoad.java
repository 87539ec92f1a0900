// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.Overloaded;
import io.sagitta.raft.RaftHost.Committed;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How much a group takes: hosts in this one JVM, entries fsynced at a majority and applied. A
 * program to run by hand, with the settings of shard groups.
 *
 * <pre>RaftLoad [hosts 1,3] [entry KiB 256,1024] [in flight 16] [seconds 10] [folder]</pre>
 */
final class RaftLoad {
  private RaftLoad() {}

  public static void main(String[] args) throws Exception {
    List<Integer> hosts = numbers(args, 0, "1,3");
    List<Integer> entryKib = numbers(args, 1, "256,1024");
    int inFlight = numbers(args, 2, "16").getFirst();
    int seconds = numbers(args, 3, "10").getFirst();
    Path folder =
        args.length > 4
            ? Files.createDirectories(Path.of(args[4]))
            : Files.createTempDirectory("raft-load");
    System.out.println(
        "hosts  entry KiB  in flight  MB/s  entries/s  p50 ms  p99 ms  max ms  CPU ms/MB");
    for (int h : hosts) {
      for (int kib : entryKib) {
        run(folder.resolve(h + "-" + kib), h, kib << 10, inFlight, seconds);
      }
    }
    System.exit(0);
  }

  private static void run(Path folder, int hosts, int bytes, int inFlight, int seconds)
      throws Exception {
    String[] names = Arrays.copyOf(new String[] {"a", "b", "c"}, hosts);
    try (TestCluster cluster = new TestCluster(folder, RaftSettings.shards())) {
      cluster.startAll(names);
      GroupId group = cluster.create(names);
      String leader = cluster.awaitLeader(group);
      ByteBuffer entry = TestCluster.entry(1, bytes);
      load(cluster, leader, group, entry, inFlight, 5); // warm
      long cpuBefore = cpuNanos();
      List<Long> nanos = load(cluster, leader, group, entry, inFlight, seconds);
      double cpuMs = (cpuNanos() - cpuBefore) / 1e6;
      nanos.sort(null);
      double perSecond = nanos.size() / (double) seconds;
      System.out.printf(
          Locale.ROOT,
          "%5d  %9d  %9d  %4.0f  %9.0f  %6.1f  %6.1f  %6.1f  %9.1f%n",
          hosts,
          bytes >> 10,
          inFlight,
          perSecond * bytes / 1e6,
          perSecond,
          nanos.get(nanos.size() / 2) / 1e6,
          nanos.get((int) (nanos.size() * 0.99)) / 1e6,
          nanos.getLast() / 1e6,
          cpuMs / (nanos.size() * (double) bytes / 1e6));
    }
  }

  private static List<Long> load(
      TestCluster cluster,
      String leader,
      GroupId group,
      ByteBuffer entry,
      int inFlight,
      int seconds)
      throws InterruptedException {
    Semaphore permits = new Semaphore(inFlight);
    List<Long> nanos = new ArrayList<>();
    AtomicLong failures = new AtomicLong();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (System.nanoTime() < end) {
      permits.acquire();
      long start = System.nanoTime();
      CompletableFuture<Committed> done = cluster.host(leader).submit(group, entry.duplicate());
      var _ =
          done.whenComplete(
              (committed, failure) -> {
                if (failure == null) {
                  synchronized (nanos) {
                    nanos.add(System.nanoTime() - start);
                  }
                } else if (!(failure instanceof Overloaded)) {
                  failures.incrementAndGet();
                }
                permits.release();
              });
    }
    permits.acquire(inFlight);
    if (failures.get() > 0) {
      System.out.println(failures + " failures");
    }
    return nanos;
  }

  private static long cpuNanos() {
    return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos();
  }

  private static List<Integer> numbers(String[] args, int at, String otherwise) {
    String text = args.length > at ? args[at] : otherwise;
    return Arrays.stream(text.split(",")).map(Integer::valueOf).toList();
  }
}
