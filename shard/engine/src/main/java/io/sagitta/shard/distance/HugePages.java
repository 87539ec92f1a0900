// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the system for pages of 2 MiB. A walk over a graph reads a line here and a line there of a
 * hundred megabytes, more than the processor remembers translations for in pages of 4 KiB. Only
 * advice: where it is not taken nothing is different but the time.
 */
public final class HugePages {
  /** Of a huge page on x86 and mostly on ARM; what is shorter gains nothing. */
  public static final long SIZE = 2 << 20;

  private static final int MADV_HUGEPAGE = 14;

  /** Since Linux 6.1: now, not when a kernel thread comes by. */
  private static final int MADV_COLLAPSE = 25;

  private static final Logger log = LoggerFactory.getLogger(HugePages.class);

  private static final MethodHandle MADVISE = madvise();

  private HugePages() {}

  private static MethodHandle madvise() {
    if (!System.getProperty("os.name").equals("Linux")) {
      return null;
    }
    Linker linker = Linker.nativeLinker();
    Optional<MemorySegment> symbol = linker.defaultLookup().find("madvise");
    return symbol
        .map(
            address ->
                linker.downcallHandle(
                    address,
                    FunctionDescriptor.of(
                        ValueLayout.JAVA_INT,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_INT)))
        .orElse(null);
  }

  /** From here on allocated memory starts on, and where the system has them consists of, them. */
  private static final long ALLOCATED_MIN = 4 * SIZE;

  /** What is shorter starts on a cache line. */
  private static final long LINE_BYTES = 64;

  /** Zeroed native memory, in huge pages where it is large. */
  public static MemorySegment allocate(long bytes, Arena arena) {
    boolean huge = bytes >= ALLOCATED_MIN;
    MemorySegment memory = arena.allocate(bytes, huge ? SIZE : LINE_BYTES);
    if (huge) {
      advise(memory);
    }
    return memory;
  }

  /**
   * Advises on all whole huge pages within some anonymous memory; the rest stays as it is.
   *
   * @return whether the system took the advice
   */
  public static boolean advise(MemorySegment memory) {
    long from = (memory.address() + SIZE - 1) / SIZE * SIZE;
    long to = (memory.address() + memory.byteSize()) / SIZE * SIZE;
    if (MADVISE == null || to <= from) {
      return false;
    }
    return advise(from, to, MADV_HUGEPAGE) & advise(from, to, MADV_COLLAPSE);
  }

  private static boolean advise(long from, long to, int advice) {
    try {
      return (int) MADVISE.invokeExact(MemorySegment.ofAddress(from), to - from, advice) == 0;
    } catch (Throwable e) {
      log.warn("madvise could not be called; going on with small pages", e);
      return false;
    }
  }
}
