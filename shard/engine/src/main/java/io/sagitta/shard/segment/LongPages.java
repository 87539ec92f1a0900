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
 * A column of longs that only grows, in pages outside the heap that never move. One thread appends;
 * others read rows that were appended before the value they hold was published ({@link Leases}).
 */
final class LongPages implements Leases.Closing {
  private static final int PAGE_BITS = 12;
  private static final int PAGE_ROWS = 1 << PAGE_BITS;
  private static final int PAGE_MASK = PAGE_ROWS - 1;

  private final BufferAllocator allocator;
  private final List<ArrowBuf> buffers = new ArrayList<>();
  // Replaced, never changed, when a page is added.
  private volatile MemorySegment[] pages = {};
  private int rows;

  LongPages(BufferAllocator allocator) {
    this.allocator = allocator;
  }

  void append(long value) {
    if ((rows & PAGE_MASK) == 0 && rows >> PAGE_BITS == pages.length) {
      addPage();
    }
    pages[rows >> PAGE_BITS].setAtIndex(ValueLayout.JAVA_LONG, rows & PAGE_MASK, value);
    rows++;
  }

  long get(int row) {
    return pages[row >> PAGE_BITS].getAtIndex(ValueLayout.JAVA_LONG, row & PAGE_MASK);
  }

  private void addPage() {
    ArrowBuf buffer = allocator.buffer((long) PAGE_ROWS * Long.BYTES);
    buffers.add(buffer);
    MemorySegment[] more = Arrays.copyOf(pages, pages.length + 1);
    more[pages.length] = OffHeap.segment(buffer);
    pages = more;
  }

  @Override
  public void close() {
    buffers.forEach(ArrowBuf::close);
    buffers.clear();
  }
}
