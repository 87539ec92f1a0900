// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.raft.GroupId;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplayTest {
  private static final int PAYLOAD = 4_000;

  /** Of an entry around its payload: the value, term, index, and what protobuf adds. */
  private static final int OVERHEAD_MAX = 200;

  @Test
  void aStartCountsTheBytesOfLogThatItReplays(@TempDir Path directory) throws Exception {
    try (TestCluster cluster = new TestCluster(directory, TestCluster.fast())) {
      cluster.startAll("a");
      GroupId group = cluster.create("a");
      for (int i = 1; i <= 30; i++) {
        cluster.write(group, i, PAYLOAD);
      }
      cluster.checkpoint("a", group);
      for (int i = 31; i <= 40; i++) {
        cluster.write(group, i, PAYLOAD);
      }
      assertThat(cluster.host("a").metrics().logBytesReplayed()).isZero();

      cluster.stop("a");
      cluster.start("a");
      cluster.awaitLeader(group);
      long last = cluster.write(group, 41, PAYLOAD); // was not there at start
      cluster.awaitApplied(group, last, "a");
      assertThat(cluster.host("a").metrics().logBytesReplayed())
          .isBetween(10L * PAYLOAD, 10L * (PAYLOAD + OVERHEAD_MAX));
    }
  }
}
