// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.UUID;

/** Which rows of a segment live at a checkpoint, one bit each. */
public final class LivesFile {
  private static final int BITS = 1;

  private LivesFile() {}

  /**
   * Writes the file; its bytes are durable on return, its name once a manifest names it.
   *
   * @param logIndex position of the checkpoint; part of the name
   * @param alive bit of row r is {@code alive[r >> 6] >> r}; none is set at or beyond {@code rows}
   */
  public static CheckpointFile write(
      FileStore store, UUID segmentId, long logIndex, long[] alive, int rows) throws IOException {
    if (alive.length != words(rows) || hasBitsBeyond(alive, rows)) {
      throw new IllegalArgumentException(alive.length + " words for " + rows + " rows");
    }
    return NewFile.write(
        store,
        ShardFiles.lives(segmentId, logIndex),
        new FrameHeader(FileKind.LIVES, segmentId, logIndex, rows),
        out -> {
          out.section(BITS);
          for (long word : alive) {
            out.writeLong(word);
          }
        });
  }

  /** The bits of a file that {@link #write} wrote for these rows of this segment. */
  public static long[] read(FileStore store, UUID segmentId, long logIndex, int rows)
      throws IOException {
    String name = ShardFiles.lives(segmentId, logIndex);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bits =
          Frame.map(store, name, arena)
              .expect(new FrameHeader(FileKind.LIVES, segmentId, logIndex, rows))
              .verify()
              .section(BITS, (long) words(rows) * Long.BYTES);
      long[] alive = bits.toArray(FrameLayout.LONG);
      if (hasBitsBeyond(alive, rows)) {
        throw new CorruptFileException(
            name, FrameLayout.HEADER_BYTES, "bits are set beyond row " + rows);
      }
      return alive;
    }
  }

  private static int words(int rows) {
    return (int) ((rows + 63L) >> 6);
  }

  private static boolean hasBitsBeyond(long[] bits, int rows) {
    return (rows & 63) != 0 && (bits[bits.length - 1] & -1L << rows) != 0;
  }
}
