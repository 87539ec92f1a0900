// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FsStoreTest extends FileStoreContract {
  @TempDir private Path directory;

  @Override
  FileStore newStore() throws IOException {
    return FsStore.open(directory.resolve("deep").resolve("shard"));
  }

  @Test
  @Tag("B045")
  void linksAreNotFollowed() throws IOException {
    FileStore store = newStore();
    Path secret = Files.writeString(directory.resolve("secret"), "s");
    Files.createSymbolicLink(directory.resolve("deep").resolve("shard").resolve("link"), secret);
    assertThat(store.exists("link")).isFalse();
    assertThat(store.list("")).isEmpty();
    assertThatThrownBy(() -> read(store, "link")).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> store.append("link")).isInstanceOf(IOException.class);
  }

  @Test
  void foreignFilesAreNotListed() throws IOException {
    FileStore store = newStore();
    Files.writeString(directory.resolve("deep").resolve("shard").resolve(".DS_Store"), "x");
    Files.createDirectory(directory.resolve("deep").resolve("shard").resolve("folder"));
    assertThat(store.list("")).isEmpty();
  }
}
