// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

/**
 * Sums over codes, in integers, hence the same from every implementation; one for each register
 * width, chosen with {@link RowKernels} and written out for the reasons given there.
 *
 * <p>Products meet in 16-bit lanes: short {@code s} of a row's 64-byte block times the query's four
 * planes goes to lane {@code s} of 32, whatever the width; narrow registers keep several. {@link
 * QueryPlanes} sees to it that no lane overflows within a chunk. Shorts, because C2 has no route
 * from the Vector API to the byte dot products of newer processors, and none of its own for integer
 * dot products; wider lanes halve what a register does.
 */
abstract class CodeKernels {
  /** Blocks after which the lanes are added up in 32 bits. */
  static final int CHUNK_BLOCKS = 4;

  /**
   * For each row {@code ordinals[i]}, at {@code base + ordinals[i] * stride}, the sum over all
   * components of nibble times query, to {@code out[i]}.
   */
  abstract void products(
      long base, long stride, int[] ordinals, int count, short[] planes, int blocks, int[] out);

  /** Likewise the number of bits in which row and query differ. */
  abstract void differing(
      long base, long stride, int[] ordinals, int count, long[] bits, int[] out);

  /**
   * The Walsh-Hadamard transform of {@code values[at..at + width)}, in place and not scaled: sums
   * and differences of neighbours, then of pairs, of fours and so on. The same bits from all.
   *
   * @param width a power of two
   */
  void hadamard(float[] values, int at, int width) {
    for (int half = 1; half < width; half *= 2) {
      for (int pair = at; pair < at + width; pair += 2 * half) {
        for (int i = pair; i < pair + half; i++) {
          float first = values[i];
          float second = values[i + half];
          values[i] = first + second;
          values[i + half] = first - second;
        }
      }
    }
  }

  /**
   * Sums table entries of 32 vectors, codes as {@link ScanTable} lays them, and sets a bit for each
   * sum from {@code threshold} on.
   *
   * @param entries 16 a run, each from 0 to {@link ScanTable#ENTRY_MAX}
   */
  abstract int sumsAtLeast(long groups, byte[] entries, int runs, short threshold);

  /** A row's 8-bit codes less 128 as planes, where {@code keep} is all ones; elsewhere zero. */
  abstract void unpack(long high, long low, short[] keep, short[] planes, int blocks);
}
