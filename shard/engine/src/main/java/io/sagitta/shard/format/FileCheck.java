// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;

/** Whether a file is the one that a manifest names. */
final class FileCheck {
  private FileCheck() {}

  /**
   * What is wrong with a file by its length, its frame and all its bytes; null: nothing. Reads it
   * whole, some gigabytes a second where the disk is as fast: what a start leaves unread would be
   * answered from.
   */
  static String problem(FileStore store, String name, CheckpointFile file) throws IOException {
    return problem(store, name, file, step -> {});
  }

  /**
   * The same at a pace.
   *
   * @param pace told before each step how many bytes are going to be read; it may wait
   */
  static String problem(FileStore store, String name, CheckpointFile file, IntConsumer pace)
      throws IOException {
    if (!store.exists(name)) {
      return "it is missing";
    }
    if (store.length(name) != file.length()) {
      return "it has " + store.length(name) + " bytes, expected " + file.length();
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = store.map(name, arena);
      Frame.of(name, bytes);
      int found = Checksums.of(bytes, pace);
      return found == file.checksum()
          ? null
          : "its checksum is %s, expected %s"
              .formatted(ShardFiles.hex(found), ShardFiles.hex(file.checksum()));
    } catch (CorruptFileException e) {
      return e.getMessage();
    } catch (InternalError e) {
      // How the JVM reports a page of a mapped file that the disk cannot read.
      return "it cannot be read: " + e.getMessage();
    }
  }
}
