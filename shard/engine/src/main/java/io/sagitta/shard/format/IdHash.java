// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import static io.sagitta.shard.format.FrameLayout.INT;
import static io.sagitta.shard.format.FrameLayout.LONG;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.HashSlot;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * From id to row in a flushed segment: an open-addressing table in the file {@code .ids}, at most
 * two thirds full. An entry holds 32 bits of the hash, so that a row is looked at nearly only where
 * it matches, and the newest ordinal with the id; older ones hang on it by a chain. The hash's top
 * 12 bits choose the shard and are the same for many ids here: neither the place nor the entry uses
 * them.
 */
final class IdHash {
  private static final int FRAGMENT_SHIFT = 20;

  private final String file;
  private final IdRows ids;
  private final int rows;
  private final MemorySegment table;
  private final MemorySegment previous;

  /** A table read from a file; {@code previous} is null where no id has several rows. */
  IdHash(String file, IdRows ids, int rows, MemorySegment table, MemorySegment previous) {
    this.file = file;
    this.ids = ids;
    this.rows = rows;
    this.table = table;
    this.previous = previous;
  }

  /** Bytes of the table for this many rows. */
  static long tableBytes(int rows) {
    long capacity = 1;
    while (2 * capacity < 3L * rows) {
      capacity *= 2;
    }
    return capacity * Long.BYTES;
  }

  /** Builds the table of all rows in ordinal order; the arena keeps it. */
  static IdHash build(IdRows ids, int rows, Arena arena) {
    MemorySegment table = arena.allocate(tableBytes(rows), FrameLayout.SECTION_ALIGNMENT);
    MemorySegment previous = arena.allocate(Math.max(4L, 4L * rows), Integer.BYTES);
    IdHash building = new IdHash("", ids, rows, table, previous);
    byte[] id = new byte[PointId.UTF8_BYTES_MAX];
    boolean duplicates = false;
    for (int ordinal = 0; ordinal < rows; ordinal++) {
      int length = ids.canonical(ordinal, id);
      long hash = HashSlot.hash(id, 0, length);
      long at = building.seek(hash, id, length);
      int before = building.ordinalAt(at);
      duplicates |= before >= 0;
      previous.set(INT, 4L * ordinal, before);
      table.set(LONG, at, entry(hash, ordinal));
    }
    return duplicates ? building : new IdHash("", ids, rows, table, null);
  }

  MemorySegment table() {
    return table;
  }

  /** The chains, or null where every id has one row. */
  MemorySegment previousOrNull() {
    return previous;
  }

  /** The newest row with the id of these canonical bytes, whose hash is given, or -1. */
  int find(long hash, byte[] canonical, int length) {
    return ordinalAt(seek(hash, canonical, length));
  }

  /** The row before this one with the same id, or -1. */
  int previous(int ordinal) {
    if (previous == null) {
      return -1;
    }
    int before = previous.get(INT, 4L * ordinal);
    if (before < -1 || before >= ordinal) {
      throw corrupt("row before row " + ordinal + " is " + before);
    }
    return before;
  }

  /** Place of the entry of an id, or of the empty one where it belongs. */
  private long seek(long hash, byte[] canonical, int length) {
    long mask = table.byteSize() / Long.BYTES - 1;
    long at = hash & mask;
    int fragment = (int) (hash >>> FRAGMENT_SHIFT);
    for (long probes = 0; probes <= mask; probes++) {
      long entry = table.get(LONG, at * Long.BYTES);
      if (entry == 0
          || ((int) (entry >>> Integer.SIZE) == fragment
              && ids.matches(ordinal(entry), canonical, length))) {
        return at * Long.BYTES;
      }
      at = (at + 1) & mask;
    }
    throw corrupt("table has no free place");
  }

  private int ordinalAt(long place) {
    long entry = table.get(LONG, place);
    return entry == 0 ? -1 : ordinal(entry);
  }

  private int ordinal(long entry) {
    int ordinal = (int) entry - 1;
    if (ordinal < 0 || ordinal >= rows) {
      throw corrupt("table holds row " + ordinal + " of " + rows);
    }
    return ordinal;
  }

  private static long entry(long hash, int ordinal) {
    return (hash >>> FRAGMENT_SHIFT) << Integer.SIZE | (ordinal + 1L);
  }

  private SagittaException corrupt(String what) {
    return new SagittaException(ErrorCode.CORRUPT, "file " + file + " is corrupt: " + what);
  }
}
