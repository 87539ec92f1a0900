// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import java.util.function.IntConsumer;

/** Bitmaps of a segment's rows: row r is bit {@code r & 63} of word {@code r >> 6}. */
final class Bits {
  private Bits() {}

  static int count(long[] bits) {
    int count = 0;
    for (long word : bits) {
      count += Long.bitCount(word);
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

  /** Calls with every row that is set, in order. */
  static void forEach(long[] bits, IntConsumer row) {
    for (int word = 0; word < bits.length; word++) {
      for (long set = bits[word]; set != 0; set &= set - 1) {
        row.accept((word << 6) + Long.numberOfTrailingZeros(set));
      }
    }
  }
}
