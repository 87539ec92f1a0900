// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.raft.GroupId;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RestartTest {
  private static final String[] NAMES = {"a", "b", "c"};

  private TestCluster cluster;

  @BeforeEach
  void setUp(@TempDir Path directory) {
    cluster = new TestCluster(directory, TestCluster.fast());
    cluster.startAll(NAMES);
  }

  @AfterEach
  void tearDown() {
    cluster.close();
  }

  @Test
  void writesSurviveTheLeadersEndAndARestartOfAll() throws Exception {
    GroupId group = cluster.create(NAMES);
    for (int i = 1; i <= 30; i++) {
      cluster.write(group, i, 1000);
    }
    String leader = cluster.awaitLeader(group);
    cluster.stop(leader);
    long last = 0;
    for (int i = 31; i <= 50; i++) {
      last = cluster.write(group, i, 1000);
    }
    cluster.start(leader);
    cluster.awaitApplied(group, last, NAMES);
    String digest = cluster.state("a", group).digest();

    List.of(NAMES).parallelStream().forEach(cluster::stop);
    cluster.startAll(NAMES);
    cluster.awaitLeader(group);
    cluster.awaitApplied(group, last, NAMES);
    for (String name : NAMES) {
      assertThat(cluster.state(name, group).digest()).isEqualTo(digest);
      assertThat(cluster.state(name, group).seen().cardinality()).isEqualTo(50);
      assertThat(cluster.host(name).hostedGroup(group).orElseThrow().mark().position().index())
          .isGreaterThanOrEqualTo(last);
    }
  }

  @Test
  void aLeaderThatIsOpenedAgainHandsOverReplaysAndGoesOn() throws Exception {
    GroupId group = cluster.create(NAMES);
    for (int i = 1; i <= 30; i++) {
      cluster.write(group, i, 1000);
    }
    String leader = cluster.awaitLeader(group);
    RegisterState before = cluster.state(leader, group);
    cluster.host(leader).reopen(group, "for a test");
    assertThat(cluster.state(leader, group)).isNotSameAs(before);
    assertThat(cluster.host(leader).status(group).orElseThrow().failure()).isEmpty();
    long last = 0;
    for (int i = 31; i <= 50; i++) {
      last = cluster.write(group, i, 1000);
    }
    cluster.awaitApplied(group, last, NAMES);
    for (String name : NAMES) {
      assertThat(cluster.state(name, group).seen().cardinality()).isEqualTo(50);
    }
  }

  @Test
  void aGroupOfOneIsOpenedAgainUnderWritesAndForgetsNothingAcknowledged() throws Exception {
    GroupId group = cluster.create("a");
    long last = 0;
    for (int round = 0; round < 5; round++) {
      for (int i = 1; i <= 10; i++) {
        last = cluster.write(group, 10L * round + i, 1000);
      }
      cluster.host("a").reopen(group, "for a test");
    }
    cluster.awaitApplied(group, last, "a");
    assertThat(cluster.state("a", group).seen().cardinality()).isEqualTo(50);
  }
}
