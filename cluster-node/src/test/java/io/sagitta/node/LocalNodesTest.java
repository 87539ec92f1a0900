// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.node.NodeConfig.Membership;
import io.sagitta.node.NodeConfig.Ports;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code start} writes before it runs anything. */
class LocalNodesTest {
  @TempDir Path root;

  /** Every file below the root with what is in it. */
  private Map<String, String> files() throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(root)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        files.put(
            root.relativize(file).toString(), Files.readString(file, StandardCharsets.ISO_8859_1));
      }
    }
    return files;
  }

  @Test
  void everyNodeGetsAConfigurationWithPortsTenApart() throws IOException {
    LocalNodes.plan(root, 2, 20_000);
    assertThat(files()).containsOnlyKeys("n1.yaml", "n2.yaml");
    NodeConfig second = ConfigFile.read(root.resolve("n2.yaml"));
    assertThat(second.ports()).isEqualTo(Ports.from(20_010));
    assertThat(second.dataDir()).isEqualTo(root.resolve("n2"));
    assertThat(Files.readString(root.resolve("n2.yaml"))).contains("127.0.0.1:20001");
  }

  @Test
  void aFolderThatARunningNodeHoldsIsRefusedBeforeAnythingIsWritten() throws IOException {
    LocalNodes.plan(root, 3, 20_000);
    try (DataFolder held = DataFolder.open(root.resolve("n2"))) {
      Map<String, String> before = files();
      assertThatThrownBy(() -> LocalNodes.plan(root, 3, 21_000))
          .isInstanceOf(ConfigException.class)
          .hasMessage(
              "data folder "
                  + held.root()
                  + " is in use by process "
                  + ProcessHandle.current().pid());
      assertThat(files()).isEqualTo(before);
    }
    LocalNodes.plan(root, 3, 21_000);
    assertThat(ConfigFile.read(root.resolve("n2.yaml")).ports()).isEqualTo(Ports.from(21_010));
  }

  @Test
  void aNodeKnownAtOtherPortsIsRefusedBeforeAnythingIsWritten() throws IOException {
    LocalNodes.plan(root, 1, 20_000);
    try (DataFolder folder = DataFolder.open(root.resolve("n1"))) {
      NodeConfig config = ConfigFile.read(root.resolve("n1.yaml"));
      assertThat(config.membership()).isEqualTo(new Membership.Bootstrap());
      NodeIdentity.start(folder, config, UUID::randomUUID);
    }
    Map<String, String> before = files();
    assertThatThrownBy(() -> LocalNodes.plan(root, null, 21_000))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("known to its cluster as 127.0.0.1:20001")
        .hasMessageContaining("not with 127.0.0.1:21001");
    assertThat(files()).isEqualTo(before);

    LocalNodes.plan(root, 2, 20_000);
    assertThat(files()).containsAllEntriesOf(before).containsKey("n2.yaml");
  }

  @Test
  void aRefusedStartMakesNoFolder() {
    Path folder = root.resolve("new");
    assertThatThrownBy(() -> LocalNodes.plan(folder, 3, 65_520))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("the ports would end at 65545");
    assertThat(folder).doesNotExist();
  }
}
