// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.NoSuchGroup;
import io.sagitta.raft.NotLeader;
import io.sagitta.raft.RaftHost;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RatisRaftHostTest {
  private final GroupId group = new GroupId(UUID.randomUUID());
  private TestCluster cluster;

  @BeforeEach
  void setUp(@TempDir Path directory) {
    cluster = new TestCluster(directory, TestCluster.fast());
  }

  @AfterEach
  void tearDown() {
    cluster.close();
  }

  @Test
  void aLoneVoterCommitsAppliesAndReadsBackWithoutAsking() throws Exception {
    RaftHost host = cluster.start("a");
    host.create(group, cluster.peers("a"));
    cluster.awaitLeader(group);
    RaftHost.Committed first = host.submit(group, TestCluster.entry(7, 100)).join();
    assertThat(ByteBuffer.wrap(first.outcome()).getLong()).isEqualTo(1);
    assertThat(host.readBarrier(group, TestCluster.SOON).join())
        .isGreaterThanOrEqualTo(first.position().index());
    assertThat(host.metrics().probes()).isZero();
    assertThat(cluster.state("a", group).value()).isEqualTo(7);
  }

  @Test
  void writesSurviveARestartOfAll() throws Exception {
    cluster.startAll("a", "b", "c");
    for (String name : List.of("a", "b", "c")) {
      cluster.host(name).create(group, cluster.peers("a", "b", "c"));
    }
    long last = 0;
    for (int i = 1; i <= 50; i++) {
      last = cluster.write(group, i, 1000);
    }
    cluster.awaitApplied(group, last, "a", "b", "c");
    String digest = cluster.state("a", group).digest();
    for (String name : List.of("a", "b", "c")) {
      cluster.stop(name);
    }
    cluster.startAll("a", "b", "c");
    cluster.awaitLeader(group);
    cluster.awaitApplied(group, last, "a", "b", "c");
    for (String name : List.of("a", "b", "c")) {
      assertThat(cluster.state(name, group).digest()).isEqualTo(digest);
    }
  }

  @Test
  void aFollowerRefusesAndKnowsTheLeader() throws Exception {
    cluster.startAll("a", "b", "c");
    for (String name : List.of("a", "b", "c")) {
      cluster.host(name).create(group, cluster.peers("a", "b", "c"));
    }
    long index = cluster.write(group, 1);
    String leader = cluster.awaitLeader(group);
    String follower = leader.equals("a") ? "b" : "a";
    cluster.awaitApplied(group, index, follower);
    assertThatThrownBy(() -> cluster.host(follower).submit(group, TestCluster.entry(2, 8)).join())
        .hasCauseInstanceOf(NotLeader.class);
    assertThat(cluster.host(follower).status(group).orElseThrow().leader()).contains(leader);
    assertThat(cluster.host(follower).readBarrier(group, TestCluster.SOON).join())
        .isGreaterThanOrEqualTo(index);
  }

  @Test
  void aNoOpMovesTheIndexAndNothingElse() throws Exception {
    RaftHost host = cluster.start("a");
    host.create(group, cluster.peers("a"));
    cluster.awaitLeader(group);
    RaftHost.Committed noop = host.submit(group, ByteBuffer.allocate(0)).join();
    assertThat(noop.outcome()).isEmpty();
    assertThat(host.applied(group)).isGreaterThanOrEqualTo(noop.position().index());
    assertThat(cluster.state("a", group).count()).isZero();
  }

  @Test
  void manyWritesAtOnceAllGetTheirOwnOutcome() throws Exception {
    RaftHost host = cluster.start("a");
    host.create(group, cluster.peers("a"));
    cluster.awaitLeader(group);
    List<CompletableFuture<RaftHost.Committed>> all = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      all.add(host.submit(group, TestCluster.entry(i, 64)));
    }
    assertThat(all.stream().map(f -> ByteBuffer.wrap(f.join().outcome()).getLong()).sorted())
        .hasSize(400)
        .doesNotHaveDuplicates();
    TestCluster.await("budgets given back", () -> host.metrics().pendingEntries() == 0);
    assertThat(host.metrics().pendingBytes()).isZero();
  }

  @Test
  void aGroupThatIsNotHereIsRefused() throws Exception {
    RaftHost host = cluster.start("a");
    assertThatThrownBy(() -> host.submit(group, TestCluster.entry(1, 8)).join())
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(NoSuchGroup.class);
    assertThat(host.status(group)).isEmpty();
  }

  @Test
  void createAndRemoveAreIdempotent() throws Exception {
    RaftHost host = cluster.start("a");
    host.create(group, cluster.peers("a"));
    host.create(group, cluster.peers("a"));
    cluster.write(group, 1);
    host.remove(group);
    host.remove(group);
    assertThat(host.groups()).isEmpty();
    assertThat(cluster.groupFolder("a", group).root()).doesNotExist();
    assertThat(cluster.state("a", group).closed).isTrue();
  }
}
