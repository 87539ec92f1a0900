// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Whether a file is the one that a manifest names. */
final class FileCheck {
  /** Files up to this size are read whole at each open: it costs less than finding out later. */
  private static final long SMALL_BYTES = 1 << 20;

  private FileCheck() {}

  /**
   * What is wrong with a file by length and frame, and by all bytes of a small one; null: nothing.
   */
  static String frameProblem(FileStore store, String name, CheckpointFile file) throws IOException {
    return problem(store, name, file, file.length() <= SMALL_BYTES);
  }

  /** What is wrong with a file by all its bytes; null: nothing. */
  static String problem(FileStore store, String name, CheckpointFile file) throws IOException {
    return problem(store, name, file, true);
  }

  private static String problem(FileStore store, String name, CheckpointFile file, boolean whole)
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
      int found = whole ? Checksums.of(bytes) : file.checksum();
      return found == file.checksum()
          ? null
          : "its checksum is %s, expected %s"
              .formatted(ShardFiles.hex(found), ShardFiles.hex(file.checksum()));
    } catch (CorruptFileException e) {
      return e.getMessage();
    }
  }
}
