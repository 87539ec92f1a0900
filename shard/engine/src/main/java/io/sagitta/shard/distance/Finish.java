// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

/**
 * Turns raw sums into the scores of the contract: cosine in [-1, 1], dot product, Euclidean
 * distance, differing bits. Scores are finite: what would overflow a float becomes the largest one
 * of its sign, so that such rows still have a defined order (ties by id), and none is NaN or a
 * negative zero.
 *
 * <p>A raw sum that is not finite, or a squared distance so small that its terms may have been
 * rounded to nothing, is computed anew in double. The decision looks at the raw sum only, which has
 * the same bits everywhere; so has the result.
 */
final class Finish {
  /**
   * Below this a squared distance may have lost terms: each loses at most 2^-150, and 16,384 of
   * them stay under 1e-5 of 2^-100 by far.
   */
  private static final float SQUARE_MIN = 0x1p-100f;

  private Finish() {}

  /**
   * Rows {@code [from, to)} when {@code ordinals} is null, otherwise {@code ordinals[from..to)}.
   */
  static void scores(
      PreparedQuery query, VectorRows rows, int[] ordinals, int from, int to, float[] out, int at) {
    switch (query.metric()) {
      case DOT -> dot(query, rows, ordinals, from, to, out, at);
      case COSINE -> cosine(query, rows, ordinals, from, to, out, at);
      case L2 -> distance(query, rows, ordinals, from, to, out, at);
      case HAMMING -> {
        // The raw sum is the score.
      }
    }
  }

  private static void dot(
      PreparedQuery query, VectorRows rows, int[] ordinals, int from, int to, float[] out, int at) {
    for (int i = from; i < to; i++, at++) {
      float raw = out[at];
      double score =
          Math.abs(raw) <= Float.MAX_VALUE
              ? raw * query.factor
              : WideScore.dot(rows, ordinals == null ? i : ordinals[i], query.original);
      out[at] = (float) Math.clamp(score, -Float.MAX_VALUE, Float.MAX_VALUE) + 0.0f;
    }
  }

  private static void cosine(
      PreparedQuery query, VectorRows rows, int[] ordinals, int from, int to, float[] out, int at) {
    for (int i = from; i < to; i++, at++) {
      int row = ordinals == null ? i : ordinals[i];
      float raw = out[at];
      float inverse = rows.inverseNorm(row);
      double score =
          Math.abs(raw) <= Float.MAX_VALUE && inverse != 0
              ? raw * query.factor * inverse
              : wideCosine(query, rows, row);
      out[at] = (float) Math.clamp(score, -1.0, 1.0) + 0.0f;
    }
  }

  /**
   * A row without length (a null vector's bytes) scores 0: nobody may ask, but NaN would spread.
   */
  private static double wideCosine(PreparedQuery query, VectorRows rows, int row) {
    double lengths = query.norm * WideScore.norm(rows, row);
    return lengths == 0 ? 0 : WideScore.dot(rows, row, query.original) / lengths;
  }

  private static void distance(
      PreparedQuery query, VectorRows rows, int[] ordinals, int from, int to, float[] out, int at) {
    boolean exact = query.ints != null;
    for (int i = from; i < to; i++, at++) {
      float raw = out[at];
      double distance =
          exact || (raw >= SQUARE_MIN && raw <= Float.MAX_VALUE)
              ? Math.sqrt(raw)
              : WideScore.distance(rows, ordinals == null ? i : ordinals[i], query.original);
      out[at] = (float) Math.min(distance, Float.MAX_VALUE);
    }
  }
}
