// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.raft.GroupId;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointWishTest {
  private TestCluster cluster;

  @BeforeEach
  void setUp(@TempDir Path directory) {
    cluster = new TestCluster(directory, TestCluster.fast(256 << 10));
    cluster.startAll("a");
  }

  @AfterEach
  void tearDown() {
    cluster.close();
  }

  /** As a state does that has nothing new when it is asked, or whose disk is full. */
  @Test
  void aWishForACheckpointThatCameToNothingIsRepeatedAndTheLogIsGivenBack() throws Exception {
    GroupId group = cluster.create("a");
    cluster.awaitLeader(group);
    RegisterState state = cluster.state("a", group);
    state.ignoreCheckpointWishes(true);
    long last = 0;
    for (int i = 1; i <= 100; i++) {
      last = cluster.write(group, i, 10_000);
    }
    cluster.awaitApplied(group, last, "a");
    int before = state.checkpointWishes();
    TestCluster.await("another wish", () -> state.checkpointWishes() > before);
    assertThat(state.checkpointed().map(c -> c.position().index()).orElse(-1L)).isLessThan(last);

    state.ignoreCheckpointWishes(false);
    TestCluster.await("the log is given back", () -> cluster.logStart("a", group) > 1);
  }
}
