// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Bytes that the shards of a node hold outside the heap, by part, and the limit above which writes
 * are refused before they are logged. Safe for any thread; the figures of several parts are not one
 * instant.
 */
public final class MemoryBudget {
  /** What memory is held for. */
  public enum Part {
    /** Rows of growing and frozen segments, with their id indexes and lives. */
    GROWING,
    /** Files mapped by flushed segments; page cache, given back under pressure. */
    MAPPED,
    /** Lives of flushed segments. */
    LIVES,
    /** Codes and links of graphs, in memory or mapped. */
    INDEXES
  }

  private final AtomicLongArray bytes = new AtomicLongArray(Part.values().length);
  private final long growingBytesMax;

  /**
   * A budget.
   *
   * @param growingBytesMax limit of {@link Part#GROWING} above which {@link #admits} says no
   */
  public MemoryBudget(long growingBytesMax) {
    if (growingBytesMax < 1) {
      throw new IllegalArgumentException("growingBytesMax " + growingBytesMax + " is below 1");
    }
    this.growingBytesMax = growingBytesMax;
  }

  public long growingBytesMax() {
    return growingBytesMax;
  }

  public long bytes(Part part) {
    return bytes.get(part.ordinal());
  }

  /** Adds to a part; negative gives back. */
  public void add(Part part, long delta) {
    bytes.addAndGet(part.ordinal(), delta);
  }

  /** Whether a write of this many bytes fits under the limit of growing memory. */
  public boolean admits(long writeBytes) {
    return bytes(Part.GROWING) + writeBytes <= growingBytesMax;
  }
}
