// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.DamageException;
import io.sagitta.raft.LogPosition;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * The furthest log position that a group is known to have committed and fsynced here, in a file of
 * its own. Ratis takes a truncated or zeroed tail of its log for "never committed" and would vote
 * and lead with it; at start the log must therefore reach this mark.
 *
 * <p>Only committed positions are marked, since an uncommitted tail may rightly be truncated. The
 * file has two slots of {@value #SLOT_BYTES} bytes that are overwritten in turn, so that a torn
 * write leaves the older mark: magic, version, sequence, term, index, checksum, all big-endian.
 */
final class HighWaterMark {
  static final int SLOT_BYTES = 64;
  private static final int MAGIC = 0x53474d4b; // "SGMK"
  private static final int VERSION = 1;
  private static final int BODY_BYTES = 4 + 4 + 8 + 8 + 8;

  private final Path file;
  private long sequence;
  private LogPosition position;

  private HighWaterMark(Path file, long sequence, LogPosition position) {
    this.file = file;
    this.sequence = sequence;
    this.position = position;
  }

  /** Creates the file, durably, with no position. */
  static HighWaterMark create(Path file, DirectoryFsync fsync) throws IOException {
    HighWaterMark mark = new HighWaterMark(file, 0, LogPosition.NONE);
    ByteBuffer slot = mark.slot(0, LogPosition.NONE);
    ByteBuffer both = ByteBuffer.allocate(2 * SLOT_BYTES).put(slot).rewind();
    DurableFile.replace(file, both, fsync);
    return mark;
  }

  static HighWaterMark read(Path file) throws IOException {
    if (!Files.exists(file)) {
      throw new DamageException("high-water mark missing: " + file);
    }
    ByteBuffer both = ByteBuffer.wrap(Files.readAllBytes(file));
    HighWaterMark best = null;
    for (int i = 0; i < 2 && both.limit() >= (i + 1) * SLOT_BYTES; i++) {
      HighWaterMark found = parse(file, both.slice(i * SLOT_BYTES, SLOT_BYTES));
      if (found != null && (best == null || found.sequence > best.sequence)) {
        best = found;
      }
    }
    if (best == null) {
      throw new DamageException(
          "high-water mark damaged: "
              + file
              + " has no valid slot in its "
              + both.limit()
              + " bytes");
    }
    return best;
  }

  synchronized LogPosition position() {
    return position;
  }

  /** Moves the mark forward; durable on return. Does nothing for a position that is not ahead. */
  synchronized void advance(LogPosition to) throws IOException {
    if (to.compareTo(position) <= 0) {
      return;
    }
    long next = sequence + 1;
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      ByteBuffer slot = slot(next, to);
      long offset = (next % 2) * SLOT_BYTES;
      while (slot.hasRemaining()) {
        offset += channel.write(slot, offset);
      }
      channel.force(false);
    }
    sequence = next;
    position = to;
  }

  private ByteBuffer slot(long slotSequence, LogPosition at) {
    ByteBuffer slot = ByteBuffer.allocate(SLOT_BYTES);
    slot.putInt(MAGIC).putInt(VERSION).putLong(slotSequence);
    slot.putLong(at.term()).putLong(at.index());
    slot.putInt(checksum(slot));
    return slot.rewind();
  }

  private static HighWaterMark parse(Path file, ByteBuffer slot) {
    if (slot.getInt() != MAGIC || slot.getInt() != VERSION) {
      return null;
    }
    long sequence = slot.getLong();
    LogPosition at = new LogPosition(slot.getLong(), slot.getLong());
    return slot.getInt() == checksum(slot) ? new HighWaterMark(file, sequence, at) : null;
  }

  private static int checksum(ByteBuffer slot) {
    CRC32C crc = new CRC32C();
    crc.update(slot.slice(0, BODY_BYTES));
    return (int) crc.getValue();
  }
}
