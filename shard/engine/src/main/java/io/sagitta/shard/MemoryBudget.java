// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Bytes that the shards of a node hold outside the heap, by part, and the two limits above which
 * writes are refused before they are logged: of rows not yet flushed, and of what searches keep
 * <i>resident</i>, which is vectors, codes and links in memory of the node's own. Resident memory
 * is asked for before it is taken ({@link #tryAdd}), so its limit holds whatever happens; who gets
 * none reads the file through a mapping, or scans.
 *
 * <p>Safe for any thread; the figures of several parts are not one instant.
 */
public final class MemoryBudget {
  /** What memory is held for. */
  public enum Part {
    /** Rows of growing and frozen segments, with their id indexes and lives. */
    GROWING(false),
    /** Lives of flushed segments. */
    LIVES(false),
    /** Full vectors of fields that are kept in memory. */
    VECTORS(true),
    /** Codes of graphs. */
    CODES(true),
    /** Links of graphs. */
    LINKS(true),
    /** Full vectors of fields that are mapped: page cache, given back under pressure. */
    VECTORS_MAPPED(false),
    /** Other files mapped by flushed segments: ids, payload, versions. */
    COLUMNS_MAPPED(false),
    /** Vectors and graphs that should be resident and are mapped, since there was no room. */
    DISPLACED(false),
    /** What will be resident of rows applied already, once they are flushed and in graphs. */
    OWED(false);

    private final boolean resident;

    Part(boolean resident) {
      this.resident = resident;
    }
  }

  private final AtomicLongArray bytes = new AtomicLongArray(Part.values().length);
  private final AtomicLong resident = new AtomicLong();
  private final long growingBytesMax;
  private final long residentBytesMax;

  /** A budget that bounds rows not yet flushed alone. */
  public MemoryBudget(long growingBytesMax) {
    this(growingBytesMax, Long.MAX_VALUE);
  }

  /**
   * A budget.
   *
   * @param growingBytesMax limit of {@link Part#GROWING} above which {@link #admits} says no
   * @param residentBytesMax limit of {@link Part#VECTORS}, {@link Part#CODES} and {@link
   *     Part#LINKS} together
   */
  public MemoryBudget(long growingBytesMax, long residentBytesMax) {
    if (growingBytesMax < 1 || residentBytesMax < 0) {
      throw new IllegalArgumentException(
          "growingBytesMax " + growingBytesMax + ", residentBytesMax " + residentBytesMax);
    }
    this.growingBytesMax = growingBytesMax;
    this.residentBytesMax = residentBytesMax;
  }

  public long growingBytesMax() {
    return growingBytesMax;
  }

  public long residentBytesMax() {
    return residentBytesMax;
  }

  public long bytes(Part part) {
    return bytes.get(part.ordinal());
  }

  /** Vectors, codes and links in memory. */
  public long residentBytes() {
    return resident.get();
  }

  /** Adds to a part, whatever its limit; negative gives back. */
  public void add(Part part, long delta) {
    if (part.resident) {
      resident.addAndGet(delta);
    }
    bytes.addAndGet(part.ordinal(), delta);
  }

  /** Adds to a resident part unless that would exceed the limit: then false. */
  public boolean tryAdd(Part part, long delta) {
    if (!part.resident) {
      throw new IllegalArgumentException(part + " has no limit to keep");
    }
    long before = resident.get();
    while (fits(before, delta)) {
      long seen = resident.compareAndExchange(before, before + delta);
      if (seen == before) {
        bytes.addAndGet(part.ordinal(), delta);
        return true;
      }
      before = seen;
    }
    return false;
  }

  /** Whether so many bytes more could be resident now. */
  public boolean hasRoom(long delta) {
    return fits(resident.get(), delta);
  }

  private boolean fits(long held, long delta) {
    return delta <= residentBytesMax - held;
  }

  /** Whether a write of this many bytes fits under the limit of growing memory. */
  public boolean admits(long writeBytes) {
    return bytes(Part.GROWING) + writeBytes <= growingBytesMax;
  }

  /** Whether what a write of this many bytes may add to resident memory will find room there. */
  public boolean admitsResident(long writeBytes) {
    return fits(resident.get(), bytes(Part.OWED) + writeBytes);
  }
}
