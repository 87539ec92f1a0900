// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * At which log index each row of a segment died. A row that has not died costs nothing until a
 * neighbour does: pages are allocated at their first death. Shared by the stages of one segment,
 * since rows keep their ordinals.
 *
 * <p>Only apply writes, one opaque store a death, while readers read. A reader at index v asks
 * whether a row died at or before v: deaths up to v were written before v was published, so it sees
 * them; later ones change nothing for it whether it sees them or not.
 */
public final class Lives implements Leases.Closing {
  private static final int PAGE_BITS = 12;
  private static final int PAGE_ROWS = 1 << PAGE_BITS;
  private static final int PAGE_MASK = PAGE_ROWS - 1;
  private static final long ALIVE = Long.MAX_VALUE;

  /** Before every log index: what is restored as dead was so before this replica's view began. */
  private static final long LONG_DEAD = Long.MIN_VALUE;

  private final BufferAllocator allocator;
  private final List<ArrowBuf> buffers = new ArrayList<>();
  // Replaced, never changed, when a page is added; null stands for a page without deaths.
  private volatile MemorySegment[] pages = {};
  private int dead;

  public Lives(BufferAllocator allocator) {
    this.allocator = allocator;
  }

  /** Ends a row's life. Apply thread only; a row dies once. */
  public void die(int row, long index) {
    MemorySegment page = writablePage(row >> PAGE_BITS);
    long at = (long) (row & PAGE_MASK) * Long.BYTES;
    assert (long) OffHeap.LONGS.getOpaque(page, at) == ALIVE : "row " + row + " died before";
    OffHeap.LONGS.setOpaque(page, at, index);
    dead++;
  }

  /** Marks the rows whose bits are not set as dead, when a checkpoint is opened. */
  public void restore(long[] alive, int rows) {
    for (int row = 0; row < rows; row++) {
      if ((alive[row >> 6] & (1L << row)) == 0) {
        restoreDead(row);
      }
    }
  }

  /** Marks a row as dead since before any view there is. */
  public void restoreDead(int row) {
    die(row, LONG_DEAD);
  }

  /** Whether a row had not died at a log index. */
  public boolean isAlive(int row, long index) {
    MemorySegment[] now = pages;
    int page = row >> PAGE_BITS;
    return page >= now.length
        || now[page] == null
        || (long) OffHeap.LONGS.getOpaque(now[page], (long) (row & PAGE_MASK) * Long.BYTES) > index;
  }

  /** Rows that have died so far. For the writer, or whoever holds the shard's lock. */
  public int dead() {
    return dead;
  }

  /** One bit for each of the first {@code rows} rows: set where it had not died at the index. */
  public long[] alive(int rows, long index) {
    long[] bits = new long[(rows + 63) >> 6];
    MemorySegment[] now = pages;
    for (int from = 0; from < rows; from += PAGE_ROWS) {
      int to = Math.min(rows, from + PAGE_ROWS);
      int page = from >> PAGE_BITS;
      if (page >= now.length || now[page] == null) {
        setBits(bits, from, to);
      } else {
        for (int row = from; row < to; row++) {
          long died =
              (long) OffHeap.LONGS.getOpaque(now[page], (long) (row & PAGE_MASK) * Long.BYTES);
          if (died > index) {
            bits[row >> 6] |= 1L << row;
          }
        }
      }
    }
    return bits;
  }

  private MemorySegment writablePage(int page) {
    MemorySegment[] now = pages;
    if (page < now.length && now[page] != null) {
      return now[page];
    }
    ArrowBuf buffer = allocator.buffer((long) PAGE_ROWS * Long.BYTES);
    buffers.add(buffer);
    MemorySegment fresh = OffHeap.segment(buffer);
    for (int i = 0; i < PAGE_ROWS; i++) {
      fresh.setAtIndex(ValueLayout.JAVA_LONG, i, ALIVE);
    }
    MemorySegment[] more = Arrays.copyOf(now, Math.max(now.length, page + 1));
    more[page] = fresh;
    pages = more;
    return fresh;
  }

  private static void setBits(long[] bits, int from, int to) {
    // Pages begin at whole words; only the last word of the last page may be cut.
    Arrays.fill(bits, from >> 6, to >> 6, -1L);
    if ((to & 63) != 0) {
      bits[to >> 6] = (1L << to) - 1;
    }
  }

  @Override
  public void close() {
    buffers.forEach(ArrowBuf::close);
    buffers.clear();
  }
}
