// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every store does; each has a test that extends this one. */
abstract class FileStoreContract {
  /** An empty store. */
  abstract FileStore newStore() throws IOException;

  @Test
  void whatWasWrittenIsRead() throws IOException {
    FileStore store = newStore();
    write(store, "a", "hello ");
    try (FileOutput more = store.append("a")) {
      assertThat(more.length()).isEqualTo(6);
      more.write(text("world"));
      assertThat(more.length()).isEqualTo(11);
    }
    assertThat(read(store, "a")).isEqualTo("hello world");
    assertThat(store.length("a")).isEqualTo(11);
    ByteBuffer middle = ByteBuffer.allocate(20);
    store.read("a", 4, middle);
    assertThat(middle.position()).isEqualTo(7);
    ByteBuffer beyond = ByteBuffer.allocate(20);
    store.read("a", 11, beyond);
    assertThat(beyond.position()).isZero();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mapped = store.map("a", arena);
      assertThat(mapped.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes("hello world"));
      assertThat(mapped.isReadOnly()).isTrue();
      assertThat(mapped.isNative()).isTrue();
    }
  }

  @Test
  void anEmptyFileIsMappedAsNothing() throws IOException {
    FileStore store = newStore();
    write(store, "empty", "");
    try (Arena arena = Arena.ofConfined()) {
      assertThat(store.map("empty", arena).byteSize()).isZero();
    }
  }

  @Test
  void aNameIsTakenOnce() throws IOException {
    FileStore store = newStore();
    write(store, "a", "1");
    assertThatThrownBy(() -> store.create("a")).isInstanceOf(FileAlreadyExistsException.class);
  }

  @Test
  void aRenameReplaces() throws IOException {
    FileStore store = newStore();
    write(store, "a", "1");
    write(store, "b", "2");
    store.rename("a", "b");
    assertThat(store.list("")).containsExactly("b");
    assertThat(read(store, "b")).isEqualTo("1");
  }

  @Test
  void aMappingOutlivesTheName() throws IOException {
    FileStore store = newStore();
    write(store, "a", "kept");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mapped = store.map("a", arena);
      store.delete("a");
      write(store, "a", "other");
      assertThat(mapped.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes("kept"));
    }
  }

  @Test
  void filesMoveIntoADirectory() throws IOException {
    FileStore store = newStore();
    write(store, "a", "1");
    store.createDirectory("aside");
    store.createDirectory("aside");
    store.rename("a", "aside/a");
    store.syncDirectory("aside");
    store.syncDirectory("");
    assertThat(store.list("")).isEmpty();
    assertThat(store.list("aside")).containsExactly("aside/a");
    assertThat(store.exists("aside/a")).isTrue();
    assertThat(store.exists("a")).isFalse();
  }

  @Test
  void whatIsNotThereSaysSo() throws IOException {
    FileStore store = newStore();
    assertThat(store.exists("a")).isFalse();
    try (Arena arena = Arena.ofConfined()) {
      assertThatThrownBy(() -> store.map("a", arena)).isInstanceOf(NoSuchFileException.class);
    }
    assertThatThrownBy(() -> store.length("a")).isInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(() -> store.append("a")).isInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(() -> store.delete("a")).isInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(() -> store.rename("a", "b")).isInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(() -> store.read("a", 0, ByteBuffer.allocate(1)))
        .isInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(() -> store.list("none")).isInstanceOf(NoSuchFileException.class);
  }

  @Test
  @Tag("B045")
  void noNameLeadsOutOfTheDirectory() throws IOException {
    FileStore store = newStore();
    for (String name :
        List.of(
            "",
            ".",
            "..",
            "../x",
            "/etc/x",
            "a/../b",
            "a/b/c",
            "a\\b",
            "a\0",
            "a\n",
            "-a",
            ".hidden",
            "%2e%2e/x",
            "a/",
            "/a",
            "a//b",
            "\u00e9",
            "x".repeat(129))) {
      assertThat(FileNames.isValid(name)).as(name).isFalse();
      assertThatThrownBy(() -> store.create(name)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> store.delete(name)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> store.rename(name, "b"))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> store.exists(name)).isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(store.list("")).isEmpty();
  }

  static void write(FileStore store, String name, String text) throws IOException {
    try (FileOutput out = store.create(name)) {
      out.write(text(text));
      out.sync();
    }
  }

  static String read(FileStore store, String name) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate((int) store.length(name));
    store.read(name, 0, bytes);
    return new String(bytes.array(), StandardCharsets.UTF_8);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static ByteBuffer text(String text) {
    return ByteBuffer.wrap(bytes(text));
  }
}
