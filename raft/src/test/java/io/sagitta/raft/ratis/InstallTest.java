// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.Peer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.util.CodeInjectionForTesting;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checkpoints, purges, and replicas that missed what was purged (B034). */
class InstallTest {
  private static final int ENTRY_BYTES = 16 << 10;

  private static TestCluster cluster;

  @BeforeAll
  static void setUp(@TempDir Path directory) throws Exception {
    // Patient, so that a busy machine changes no leader in the middle of an install.
    cluster = new TestCluster(directory, TestCluster.fast(1L << 40, 800));
    cluster.startAll("a", "b", "c");
  }

  @AfterAll
  static void tearDown() {
    cluster.close();
  }

  @AfterEach
  void clear() {
    cluster.calm();
  }

  @Test
  void aFollowerThatMissedPurgedEntriesIsInstalledOnceAndSurvivesItsOwnPurgeAndRestart()
      throws Exception {
    GroupId group = cluster.create("a", "b", "c");
    String missing = cluster.awaitLeader(group).equals("c") ? "b" : "c";
    write(group, 10);
    cluster.stop(missing);
    checkpointAllBut(missing, group, write(group, 40));
    cluster.start(missing);
    long index = write(group, 20);
    cluster.awaitApplied(group, index, "a", "b", "c");
    assertThat(cluster.state(missing, group).installs).isEqualTo(1);
    assertThat(cluster.prefetches).hasValue(1);
    assertThat(cluster.host(missing).metrics().installsReceived()).isEqualTo(1);
    assertThat(cluster.groupFolder(missing, group).install()).doesNotExist();
    assertSameEverywhere(group);

    cluster.checkpoint(missing, group);
    cluster.stop(missing);
    index = write(group, 5);
    cluster.start(missing);
    cluster.awaitApplied(group, index, "a", "b", "c");
    assertThat(cluster.prefetches).hasValue(1);
    assertSameEverywhere(group);
  }

  @Test
  void nothingIsAnnouncedBeforeThePrefetchIsDoneAndTheLeaderDoesNotSpin() throws Exception {
    GroupId group = cluster.create("a", "b", "c");
    String leader = cluster.awaitLeader(group);
    String missing = leader.equals("c") ? "b" : "c";
    write(group, 5);
    cluster.stop(missing);
    checkpointAllBut(missing, group, write(group, 40));
    cluster.withholdPrefetch = true;
    AtomicLong messages = new AtomicLong();
    CodeInjectionForTesting.put(
        "GrpcServicesImpl.sendRequest",
        (local, remote, args) -> {
          messages.incrementAndGet();
          return false;
        });
    try {
      cluster.start(missing);
      TestCluster.await("a prefetch", () -> cluster.prefetches.get() == 1);
      messages.set(0);
      long before = System.nanoTime();
      write(group, 10);
      TestCluster.await(
          "a while", () -> System.nanoTime() - before > Duration.ofSeconds(2).toNanos());
      assertThat(cluster.state(missing, group).installs).isZero();
      assertThat(cluster.state(missing, group).count()).isLessThan(10);
      assertThat(cluster.prefetches).hasValue(1);
      // To the other follower a few for each entry, to this one heartbeats.
      assertThat(messages.get()).isLessThan(200);
      // It is a live member all the while: it knows the leader, and does not stand for election.
      assertThat(cluster.host(missing).status(group).orElseThrow().leader()).contains(leader);
      assertThat(cluster.awaitLeader(group)).isEqualTo(leader);
    } finally {
      CodeInjectionForTesting.remove("GrpcServicesImpl.sendRequest");
    }
  }

  @Test
  void anAnnouncementWhoseFilesAreGoneIsRefusedAndTheLogStays() throws Exception {
    GroupId group = cluster.create("a", "b", "c");
    String leader = cluster.awaitLeader(group);
    String missing = leader.equals("c") ? "b" : "c";
    write(group, 5);
    cluster.stop(missing);
    checkpointAllBut(missing, group, write(group, 40));
    cluster.losePrefetched = true;
    cluster.start(missing);
    TestCluster.await("two prefetches", () -> cluster.prefetches.get() >= 2);
    assertThat(cluster.state(missing, group).installs).isZero();
    assertThat(cluster.logStart(missing, group)).isZero();
    cluster.losePrefetched = false;
    long index = write(group, 1);
    cluster.awaitApplied(group, index, "a", "b", "c");
    assertThat(cluster.state(missing, group).installs).isEqualTo(1);
    assertSameEverywhere(group);
  }

  @Test
  void aReplicaWhoseLogWentAstrayBeyondTheCheckpointIsInstalledToo() {
    GroupId group = cluster.create("a", "b", "c");
    write(group, 2);
    String astray = cluster.awaitLeader(group);
    cluster.cutOff(astray);
    for (int i = 0; i < 120; i++) {
      var _ = cluster.host(astray).submit(group, TestCluster.entry(1000 + i, ENTRY_BYTES));
    }
    TestCluster.await(
        "another leader", () -> cluster.leader(group).filter(l -> !l.equals(astray)).isPresent());
    TestCluster.await(
        "the old one gives up", () -> !cluster.leader(group).equals(Optional.of(astray)));
    long index = write(group, 60);
    checkpointAllBut(astray, group, index);
    cluster.heal();
    index = write(group, 1);
    cluster.awaitApplied(group, index, "a", "b", "c");
    assertThat(cluster.state(astray, group).installs).isEqualTo(1);
    assertThat(cluster.state(astray, group).seen().stream().filter(v -> v >= 1000)).isEmpty();
    assertSameEverywhere(group);
  }

  @Test
  void aCrashBetweenThePurgeAndTheReloadIsFinishedAtStart() throws Exception {
    GroupId group = cluster.create("a", "b", "c");
    String leader = cluster.awaitLeader(group);
    String missing = leader.equals("c") ? "b" : "c";
    write(group, 5);
    cluster.stop(missing);
    checkpointAllBut(missing, group, write(group, 40));
    long entries = cluster.state(leader, group).count();
    cluster.failInstalls = true;
    cluster.start(missing);
    TestCluster.await(
        "the failed install",
        () -> cluster.host(missing).status(group).orElseThrow().failure().isPresent());
    assertThat(cluster.groupFolder(missing, group).install()).exists();
    cluster.stop(missing);
    cluster.failInstalls = false;
    int prefetches = cluster.prefetches.get();
    // From what it has on disk alone: nobody tells it anything yet.
    cluster.cutOff(missing);
    cluster.start(missing);
    assertThat(cluster.state(missing, group).count()).isEqualTo(entries);
    assertThat(cluster.groupFolder(missing, group).install()).doesNotExist();
    cluster.heal();
    long index = write(group, 1);
    cluster.awaitApplied(group, index, "a", "b", "c");
    assertThat(cluster.prefetches).hasValue(prefetches);
    assertThat(cluster.host(missing).metrics().installsReceived()).isZero();
    assertSameEverywhere(group);
  }

  @Test
  void anAnnouncementThatComesLateIsRefusedAndTakesNoCommittedEntryAway() throws Exception {
    GroupId group = cluster.create("a", "b", "c");
    String leader = cluster.awaitLeader(group);
    String missing = leader.equals("c") ? "b" : "c";
    write(group, 5);
    cluster.stop(missing);
    checkpointAllBut(missing, group, write(group, 40));
    cluster.start(missing);
    long index = write(group, 20);
    cluster.awaitApplied(group, index, "a", "b", "c");
    assertThat(cluster.state(missing, group).installs).isEqualTo(1);

    PeerGate gate = cluster.gate(missing, group);
    assertThatThrownBy(() -> gate.installSnapshot(cluster.announcements.element()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("too late");
    assertThat(cluster.logEnd(missing, group)).isGreaterThanOrEqualTo(index);
    assertThat(cluster.groupFolder(missing, group).install()).doesNotExist();
    index = write(group, 1);
    cluster.awaitApplied(group, index, "a", "b", "c");
    assertThat(cluster.state(missing, group).installs).isEqualTo(1);
    assertSameEverywhere(group);
  }

  @Test
  void voters1To2To3GrowOneByOneAndTheNewOnesAreInstalled() throws Exception {
    GroupId group = cluster.create("a");
    write(group, 40);
    cluster.checkpoint("a", group);
    for (String name : List.of("b", "c")) {
      cluster.host(name).create(group, List.of());
    }
    List<Peer> target = cluster.peers("a", "b", "c");
    List<Peer> now = cluster.host("a").changeVoters(group, target).join();
    assertThat(now).hasSize(2);
    now = cluster.host("a").changeVoters(group, target).join();
    assertThat(now).containsExactlyInAnyOrderElementsOf(target);
    assertThat(cluster.host("a").changeVoters(group, target).join()).hasSize(3);
    long index = write(group, 3);
    cluster.awaitApplied(group, index, "a", "b", "c");
    assertThat(cluster.state("b", group).installs).isEqualTo(1);
    assertThat(cluster.state("c", group).installs).isEqualTo(1);
    assertSameEverywhere(group);

    // And the leader itself goes: it hands over first, and its successor takes it out.
    String leader = cluster.awaitLeader(group);
    List<Peer> without = target.stream().filter(p -> !p.id().equals(leader)).toList();
    cluster.host(leader).changeVoters(group, without).join();
    TestCluster.await(
        "another leader", () -> cluster.leader(group).filter(l -> !l.equals(leader)).isPresent());
    String successor = cluster.awaitLeader(group);
    assertThat(cluster.host(successor).changeVoters(group, without).join())
        .containsExactlyInAnyOrderElementsOf(without);
    cluster.host(leader).remove(group);
    assertThat(cluster.groupFolder(leader, group).root()).doesNotExist();
    cluster.write(group, 9);
  }

  @Test
  @Tag("slow")
  void anAdditionOfAVoterThatDoesNotExistFailsAndHurtsNobody() throws Exception {
    GroupId group = cluster.create("a", "b");
    List<Peer> target = cluster.peers("a", "b", "nowhere");
    String leader = cluster.awaitLeader(group);
    var change = cluster.host(leader).changeVoters(group, target);
    cluster.write(group, 1);
    TestCluster.await("the failure", Duration.ofSeconds(60), change::isCompletedExceptionally);
    long index = cluster.write(group, 2);
    cluster.awaitApplied(group, index, "a", "b");
    assertThat(cluster.host(cluster.awaitLeader(group)).status(group).orElseThrow().voters())
        .hasSize(2);
  }

  @Test
  void theLogIsPurgedByBytesWithoutBeingAsked(@TempDir Path own) throws Exception {
    try (TestCluster purging = new TestCluster(own, TestCluster.fast(1L << 20))) {
      purging.start("a");
      GroupId group = purging.create("a");
      for (int i = 0; i < 150; i++) {
        purging.write(group, i, ENTRY_BYTES);
      }
      // Not the bytes alone: they are measured now and then, and are none before the first time.
      TestCluster.await("purge", () -> purging.logStart("a", group) > 0);
      TestCluster.await(
          "a short log",
          () ->
              purging.host("a").status(group).orElseThrow().logBytes() < (1L << 20) + (600L << 10));
      String digest = purging.state("a", group).digest();
      purging.stop("a");
      purging.start("a");
      purging.awaitLeader(group);
      assertThat(purging.state("a", group).digest()).isEqualTo(digest);
      assertThat(purging.state("a", group).recovered().index()).isPositive();
    }
  }

  private long write(GroupId group, int entries) {
    long last = 0;
    for (int i = 0; i < entries; i++) {
      last = cluster.write(group, i, ENTRY_BYTES);
    }
    return last;
  }

  /** Whoever leads has then purged what the missing one lacks. */
  private void checkpointAllBut(String missing, GroupId group, long index) {
    for (String name : cluster.hosts.keySet()) {
      if (!name.equals(missing)) {
        cluster.awaitApplied(group, index, name);
        cluster.checkpoint(name, group);
        TestCluster.await("purge", () -> cluster.logStart(name, group) > 12);
      }
    }
  }

  private void assertSameEverywhere(GroupId group) {
    String digest = cluster.state("a", group).digest();
    assertThat(cluster.state("b", group).digest()).isEqualTo(digest);
    assertThat(cluster.state("c", group).digest()).isEqualTo(digest);
    assertThat(Files.exists(cluster.directory)).isTrue();
  }
}
