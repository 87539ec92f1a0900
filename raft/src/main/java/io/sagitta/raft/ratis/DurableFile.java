// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** Replaces a small file whole: temporary file, fsync, rename, fsync of the folder. */
final class DurableFile {
  private DurableFile() {}

  static void replace(Path file, ByteBuffer content, DirectoryFsync fsync) throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + ".tmp");
    try (FileChannel channel =
        FileChannel.open(
            temporary,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      while (content.hasRemaining()) {
        channel.write(content);
      }
      channel.force(true);
    }
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    fsync.fsync(file.toAbsolutePath().getParent());
  }

  static void delete(Path file, DirectoryFsync fsync) throws IOException {
    if (Files.deleteIfExists(file)) {
      fsync.fsync(file.toAbsolutePath().getParent());
    }
  }
}
