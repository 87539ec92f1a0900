// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.raft.DamageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeIdentityTest {
  @TempDir Path root;

  private NodeConfig config(int base) {
    return ConfigFile.parse(
        "test",
        ConfigFile.localYaml(
            root, NodeConfig.Ports.from(base), new NodeConfig.Membership.Bootstrap()),
        root);
  }

  private NodeIdentity start() throws IOException {
    try (DataFolder folder = DataFolder.open(root)) {
      return NodeIdentity.start(folder, config(20_000), UUID::randomUUID);
    }
  }

  @Test
  void aFolderKeepsItsIdentityAndCountsItsStarts() throws IOException {
    NodeIdentity first = start();
    assertThat(first.boot()).isEqualTo(1);
    assertThat(first.cluster()).isEmpty();
    UUID cluster = UUID.randomUUID();
    try (DataFolder folder = DataFolder.open(root)) {
      NodeIdentity second = NodeIdentity.start(folder, config(20_000), UUID::randomUUID);
      assertThat(second.id()).isEqualTo(first.id());
      assertThat(second.boot()).isEqualTo(2);
      second.join(folder, cluster);
    }
    NodeIdentity third = start();
    assertThat(third.boot()).isEqualTo(3);
    assertThat(third.cluster()).contains(cluster);
  }

  @Test
  void aFolderIsUsedByOneProcess() {
    try (DataFolder folder = DataFolder.open(root)) {
      assertThat(folder.root()).isEqualTo(root);
      assertThatThrownBy(() -> DataFolder.open(root))
          .isInstanceOf(ConfigException.class)
          .hasMessage(
              "data folder " + root + " is in use by process " + ProcessHandle.current().pid());
    }
    DataFolder.open(root).close();
  }

  @Test
  void aFolderWithDataAndNoIdentityIsRefused() throws IOException {
    start();
    Files.delete(root.resolve("identity"));
    Files.createDirectories(root.resolve("meta/raft/x"));
    assertThatThrownBy(this::start)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("holds data but no 'identity' file");
  }

  @Test
  void aFolderDoesNotMoveToAnotherAddress() throws IOException {
    start();
    try (DataFolder folder = DataFolder.open(root)) {
      assertThatThrownBy(() -> NodeIdentity.start(folder, config(21_000), UUID::randomUUID))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("127.0.0.1:20001")
          .hasMessageContaining("127.0.0.1:21001");
    }
  }

  @Test
  void aDamagedIdentityIsNamedWithItsOffset() throws IOException {
    start();
    Path file = root.resolve("identity");
    byte[] bytes = Files.readAllBytes(file);
    bytes[40] ^= 1;
    Files.write(file, bytes);
    assertThatThrownBy(this::start)
        .isInstanceOf(DamageException.class)
        .hasMessageContaining("identity is damaged at offset");
  }
}
