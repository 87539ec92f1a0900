// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import java.util.Arrays;

/**
 * The rows of a batch that count where an id occurs more than once: the last one of each id wins,
 * those before it are never sent to a shard. After that no two rows of a batch touch the same
 * point, so its pieces may be applied in any order; and the ids stay findable by hash, so that a
 * later batch of the same stream can be told to wait when it touches one of them.
 */
public final class LastRows {
  private static final int FREE = -1;

  private final long[] hashes;
  private final int[] table;
  private final int[] rows;

  private LastRows(long[] hashes, int[] table, int[] rows) {
    this.hashes = hashes;
    this.table = table;
    this.rows = rows;
  }

  /** Finds the last row of each id. */
  public static LastRows of(IdKeys ids, int count) {
    long[] hashes = ids.hashes(count);
    int[] table = new int[Integer.highestOneBit(Math.max(1, count)) << 2];
    Arrays.fill(table, FREE);
    int[] kept = new int[count];
    int first = count;
    for (int row = count - 1; row >= 0; row--) {
      if (insert(ids, hashes, table, row)) {
        kept[--first] = row;
      }
    }
    return new LastRows(hashes, table, Arrays.copyOfRange(kept, first, count));
  }

  /** The rows that count, in order. */
  public int[] rows() {
    return rows.clone();
  }

  /** How many rows a later one of the same id replaced. */
  public int superseded() {
    return hashes.length - rows.length;
  }

  /** Slot hash of a row's id. */
  public long hash(int row) {
    return hashes[row];
  }

  /**
   * Whether the other batch may hold an id of this one. Never false when it does; true for
   * different ids of equal 64-bit hash.
   */
  public boolean mayShareIds(LastRows other) {
    if (other.rows.length < rows.length) {
      return other.mayShareIds(this);
    }
    for (int row : rows) {
      if (other.contains(hashes[row])) {
        return true;
      }
    }
    return false;
  }

  private boolean contains(long hash) {
    int mask = table.length - 1;
    for (int at = place(hash, mask); table[at] != FREE; at = (at + 1) & mask) {
      if (hashes[table[at]] == hash) {
        return true;
      }
    }
    return false;
  }

  private static boolean insert(IdKeys ids, long[] hashes, int[] table, int row) {
    int mask = table.length - 1;
    int at = place(hashes[row], mask);
    for (; table[at] != FREE; at = (at + 1) & mask) {
      int other = table[at];
      if (hashes[other] == hashes[row] && ids.compare(other, ids, row) == 0) {
        return false;
      }
    }
    table[at] = row;
    return true;
  }

  /** The low bits: the high ones, the slot, are alike for all rows of a shard. */
  private static int place(long hash, int mask) {
    return (int) hash & mask;
  }
}
