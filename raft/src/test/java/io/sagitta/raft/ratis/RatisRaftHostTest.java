// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.NoSuchGroup;
import io.sagitta.raft.NotLeader;
import io.sagitta.raft.OutcomeUnknown;
import io.sagitta.raft.Overloaded;
import io.sagitta.raft.Peer;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.RaftHost.Committed;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three hosts, a group for each test. */
class RatisRaftHostTest {
  private static TestCluster cluster;

  @BeforeAll
  static void setUp(@TempDir Path directory) throws Exception {
    cluster = new TestCluster(directory, TestCluster.fast());
    cluster.startAll("a", "b", "c");
  }

  @AfterAll
  static void tearDown() {
    cluster.close();
  }

  @AfterEach
  void heal() {
    cluster.heal();
  }

  @Test
  void aLoneVoterCommitsAppliesAndReadsBackWithoutAsking() {
    GroupId group = cluster.create("a");
    RaftHost host = cluster.host("a");
    long probes = host.metrics().probes();
    Committed first = host.submit(group, TestCluster.entry(7, 100)).join();
    assertThat(ByteBuffer.wrap(first.outcome()).getLong()).isEqualTo(1);
    assertThat(host.readBarrier(group, TestCluster.SOON).join())
        .isGreaterThanOrEqualTo(first.position().index());
    assertThat(host.metrics().probes()).isEqualTo(probes);
    assertThat(cluster.state("a", group).value()).isEqualTo(7);
  }

  @Test
  void aFollowerRefusesWritesKnowsTheLeaderAndServesTheBarrier() {
    GroupId group = cluster.create("a", "b", "c");
    long index = cluster.write(group, 1);
    String leader = cluster.awaitLeader(group);
    String follower = leader.equals("a") ? "b" : "a";
    cluster.awaitApplied(group, index, follower);
    assertThatThrownBy(() -> cluster.host(follower).submit(group, TestCluster.entry(2, 8)).join())
        .hasCauseInstanceOf(NotLeader.class);
    assertThat(cluster.host(follower).status(group).orElseThrow().leader()).contains(leader);
    assertThat(cluster.host(follower).readBarrier(group, TestCluster.SOON).join())
        .isGreaterThanOrEqualTo(index);
    assertThatThrownBy(() -> cluster.host(follower).leaderReadIndex(group, TestCluster.SOON).join())
        .hasCauseInstanceOf(NotLeader.class);
  }

  @Test
  void aNoOpMovesTheIndexAndNothingElse() {
    GroupId group = cluster.create("a");
    RaftHost host = cluster.host("a");
    Committed noop = host.submit(group, ByteBuffer.allocate(0)).join();
    assertThat(noop.outcome()).isEmpty();
    assertThat(host.applied(group)).isGreaterThanOrEqualTo(noop.position().index());
    assertThat(cluster.state("a", group).count()).isZero();
  }

  @Test
  void anEntryThatIsTooLargeIsRefusedBeforeRatisAndTheLeaderStays() {
    GroupId group = cluster.create("a");
    String leader = cluster.awaitLeader(group);
    long term = cluster.host(leader).status(group).orElseThrow().term();
    assertThatThrownBy(
            () ->
                cluster
                    .host(leader)
                    .submit(group, ByteBuffer.allocate(RaftHost.ENTRY_BYTES_MAX + 1))
                    .join())
        .hasCauseInstanceOf(IllegalArgumentException.class);
    cluster.write(group, 1, RaftHost.ENTRY_BYTES_MAX);
    assertThat(cluster.host(leader).status(group).orElseThrow().term()).isEqualTo(term);
    assertThat(cluster.leader(group)).contains(leader);
  }

  @Test
  void aFullGroupRefusesAndRecoversWithAllPermitsBack() {
    GroupId group = cluster.create("a");
    RaftHost host = cluster.host("a");
    cluster.state("a", group).slowApplyMs = 20;
    for (int round = 0; round < 3; round++) {
      List<CompletableFuture<Committed>> all = new ArrayList<>();
      for (int i = 0; i < 600; i++) {
        all.add(host.submit(group, TestCluster.entry(i, 64)));
      }
      long refused =
          all.stream()
              .filter(f -> f.isCompletedExceptionally() && f.exceptionNow() instanceof Overloaded)
              .count();
      assertThat(refused).isGreaterThan(50);
      cluster.state("a", group).slowApplyMs = 0;
      assertThat(
              all.stream()
                  .filter(f -> !f.isCompletedExceptionally())
                  .map(f -> ByteBuffer.wrap(f.join().outcome()).getLong())
                  .sorted())
          .hasSize(600 - (int) refused)
          .doesNotHaveDuplicates();
      TestCluster.await("budgets given back", () -> host.metrics().pendingEntries() == 0);
      assertThat(host.metrics().pendingBytes()).isZero();
      cluster.state("a", group).slowApplyMs = 20;
    }
    assertThat(host.metrics().refusedOverload()).isPositive();
  }

  @Test
  void refusedWritesDuringATransferLeakNoPermits() {
    GroupId group = cluster.create("a", "b", "c");
    for (int round = 0; round < 4; round++) {
      String leader = cluster.awaitLeader(group);
      CompletableFuture<Void> transfer =
          cluster.host(leader).transferLeadership(group, Duration.ofSeconds(2));
      List<CompletableFuture<Committed>> all = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        all.add(cluster.host(leader).submit(group, TestCluster.entry(i, 64)));
      }
      var _ = transfer.exceptionally(e -> null).join();
      all.forEach(f -> f.exceptionally(e -> null).join());
      for (CompletableFuture<Committed> f : all) {
        if (f.isCompletedExceptionally()) {
          assertThat(f.exceptionNow())
              .isInstanceOfAny(NotLeader.class, OutcomeUnknown.class, Overloaded.class);
        }
      }
    }
    // Ratis would have leaked one of its 1,024 permits for each of the 1,200 above.
    for (int i = 0; i < 20; i++) {
      cluster.write(group, i);
    }
  }

  @Test
  void leadershipIsHandedOverAndWritesGoOn() {
    GroupId group = cluster.create("a", "b", "c");
    long first = cluster.write(group, 1);
    String leader = cluster.awaitLeader(group);
    cluster.host(leader).transferLeadership(group, Duration.ofSeconds(5)).join();
    TestCluster.await(
        "another leader", () -> cluster.leader(group).filter(l -> !l.equals(leader)).isPresent());
    assertThat(cluster.write(group, 2)).isGreaterThan(first);
  }

  @Test
  void whatALeaderAppendedAndCouldNotCommitHasAnUnknownOutcomeAndWhatItRefusedHasNot() {
    GroupId group = cluster.create("a", "b", "c");
    cluster.write(group, 1);
    String leader = cluster.awaitLeader(group);
    cluster.cutOff(leader);
    CompletableFuture<Committed> appended =
        cluster.host(leader).submit(group, TestCluster.entry(2, 8));
    TestCluster.await("the leader gives up", appended::isDone);
    assertThat(appended.exceptionNow()).isInstanceOf(OutcomeUnknown.class);
    assertThatThrownBy(() -> cluster.host(leader).submit(group, TestCluster.entry(3, 8)).join())
        .hasCauseInstanceOf(NotLeader.class);
    cluster.heal();
    long index = cluster.write(group, 4);
    cluster.awaitApplied(group, index, "a", "b", "c");
    assertThat(cluster.state("a", group).digest())
        .isEqualTo(cluster.state("b", group).digest())
        .isEqualTo(cluster.state("c", group).digest());
  }

  @Test
  void aLeaderThatIsCutOffStepsDownThoughWritesKeepComing() {
    GroupId group = cluster.create("a", "b", "c");
    String leader = cluster.awaitLeader(group);
    cluster.cutOff(leader);
    List<CompletableFuture<Committed>> all = new ArrayList<>();
    TestCluster.await(
        "the leader gives up",
        Duration.ofSeconds(10),
        () -> {
          all.add(cluster.host(leader).submit(group, TestCluster.entry(1, 64)));
          return !cluster.host(leader).status(group).orElseThrow().leaderReady();
        });
    cluster.heal();
    all.forEach(f -> f.exceptionally(e -> null).join());
    cluster.write(group, 2);
  }

  @Test
  void anExceptionInApplyStopsThisReplicaKeepsTheFirstCauseAndSparesTheOthers() {
    GroupId group = cluster.create("a");
    GroupId other = cluster.create("a");
    RaftHost host = cluster.host("a");
    CompletableFuture<Committed> poison =
        host.submit(group, TestCluster.entry(RegisterState.POISON, 8));
    assertThatThrownBy(poison::join).hasCauseInstanceOf(OutcomeUnknown.class);
    TestCluster.await("closed", () -> cluster.state("a", group).closed);
    assertThat(host.status(group).orElseThrow().failure().orElseThrow()).contains("poisoned entry");
    assertThatThrownBy(() -> host.submit(group, TestCluster.entry(1, 8)).join())
        .hasCauseInstanceOf(NotLeader.class)
        .hasMessageContaining("poisoned entry");
    assertThatThrownBy(() -> host.awaitApplied(group, 1000, TestCluster.SOON).join())
        .hasCauseInstanceOf(NotLeader.class);
    cluster.write(other, 1);
    assertThat(host.metrics().groupsFailed()).isEqualTo(1);
    host.remove(group);
    assertThat(host.metrics().groupsFailed()).isZero();
  }

  @Test
  void aGroupThatIsNotHereIsRefused() {
    GroupId group = new GroupId(UUID.randomUUID());
    assertThatThrownBy(() -> cluster.host("a").submit(group, TestCluster.entry(1, 8)).join())
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(NoSuchGroup.class);
    assertThat(cluster.host("a").status(group)).isEmpty();
  }

  @Test
  void aPortThatIsTakenIsAnErrorAndNotTheEndOfTheProcess() {
    cluster.peers.put("d", new Peer("d", cluster.peer("a").address()));
    assertThatThrownBy(() -> cluster.start("d"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot listen on");
  }

  @Test
  void createAndRemoveAreIdempotentAndDeleteTheFolder() {
    GroupId group = cluster.create("a");
    RaftHost host = cluster.host("a");
    host.create(group, cluster.peers("a"));
    cluster.write(group, 1);
    host.remove(group);
    host.remove(group);
    assertThat(host.status(group)).isEmpty();
    assertThat(cluster.groupFolder("a", group).root()).doesNotExist();
    assertThat(cluster.state("a", group).closed).isTrue();
  }
}
