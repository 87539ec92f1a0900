// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import java.lang.foreign.MemorySegment;

/**
 * {@code 1 / |v|} of every row of a cosine field, float32, kept beside the vectors so that a search
 * costs a dot product. Lengths are computed in double by {@link WideScore#norm}, so no length
 * overflows or vanishes; where the inverse is not a normal float (lengths outside about 1e-38 to
 * 1e38, and null rows) 0 stands for "ask the row", and the scorer does so in double.
 */
public final class InverseNorms {
  private InverseNorms() {}

  /** Writes the inverse norms of rows {@code [from, to)} to {@code out}, row {@code i} at 4 i. */
  public static void fill(VectorRows rows, int from, int to, MemorySegment out) {
    for (int row = from; row < to; row++) {
      out.set(NativeMemory.FLOAT, (long) row * Float.BYTES, of(rows, row));
    }
  }

  /** The inverse norm of one row, or 0. */
  public static float of(VectorRows rows, int row) {
    float inverse = (float) (1 / WideScore.norm(rows, row));
    return inverse >= Float.MIN_NORMAL && inverse <= Float.MAX_VALUE ? inverse : 0;
  }
}
