// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A few MiB of the volume held back for the next start. A start counts itself, and writes a few
 * small files more, before it can serve a single read; on a volume that somebody else has filled to
 * the last byte it gives this file's space to them. Made again once there is room.
 */
final class Reserve {
  private static final Logger log = LoggerFactory.getLogger(Reserve.class);

  /** Small files, and a step of the log for a few groups. */
  private static final int BYTES = 4 << 20;

  /** It is not made where it would itself fill the volume. */
  private static final long ROOM_BYTES = 16L * BYTES;

  private final Path file;

  Reserve(Path root) {
    this.file = root.resolve("reserve");
  }

  /** Gives its space back where hardly any is left. Before the first write of a start. */
  void useIfFull() throws IOException {
    if (Files.exists(file) && usable() < BYTES) {
      log.warn("{} is full: the space of {} is used for this start", file.getParent(), file);
      Files.delete(file);
    }
  }

  /** Makes it where it is missing and there is room; cheap where it is there. */
  void keep() throws IOException {
    if (Files.exists(file) || usable() < ROOM_BYTES) {
      return;
    }
    // Not zeros: some file systems do not store those.
    byte[] content = new byte[BYTES];
    new SplittableRandom(1).nextBytes(content);
    Path temporary = file.resolveSibling(file.getFileName() + ".tmp");
    try (FileChannel out =
        FileChannel.open(
            temporary,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      ByteBuffer left = ByteBuffer.wrap(content);
      while (left.hasRemaining()) {
        out.write(left);
      }
      out.force(true);
    } catch (IOException e) {
      Files.deleteIfExists(temporary);
      throw e;
    }
    Files.move(temporary, file);
  }

  private long usable() throws IOException {
    return Files.getFileStore(file.getParent()).getUsableSpace();
  }
}
