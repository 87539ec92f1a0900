// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NodeSettingsTest {
  private static final NodeSettings JOINING =
      new NodeSettings(
          "n2",
          Path.of("/data/it's"),
          Path.of("/srv/n2"),
          9_010,
          "127.0.0.1",
          List.of("127.0.0.1:9001"),
          Map.of("timeouts.shard_election_ms", "150", "timeouts.meta_election_ms", "300"),
          Map.of(),
          "512m",
          Optional.empty());

  @Test
  void theConfigurationNamesEveryPortAndQuotesPaths() {
    assertThat(JOINING.yaml())
        .isEqualTo(
            """
            data_dir: '/data/it''s'
            host: 127.0.0.1
            advertised_host: '127.0.0.1'
            join:
              - '127.0.0.1:9001'
            ports:
              flight: 9010
              internal: 9011
              http: 9012
              ops: 9013
              meta_raft: 9014
              shard_raft: 9015
            timeouts:
              meta_election_ms: 300
              shard_election_ms: 150
            """);
  }

  @Test
  void nodesRunWithTheOptionsOfTheLauncher() throws Exception {
    String launcher = Files.readString(Path.of(System.getProperty("sagitta.root"), "sagitta"));
    assertThat(launcher).contains(NodeCommand.JVM_OPTIONS);
    for (String option : NodeCommand.NODE_OPTIONS) {
      assertThat(launcher).contains(option);
    }
    assertThat(NodeCommand.of(JOINING, Path.of("node.yaml"), true))
        .containsSubsequence(
            "-Xmx512m", "io.sagitta.node.NodeMain", "node", "--config", "node.yaml", "--led");
  }
}
