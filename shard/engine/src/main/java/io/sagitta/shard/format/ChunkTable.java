// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import static io.sagitta.shard.format.FrameLayout.INT;
import static io.sagitta.shard.format.FrameLayout.LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Where the Arrow messages of a file lie and which rows each holds. */
final class ChunkTable {
  private static final int ENTRY_BYTES = 24;

  /**
   * One message.
   *
   * @param offset in the section of messages
   * @param length bytes
   * @param firstOrdinal ordinal of its first row
   * @param rows its rows, at least one
   */
  record Entry(long offset, long length, int firstOrdinal, int rows) {}

  private ChunkTable() {}

  static void write(FrameWriter out, int section, List<Entry> entries) throws IOException {
    out.section(section);
    for (Entry entry : entries) {
      out.writeLong(entry.offset);
      out.writeLong(entry.length);
      out.writeInt(entry.firstOrdinal);
      out.writeInt(entry.rows);
    }
  }

  /** The chunks of a file, checked: they lie in the messages and hold all rows once, in order. */
  static List<Entry> read(Frame frame, int section, MemorySegment messages, int rows)
      throws IOException {
    MemorySegment table = frame.section(section);
    List<Entry> entries = new ArrayList<>();
    long end = 0;
    int next = 0;
    for (long at = 0; at + ENTRY_BYTES <= table.byteSize(); at += ENTRY_BYTES) {
      Entry entry =
          new Entry(
              table.get(LONG, at),
              table.get(LONG, at + 8),
              table.get(INT, at + 16),
              table.get(INT, at + 20));
      if (entry.offset < end
          || entry.offset % FrameLayout.SECTION_ALIGNMENT != 0
          || entry.length < 0
          || entry.length > messages.byteSize() - entry.offset
          || entry.length > Integer.MAX_VALUE
          || entry.firstOrdinal != next
          || entry.rows < 1
          || entry.rows > rows - next) {
        throw invalid(frame, entry + " does not follow row " + next + " of " + rows);
      }
      entries.add(entry);
      end = entry.offset + entry.length;
      next += entry.rows;
    }
    if (table.byteSize() % ENTRY_BYTES != 0 || next != rows) {
      throw invalid(frame, "chunks hold " + next + " rows, expected " + rows);
    }
    return entries;
  }

  private static CorruptFileException invalid(Frame frame, String what) {
    return new CorruptFileException(frame.name(), FrameLayout.HEADER_BYTES, what);
  }
}
