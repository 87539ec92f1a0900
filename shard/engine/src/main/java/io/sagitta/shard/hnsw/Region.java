// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.shard.distance.HugePages;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** One stretch of native memory, its own or a file's. */
final class Region extends Counted {
  /** Rows start on cache lines. */
  private static final int ALIGNMENT = 64;

  /** From here on memory starts on, and where the system has them consists of, huge pages. */
  private static final long HUGE_MIN = 4 * HugePages.SIZE;

  private final MemorySegment memory;
  private final Runnable onFree;

  private Region(MemorySegment memory, Runnable onFree) {
    this.memory = memory;
    this.onFree = onFree;
  }

  /** Zeroed memory. */
  @SuppressWarnings("MustBeClosedChecker") // free() closes it
  static Region allocate(long bytes) {
    Arena arena = Arena.ofShared();
    boolean huge = bytes >= HUGE_MIN;
    MemorySegment memory =
        arena.allocate(Math.max(bytes, ALIGNMENT), huge ? HugePages.SIZE : ALIGNMENT);
    if (huge) {
      HugePages.advise(memory);
    }
    return new Region(memory, arena::close);
  }

  /** Somebody else's memory. */
  static Region borrow(MemorySegment memory) {
    return new Region(memory, () -> {});
  }

  MemorySegment memory() {
    return memory;
  }

  long address() {
    return memory.address();
  }

  long bytes() {
    return memory.byteSize();
  }

  @Override
  void free() {
    onFree.run();
  }
}
