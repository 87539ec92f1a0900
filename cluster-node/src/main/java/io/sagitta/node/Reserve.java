// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import io.sagitta.node.service.DiskSpace.Volume;
import io.sagitta.raft.ratis.RaftSettings;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.SplittableRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A part of the volume held back for starts. A start counts itself, elects leaders and says so in
 * the log before it can serve a single read; on a volume that somebody else has filled to the last
 * byte this file is cut short to make room for that.
 *
 * <p>What a start writes: its place in {@code lock}, {@code identity}, {@code cluster-map} and log
 * lines; of each Raft group a vote file, twice a configuration (each a new file beside the old one,
 * for a moment), and a new log segment, grown by {@link #LOG_STEP_BYTES} here and not by the usual
 * step ({@link #isTight}). Nearly all of it is free again afterwards, since the next start cuts
 * segments to what is in them. So after the start the file takes back what is left, and a volume
 * that others fill again and again stands some twenty starts, one that merely stays full any
 * number. Starts that are killed before that (within seconds) use up one share each, of {@link
 * #STARTS}.
 *
 * <p>One thread at a time.
 */
final class Reserve {
  private static final Logger log = LoggerFactory.getLogger(Reserve.class);

  /** By how much a Raft log grows at once where the volume is full. */
  static final long LOG_STEP_BYTES = 64L << 10;

  /** Blocks of a group's small files. */
  private static final long GROUP_FILES_BYTES = 32L << 10;

  /** Beside the groups. The cluster map and the log may be some 100 KiB. */
  private static final long NODE_BYTES = 512L << 10;

  /** Starts that are paid for without one of them lasting until the file grows again. */
  private static final int STARTS = 4;

  /** Where less is free, the file does not grow beyond what the start has taken from it. */
  private static final long ROOM_BYTES = 64L << 20;

  /** What the file leaves to a node that runs on a full volume, when it takes back. */
  private static final long LEFT_BYTES = 64L << 10;

  private static final int WRITE_BYTES = 16 << 10;

  private final Path file;
  private final List<Path> groupFolders;
  private final Volume volume;

  /** Bytes that this process's start has taken from the file and not given back. */
  private long lentBytes;

  private boolean tight;

  /**
   * The reserve of a data folder.
   *
   * @param file where it lies
   * @param groupFolders folders that hold a folder for each Raft group
   * @param volume the file system of both
   */
  Reserve(Path file, List<Path> groupFolders, Volume volume) {
    this.file = file;
    this.groupFolders = groupFolders;
    this.volume = volume;
  }

  /** Makes room for a start where there is none. Before the first write of a start. */
  void makeRoom() throws IOException {
    long free = volume.freeBytes();
    tight = free < neededBytes(RaftSettings.shards().preallocatedBytes());
    long missing = neededBytes(LOG_STEP_BYTES) - free;
    long size = size();
    if (missing <= 0 || size == 0) {
      return;
    }
    long lent = Math.min(missing, size);
    resize(size - lent);
    lentBytes = lent;
    log.warn(
        "{} is full: {} of the {} bytes of {} are used for this start",
        file.getParent(),
        lent,
        size,
        file.getFileName());
  }

  /** Whether logs must grow by small steps: {@link #makeRoom} found no room for the usual ones. */
  boolean isTight() {
    return tight;
  }

  /** Lets the file grow to its size, as far as there is room; cheap where it has that. */
  void keep() throws IOException {
    long size = size();
    long missing = STARTS * neededBytes(LOG_STEP_BYTES) - size;
    if (missing <= 0) {
      return;
    }
    long free = volume.freeBytes();
    long more = free >= ROOM_BYTES ? missing : Math.min(missing, takenBack(free));
    if (more > 0) {
      grow(size, more);
      lentBytes = Math.max(0, lentBytes - more);
    }
  }

  /** Whole pieces, lest a running node's small files make it grow and grow again. */
  private long takenBack(long free) {
    return Math.min(lentBytes, free - LEFT_BYTES) / WRITE_BYTES * WRITE_BYTES;
  }

  /** What one start writes at most, where logs grow by such steps. */
  private long neededBytes(long logStepBytes) throws IOException {
    long groups = 0;
    for (Path folder : groupFolders) {
      groups += entries(folder);
    }
    return NODE_BYTES + groups * (GROUP_FILES_BYTES + logStepBytes);
  }

  private static long entries(Path folder) throws IOException {
    long count = 0;
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path _ : entries) {
        count++;
      }
    } catch (NoSuchFileException e) {
      return 0; // before the first start
    }
    return count;
  }

  // ---- the file ------------------------------------------------------------------------------

  private long size() throws IOException {
    try {
      return Files.size(file);
    } catch (NoSuchFileException e) {
      return 0;
    }
  }

  private void resize(long bytes) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(bytes);
      channel.force(true);
    }
  }

  /** A crash in between leaves it shorter, and it grows on; what is in it does not matter. */
  private void grow(long from, long bytes) throws IOException {
    SplittableRandom random = new SplittableRandom(from);
    byte[] piece = new byte[WRITE_BYTES];
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (long written = 0; written < bytes; ) {
        random.nextBytes(piece); // not zeros: some file systems do not store those
        int length = (int) Math.min(WRITE_BYTES, bytes - written);
        written += channel.write(ByteBuffer.wrap(piece, 0, length), from + written);
      }
      channel.force(true);
    } catch (IOException e) {
      if (Files.exists(file)) {
        resize(from); // it must not be what takes the last byte
      }
      throw e;
    }
  }
}
