// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * One shared area of set bits that serves as the validity of every column without nulls. Arrow
 * would allocate one for each: a bit a component, an eighth of an int8 vector.
 */
final class AllSet {
  private static final long BYTES_MIN = 1 << 16;

  /** Grows by doubling and is never freed: views of earlier, smaller areas may still be in use. */
  private static volatile MemorySegment area = allocate(BYTES_MIN);

  private AllSet() {}

  /** A validity buffer for {@code count} values, none of them null; never written to. */
  static ArrowBuf validity(long count, BufferAllocator allocator) {
    long bytes = (count + Byte.SIZE - 1) / Byte.SIZE;
    return new BorrowedMemory(allocator, bytes, () -> {}).buffer(atLeast(bytes).address(), bytes);
  }

  private static MemorySegment atLeast(long bytes) {
    MemorySegment current = area;
    return current.byteSize() >= bytes ? current : grow(bytes);
  }

  private static synchronized MemorySegment grow(long bytes) {
    if (area.byteSize() < bytes) {
      area = allocate(Long.highestOneBit(bytes - 1) << 1);
    }
    return area;
  }

  private static MemorySegment allocate(long bytes) {
    return Arena.global().allocate(bytes, 64).fill((byte) 0xff);
  }
}
