// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import java.lang.foreign.MemorySegment;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * From id to the last row with it, for a segment that still grows: open addressing outside the
 * heap, eight bytes an entry, at most two thirds full. An entry holds 32 bits of the id's hash and
 * the row; whoever looks up verifies the id where it lies, and finds earlier rows with it through
 * the chain that the segment keeps.
 *
 * <p>One thread writes, with one release store an entry, while others read with acquire loads: what
 * was written before the entry (the row, its id, its chain) is seen with it. A table that is full
 * is copied into a larger one; readers of older values keep the old one, which is complete for
 * them.
 */
final class IdTable implements Leases.Closing {
  /** What {@link #start} and {@link #next} give after the last candidate. */
  static final long END = -1;

  private static final long EMPTY = 0;
  private static final int CAPACITY_MIN = 1 << 6;

  private final ArrowBuf buffer;
  private final MemorySegment slots;
  private final int mask;
  private int entries;

  private IdTable(BufferAllocator allocator, int capacity) {
    buffer = allocator.buffer((long) capacity * Long.BYTES);
    slots = OffHeap.segment(buffer).asSlice(0, (long) capacity * Long.BYTES);
    slots.fill((byte) 0);
    mask = capacity - 1;
  }

  static IdTable empty(BufferAllocator allocator) {
    return new IdTable(allocator, CAPACITY_MIN);
  }

  /** Whether another entry needs {@link #grown} first. */
  boolean isFull() {
    return 3L * (entries + 1) > 2L * (mask + 1);
  }

  /** A copy of twice the size; this table stays as it is for those who read it. */
  IdTable grown(BufferAllocator allocator) {
    if (mask + 1 > 1 << 29) {
      throw new IllegalStateException("the id table of one segment cannot grow any more");
    }
    IdTable larger = new IdTable(allocator, (mask + 1) * 2);
    for (long at = 0; at <= mask; at++) {
      long entry = (long) OffHeap.LONGS.get(slots, at * Long.BYTES);
      if (entry != EMPTY) {
        larger.insert(entry);
      }
    }
    return larger;
  }

  /**
   * A cursor over the entries whose 32 bits match; END when there is none. {@link #row} tells a
   * cursor's row.
   */
  long start(long hash) {
    return seek((int) hash, (int) hash & mask);
  }

  /** The cursor after the given one. */
  long next(long hash, long cursor) {
    return seek((int) hash, ((int) cursor + 1) & mask);
  }

  /** Row at a cursor. */
  int row(long cursor) {
    return (int) (long) OffHeap.LONGS.getAcquire(slots, cursor * Long.BYTES) - 1;
  }

  /** Adds an id that is not in the table. */
  void add(long hash, int row) {
    insert(entry((int) hash, row));
  }

  /** Makes a later row the last one of the id at a cursor. */
  void replace(long cursor, long hash, int row) {
    OffHeap.LONGS.setRelease(slots, cursor * Long.BYTES, entry((int) hash, row));
  }

  private void insert(long entry) {
    int at = (int) (entry >>> 32) & mask;
    while ((long) OffHeap.LONGS.get(slots, (long) at * Long.BYTES) != EMPTY) {
      at = (at + 1) & mask;
    }
    OffHeap.LONGS.setRelease(slots, (long) at * Long.BYTES, entry);
    entries++;
  }

  private long seek(int bits, int at) {
    while (true) {
      long entry = (long) OffHeap.LONGS.getAcquire(slots, (long) at * Long.BYTES);
      if (entry == EMPTY) {
        return END;
      }
      if ((int) (entry >>> 32) == bits) {
        return at;
      }
      at = (at + 1) & mask;
    }
  }

  /** Rows count from 1 in entries, so that none is {@link #EMPTY}. */
  private static long entry(int bits, int row) {
    return ((long) bits << 32) | (row + 1);
  }

  @Override
  public void close() {
    buffer.close();
  }
}
