// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Makes a directory's entries (creations, renames, deletions) durable. A seam for tests. */
@FunctionalInterface
interface DirectoryFsync {

  void fsync(Path directory) throws IOException;

  /** The operating system's. */
  DirectoryFsync REAL =
      directory -> {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
          channel.force(true);
        }
      };
}
