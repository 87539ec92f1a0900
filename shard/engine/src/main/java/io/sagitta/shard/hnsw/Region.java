// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.shard.distance.HugePages;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** One stretch of native memory, its own or a file's. */
final class Region extends Counted {
  /** An address of its own even where it is empty. */
  private static final int BYTES_MIN = 64;

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
    return new Region(HugePages.allocate(Math.max(bytes, BYTES_MIN), arena), arena::close);
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
