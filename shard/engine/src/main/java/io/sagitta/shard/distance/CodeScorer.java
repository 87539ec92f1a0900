// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

/**
 * Estimates distances from codes: what a graph is walked by. Lower is better whatever the metric.
 * Not exact, but the same bits on every machine; allocates nothing once the query's room has grown.
 * Ordinals are not checked.
 */
public final class CodeScorer {
  static final CodeKernels KERNELS = Scorer.KERNELS.codes();

  private CodeScorer() {}

  /** Rows {@code ordinals[0..count)} by the high nibbles, to {@code out[0..count)}. */
  public static void four(
      CodeRows rows, QueryPlanes query, int[] ordinals, int count, float[] out) {
    four(KERNELS, rows, query, ordinals, count, out);
  }

  static void four(
      CodeKernels kernels,
      CodeRows rows,
      QueryPlanes query,
      int[] ordinals,
      int count,
      float[] out) {
    query.reserve(count, false);
    int[] sums = query.sums;
    kernels.products(rows.high, rows.stride, ordinals, count, query.planes, rows.blocks, sums);
    finishFour(rows, query, ordinals, count, sums, out);
  }

  private static void finishFour(
      CodeRows rows, QueryPlanes query, int[] ordinals, int count, int[] sums, float[] out) {
    long factors = rows.high + rows.factorsAt;
    long stride = rows.stride;
    float constant = query.constant;
    float ofBias = query.ofBias;
    float ofLow = query.ofLow;
    float ofStep = query.ofStep;
    for (int i = 0; i < count; i++) {
      long at = factors + ordinals[i] * stride;
      out[i] =
          constant
              + ofBias * NativeMemory.floatAt(at + 8)
              - (ofLow * NativeMemory.floatAt(at)
                  + ofStep * NativeMemory.floatAt(at + 4) * sums[i]);
    }
  }

  /** As {@link #four} by all 8 bits. */
  public static void eight(
      CodeRows rows, QueryPlanes query, int[] ordinals, int count, float[] out) {
    eight(KERNELS, rows, query, ordinals, count, out);
  }

  static void eight(
      CodeKernels kernels,
      CodeRows rows,
      QueryPlanes query,
      int[] ordinals,
      int count,
      float[] out) {
    query.reserve(count, true);
    int[] sums = query.sums;
    int[] lowSums = query.lowSums;
    kernels.products(rows.high, rows.stride, ordinals, count, query.planes, rows.blocks, sums);
    kernels.products(rows.low, rows.stride, ordinals, count, query.planes, rows.blocks, lowSums);
    finishEight(rows, query, ordinals, count, sums, lowSums, out);
  }

  private static void finishEight(
      CodeRows rows,
      QueryPlanes query,
      int[] ordinals,
      int count,
      int[] sums,
      int[] lowSums,
      float[] out) {
    long highFactors = rows.high + rows.factorsAt;
    long lowFactors = rows.low + rows.factorsAt;
    for (int i = 0; i < count; i++) {
      long at = lowFactors + ordinals[i] * rows.stride;
      int sum = 16 * sums[i] + lowSums[i];
      out[i] =
          query.constant
              + query.ofBias * NativeMemory.floatAt(highFactors + ordinals[i] * rows.stride + 8)
              - (query.ofLow * NativeMemory.floatAt(at)
                  + query.ofStep * NativeMemory.floatAt(at + 4) * sum
                  + query.ofSum * NativeMemory.floatAt(at + 8));
    }
  }

  /** Differing bits, for rows of bits. */
  public static void bits(
      CodeRows rows, QueryPlanes query, int[] ordinals, int count, float[] out) {
    bits(KERNELS, rows, query, ordinals, count, out);
  }

  static void bits(
      CodeKernels kernels,
      CodeRows rows,
      QueryPlanes query,
      int[] ordinals,
      int count,
      float[] out) {
    query.reserve(count, false);
    int[] sums = query.sums;
    kernels.differing(rows.high, rows.stride, ordinals, count, query.bits, sums);
    for (int i = 0; i < count; i++) {
      out[i] = sums[i];
    }
  }

  /**
   * Reads one int of every cache line of the rows' first region, so that the memory is on its way
   * before arithmetic asks for it. Returns something for the caller to keep, so that the reads are
   * not dropped as useless.
   *
   * <p>Without a branch but the loop's own: with a loop over the lines of each row, whose end was
   * guessed wrong now and then, a whole search at 384 components took 1.4 times as long, as long as
   * with no touching at all.
   */
  public static int touch(CodeRows rows, int[] ordinals, int count) {
    int seen = 0;
    long lines = rows.stride / CodeLayout.BLOCK_BYTES;
    for (long line = 0; line < lines; line += 4) {
      long at = rows.high + line * CodeLayout.BLOCK_BYTES;
      seen +=
          switch ((int) Math.min(4, lines - line)) {
            case 1 -> touchOne(at, rows.stride, ordinals, count);
            case 2 -> touchTwo(at, rows.stride, ordinals, count);
            case 3 -> touchThree(at, rows.stride, ordinals, count);
            default -> touchFour(at, rows.stride, ordinals, count);
          };
    }
    return seen;
  }

  private static int touchOne(long base, long stride, int[] ordinals, int count) {
    int seen = 0;
    for (int i = 0; i < count; i++) {
      seen += NativeMemory.intAt(base + ordinals[i] * stride);
    }
    return seen;
  }

  private static int touchTwo(long base, long stride, int[] ordinals, int count) {
    int seen = 0;
    for (int i = 0; i < count; i++) {
      long row = base + ordinals[i] * stride;
      seen += NativeMemory.intAt(row) + NativeMemory.intAt(row + 64);
    }
    return seen;
  }

  private static int touchThree(long base, long stride, int[] ordinals, int count) {
    int seen = 0;
    for (int i = 0; i < count; i++) {
      long row = base + ordinals[i] * stride;
      seen +=
          NativeMemory.intAt(row) + NativeMemory.intAt(row + 64) + NativeMemory.intAt(row + 128);
    }
    return seen;
  }

  private static int touchFour(long base, long stride, int[] ordinals, int count) {
    int seen = 0;
    for (int i = 0; i < count; i++) {
      long row = base + ordinals[i] * stride;
      seen +=
          NativeMemory.intAt(row)
              + NativeMemory.intAt(row + 64)
              + NativeMemory.intAt(row + 128)
              + NativeMemory.intAt(row + 192);
    }
    return seen;
  }
}
