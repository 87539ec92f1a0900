// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.demo;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;

/**
 * Cosine similarity with every row, in doubles and without any of the engine's code: what the
 * engine's answers are held against.
 */
public final class BruteForce {
  /** Scores closer than this count as equal: float32 sums differ from doubles by less. */
  private static final double TIE = 1e-5;

  private final float[][] rows;
  private final double[] norms;
  private final Map<Long, Integer> rowOf = new HashMap<>();

  /** Rows and their ids, row for row. */
  public BruteForce(List<Long> ids, float[][] rows) {
    this.rows = rows;
    this.norms = new double[rows.length];
    for (int row = 0; row < rows.length; row++) {
      norms[row] = Math.sqrt(dot(rows[row], rows[row]));
      rowOf.put(ids.get(row), row);
    }
  }

  private static double dot(float[] a, float[] b) {
    double sum = 0;
    for (int d = 0; d < a.length; d++) {
      sum += (double) a[d] * b[d];
    }
    return sum;
  }

  private double score(float[] query, double queryNorm, int row) {
    return dot(query, rows[row]) / (queryNorm * norms[row]);
  }

  /**
   * The share of the true {@code k} nearest that the answer has. A point that scores as well as the
   * k-th is as good as it.
   *
   * @param allowed rows that may be hits
   */
  public double recall(float[] query, int k, IntPredicate allowed, List<Long> answer) {
    double queryNorm = Math.sqrt(dot(query, query));
    double[] scores = new double[rows.length];
    int matching = 0;
    for (int row = 0; row < rows.length; row++) {
      if (allowed.test(row)) {
        scores[matching++] = score(query, queryNorm, row);
      }
    }
    int wanted = Math.min(k, matching);
    if (wanted == 0) {
      return answer.isEmpty() ? 1 : 0;
    }
    Arrays.sort(scores, 0, matching);
    double worst = scores[matching - wanted];
    long good =
        answer.stream()
            .distinct()
            .limit(wanted)
            .map(rowOf::get)
            .filter(row -> row != null && allowed.test(row))
            .filter(row -> score(query, queryNorm, row) >= worst - TIE)
            .count();
    return (double) good / wanted;
  }
}
