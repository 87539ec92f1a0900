// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import java.util.function.IntConsumer;

/** Bitmaps of a segment's rows: row r is bit {@code r & 63} of word {@code r >> 6}. */
final class Bits {
  private Bits() {}

  static int count(long[] bits) {
    return count(bits, bits.length << 6);
  }

  /** Of the first {@code rows} rows. */
  static int count(long[] bits, int rows) {
    int count = 0;
    for (int word = 0; word < rows >> 6; word++) {
      count += Long.bitCount(bits[word]);
    }
    if ((rows & 63) != 0) {
      count += Long.bitCount(bits[rows >> 6] & (1L << rows) - 1);
    }
    return count;
  }

  /** Clears rows {@code [from, to)}. */
  static void clear(long[] bits, int from, int to) {
    for (int row = from; row < to; ) {
      if ((row & 63) == 0 && row + 64 <= to) {
        bits[row >> 6] = 0;
        row += 64;
      } else {
        bits[row >> 6] &= ~(1L << row);
        row++;
      }
    }
  }

  /** The first row of {@code [from, to)} that is set; {@code to} where none is. */
  static int next(long[] bits, int from, int to) {
    for (int row = from; row < to; row = (row | 63) + 1) {
      long word = bits[row >> 6] >>> row;
      if (word != 0) {
        return Math.min(to, row + Long.numberOfTrailingZeros(word));
      }
    }
    return to;
  }

  /** Whether a row of {@code [from, to)} is set. */
  static boolean any(long[] bits, int from, int to) {
    return next(bits, from, to) < to;
  }

  /** Clears those of {@code rows} rows from {@code start} on whose bit in {@code kept} is zero. */
  static void keep(long[] bits, int start, int rows, long[] kept) {
    for (int word = 0; word << 6 < rows; word++) {
      int left = rows - (word << 6);
      long cleared = ~kept[word] & (left >= Long.SIZE ? -1L : (1L << left) - 1);
      int at = start + (word << 6);
      bits[at >> 6] &= ~(cleared << at);
      if ((at & 63) != 0 && (at >> 6) + 1 < bits.length) {
        bits[(at >> 6) + 1] &= ~(cleared >>> -at);
      }
    }
  }

  /** Calls with every row that is set, in order. */
  static void forEach(long[] bits, IntConsumer row) {
    for (int word = 0; word < bits.length; word++) {
      for (long set = bits[word]; set != 0; set &= set - 1) {
        row.accept((word << 6) + Long.numberOfTrailingZeros(set));
      }
    }
  }
}
