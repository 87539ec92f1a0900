// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.RaftHost;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Strong reads at a leader that has been deposed without knowing it. */
class ReadBarrierTest {
  @Test
  void aDeposedLeaderServesNoStaleReadHoweverLongItBelievesItLeads(@TempDir Path directory)
      throws Exception {
    try (TestCluster cluster = new TestCluster(directory, TestCluster.fast())) {
      assertThat(staleReads(cluster, 2)).isZero();
    }
  }

  @Test
  void withoutTheBarrierTheSameTestSeesStaleReads(@TempDir Path directory) throws Exception {
    try (TestCluster cluster = new TestCluster(directory, TestCluster.fast())) {
      cluster.plants.add(RaftHostConfig.Plant.NO_READ_BARRIER);
      assertThat(staleReads(cluster, 6)).isPositive();
    }
  }

  /**
   * Cuts the leader off, has the others elect and write, and reads at the old leader all the while;
   * until something stale was seen, but at most so many rounds.
   *
   * @return reads that answered a value older than one acknowledged before they began
   */
  private static long staleReads(TestCluster cluster, int rounds) throws Exception {
    cluster.startAll("a", "b", "c");
    GroupId group = cluster.create("a", "b", "c");
    AtomicLong stale = new AtomicLong();
    long value = 0;
    for (int round = 0; round < rounds && stale.get() == 0; round++) {
      cluster.write(group, ++value);
      String old = cluster.awaitLeader(group);
      AtomicLong acknowledged = new AtomicLong(value);
      AtomicBoolean done = new AtomicBoolean();
      cluster.cutOff(old);
      Thread reader =
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (!done.get()) {
                      readOnce(cluster, old, group, acknowledged, stale);
                      pause(); // the others need the processor to elect
                    }
                  });
      Thread writer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    // Entries that keep coming to the old leader keep Ratis from stepping it down.
                    while (!done.get()) {
                      var _ = cluster.host(old).submit(group, TestCluster.entry(-1, 8));
                      pause();
                    }
                  });
      TestCluster.await(
          "a successor",
          () ->
              cluster.hosts.entrySet().stream()
                  .anyMatch(
                      e ->
                          !e.getKey().equals(old)
                              && e.getValue().status(group).orElseThrow().leaderReady()));
      String successor =
          cluster.hosts.keySet().stream()
              .filter(n -> !n.equals(old))
              .filter(n -> cluster.host(n).status(group).orElseThrow().leaderReady())
              .findFirst()
              .orElseThrow();
      for (int i = 0; i < 50; i++) {
        cluster.host(successor).submit(group, TestCluster.entry(++value, 8)).join();
        acknowledged.set(value);
        pause();
      }
      done.set(true);
      reader.join();
      writer.join();
      cluster.heal();
      TestCluster.await(
          "the old leader follows",
          () ->
              !cluster.host(old).status(group).orElseThrow().leaderReady()
                  || cluster.awaitLeader(group).equals(old));
      value += 1000;
    }
    return stale.get();
  }

  private static void readOnce(
      TestCluster cluster, String at, GroupId group, AtomicLong acknowledged, AtomicLong stale) {
    long expected = acknowledged.get();
    try {
      cluster
          .host(at)
          .leaderReadIndex(group, Duration.ofMillis(300))
          .thenCompose(i -> cluster.host(at).awaitApplied(group, i, Duration.ofMillis(300)))
          .join();
      long seen = cluster.state(at, group).value();
      if (seen >= 0 && seen < expected) {
        stale.incrementAndGet();
      }
    } catch (RuntimeException refused) {
      // It is asked again.
    }
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(2);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void manyReadsOfAMillisecondShareOneProbeOfEachPeer(@TempDir Path directory) throws Exception {
    try (TestCluster cluster = new TestCluster(directory, TestCluster.fast())) {
      cluster.startAll("a", "b", "c");
      GroupId one = cluster.create("a", "b", "c");
      long index = cluster.write(one, 1);
      RaftHost leader = cluster.host(cluster.awaitLeader(one));
      List<CompletableFuture<Long>> reads = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        reads.add(leader.readBarrier(one, TestCluster.SOON));
      }
      reads.forEach(r -> assertThat(r.join()).isGreaterThanOrEqualTo(index));
      assertThat(leader.metrics().barriers()).isGreaterThanOrEqualTo(1000);
      assertThat(leader.metrics().probes()).isLessThan(400);
    }
  }

  @Test
  void whereNoProbeAnswersANoOpStandsInAndWithoutAMajorityTheReadTimesOut(@TempDir Path directory)
      throws Exception {
    try (TestCluster cluster = new TestCluster(directory, TestCluster.fast())) {
      cluster.startAll("a", "b", "c");
      GroupId group = cluster.create("a", "b", "c");
      long index = cluster.write(group, 1);
      String leader = cluster.awaitLeader(group);
      cluster.probesFail = true;
      assertThat(cluster.host(leader).readBarrier(group, TestCluster.SOON).join())
          .isGreaterThan(index);
      cluster.cutOff(leader);
      assertThatThrownBy(
              () -> cluster.host(leader).readBarrier(group, Duration.ofMillis(100)).join())
          .hasCauseInstanceOf(TimeoutException.class);
    }
  }
}
