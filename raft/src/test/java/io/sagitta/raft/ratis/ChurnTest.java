// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.RaftHost.Committed;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three hosts of one group that are stopped, started, cut off and healed at random while values are
 * written once each and read at every host, with checkpoints and purges all the time.
 *
 * <p>Checked: a strong read sees a state in which every value acknowledged before the read began
 * has been applied; at the end every acknowledged value is on every replica, none was applied
 * twice, none was applied that was refused as "not appended", and the replicas agree.
 */
@Seeded
class ChurnTest {
  private static final String[] NAMES = {"a", "b", "c"};

  private final BitSet acknowledged = new BitSet(); // guarded by itself
  private final Map<Integer, Boolean> refused = new ConcurrentHashMap<>();
  private final AtomicInteger values = new AtomicInteger();
  private final AtomicInteger unknown = new AtomicInteger();
  private final AtomicLong reads = new AtomicLong();
  private final AtomicLong staleReads = new AtomicLong();
  private final AtomicBoolean done = new AtomicBoolean();

  @Test
  void nothingAcknowledgedIsLostOrReadStaleThroughAFewFaults(Seed seed, @TempDir Path directory)
      throws Exception {
    churn(seed, directory, 3);
  }

  @Test
  @Tag("slow")
  void nothingAcknowledgedIsLostOrReadStaleThroughManyFaults(Seed seed, @TempDir Path directory)
      throws Exception {
    churn(seed, directory, 60);
  }

  private void churn(Seed seed, Path directory, int faults) throws Exception {
    RandomGenerator random = seed.random();
    try (TestCluster cluster = new TestCluster(directory, TestCluster.fast(64 << 10))) {
      cluster.startAll(NAMES);
      GroupId group = cluster.create(NAMES);
      List<Thread> workers =
          List.of(
              start("write", () -> write(cluster, group, seed.branch("write").random())),
              start("read", () -> read(cluster, group, seed.branch("read").random())));
      for (int i = 0; i < faults; i++) {
        String victim = NAMES[random.nextInt(NAMES.length)];
        if (random.nextBoolean()) {
          cluster.cutOff(victim);
          pause(random.nextInt(200, 2500));
          cluster.heal();
        } else {
          cluster.stop(victim);
          pause(random.nextInt(50, 2000));
          cluster.start(victim);
        }
        pause(random.nextInt(1500));
        cluster.awaitLeader(group);
      }
      done.set(true);
      for (Thread worker : workers) {
        worker.join();
      }
      check(cluster, group);
    }
  }

  private void check(TestCluster cluster, GroupId group) {
    long last = cluster.write(group, values.incrementAndGet());
    cluster.awaitApplied(group, last, NAMES);
    System.out.println(
        values.get()
            + " values, "
            + acknowledged.cardinality()
            + " acknowledged, "
            + unknown.get()
            + " unknown, "
            + reads.get()
            + " reads, installs "
            + NAMES.length
            + " hosts: "
            + cluster.hosts.values().stream().map(h -> h.metrics().installsReceived()).toList());
    assertThat(staleReads).hasValue(0);
    assertThat(reads.get()).isPositive();
    for (String name : NAMES) {
      RegisterState state = cluster.state(name, group);
      BitSet lost = (BitSet) acknowledged.clone();
      lost.andNot(state.seen());
      assertThat(lost.isEmpty()).as("lost at %s: %s", name, lost).isTrue();
      assertThat(state.seen().stream().filter(refused::containsKey)).isEmpty();
      assertThat(state.count()).as("applied twice").isEqualTo(state.seen().cardinality());
      assertThat(state.digest()).isEqualTo(cluster.state("a", group).digest());
    }
  }

  private void write(TestCluster cluster, GroupId group, RandomGenerator random) {
    while (!done.get()) {
      RatisRaftHost host = cluster.host(NAMES[random.nextInt(NAMES.length)]);
      if (host == null) {
        continue;
      }
      int value = values.incrementAndGet();
      ByteBuffer entry = TestCluster.entry(value, random.nextInt(8, 8 << 10));
      var _ =
          host.submit(group, entry)
              .whenComplete((committed, failure) -> note(value, committed, failure));
      pause(random.nextInt(4));
    }
  }

  private void note(int value, Committed committed, Throwable failure) {
    if (committed != null) {
      synchronized (acknowledged) {
        acknowledged.set(value);
      }
    } else if (failure instanceof io.sagitta.raft.OutcomeUnknown) {
      unknown.incrementAndGet();
    } else {
      refused.put(value, true);
    }
  }

  private void read(TestCluster cluster, GroupId group, RandomGenerator random) {
    while (!done.get()) {
      String name = NAMES[random.nextInt(NAMES.length)];
      RatisRaftHost host = cluster.host(name);
      BitSet expected;
      synchronized (acknowledged) {
        expected = (BitSet) acknowledged.clone();
      }
      try {
        host.readBarrier(group, Duration.ofMillis(500)).join();
        BitSet seen = cluster.state(name, group).seen();
        expected.andNot(seen);
        if (!expected.isEmpty() && cluster.host(name) == host) {
          System.out.println("stale at " + name + ": lacks " + expected);
          staleReads.incrementAndGet();
        }
        reads.incrementAndGet();
      } catch (RuntimeException refusedOrStopped) {
        pause(5);
      }
    }
  }

  private static Thread start(String name, Runnable work) {
    return Thread.ofPlatform().name(name).start(work);
  }

  private static void pause(int ms) {
    try {
      TimeUnit.MILLISECONDS.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
