// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.apache.arrow.memory.ArrowBuf;

/**
 * Memory outside the heap as {@link MemorySegment}s. It is allocated by Arrow, so that it is
 * counted and given back explicitly; a segment here is valid while the buffer it came from is.
 */
final class OffHeap {
  /** Access to aligned longs that one thread writes while others read. */
  static final VarHandle LONGS = ValueLayout.JAVA_LONG.varHandle();

  private OffHeap() {}

  /** All bytes of a buffer. */
  static MemorySegment segment(ArrowBuf buffer) {
    return MemorySegment.ofAddress(buffer.memoryAddress()).reinterpret(buffer.capacity());
  }
}
