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

  /** {@link Lines#touch} of rows' first region. */
  public static int touch(CodeRows rows, int[] ordinals, int count) {
    return Lines.touch(rows.high, rows.stride, ordinals, count);
  }
}
