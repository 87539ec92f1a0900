// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * How near the true k-th nearest row of each query is, by scoring all rows, made again one after
 * another: more than fit into memory may be looked at.
 */
final class NearestRows {
  /** Scores closer than this count as equal: float32 sums differ from doubles by less. */
  private static final double TIE = 1e-5;

  private final Rows rows;
  private final float[][] queries;
  private final double[] kth;
  private final int k;

  private NearestRows(Rows rows, float[][] queries, int k, double[] kth) {
    this.rows = rows;
    this.queries = queries;
    this.k = k;
    this.kth = kth;
  }

  /** Looks at all rows, on all cores, each core at a part of them. */
  static NearestRows of(Rows rows, int count, float[][] queries, int k) {
    int parts = Runtime.getRuntime().availableProcessors();
    double[][] best =
        IntStream.range(0, parts)
            .parallel()
            .mapToObj(
                part -> {
                  int from = (int) ((long) count * part / parts);
                  int to = (int) ((long) count * (part + 1) / parts);
                  return best(rows, from, to, queries, k);
                })
            .reduce(none(queries.length, k), NearestRows::merged);
    double[] kth = Arrays.stream(best).mapToDouble(scores -> scores[0]).toArray();
    return new NearestRows(rows, queries, k, kth);
  }

  /** Scores of the k nearest of each query, ascending. */
  private static double[][] best(Rows rows, int from, int to, float[][] queries, int k) {
    double[][] best = none(queries.length, k);
    for (int id = from; id < to; id++) {
      float[] row = rows.vector(id);
      double norm = Math.sqrt(dot(row, row));
      for (int q = 0; q < queries.length; q++) {
        keep(best[q], dot(queries[q], row) / norm);
      }
    }
    return best;
  }

  private static double[][] none(int queries, int k) {
    double[][] none = new double[queries][k];
    for (double[] scores : none) {
      Arrays.fill(scores, Double.NEGATIVE_INFINITY);
    }
    return none;
  }

  private static double[][] merged(double[][] a, double[][] b) {
    double[][] merged = Arrays.stream(a).map(double[]::clone).toArray(double[][]::new);
    for (int q = 0; q < merged.length; q++) {
      for (double score : b[q]) {
        keep(merged[q], score);
      }
    }
    return merged;
  }

  private static void keep(double[] best, double score) {
    int at = 0;
    for (; at < best.length && best[at] < score; at++) {
      if (at > 0) {
        best[at - 1] = best[at];
      }
    }
    if (at > 0) {
      best[at - 1] = score;
    }
  }

  /** Several sums at a time: one alone waits for itself. */
  private static double dot(float[] a, float[] b) {
    double first = 0;
    double second = 0;
    double third = 0;
    double fourth = 0;
    int d = 0;
    for (; d + 4 <= a.length; d += 4) {
      first += (double) a[d] * b[d];
      second += (double) a[d + 1] * b[d + 1];
      third += (double) a[d + 2] * b[d + 2];
      fourth += (double) a[d + 3] * b[d + 3];
    }
    double sum = first + second + third + fourth;
    for (; d < a.length; d++) {
      sum += (double) a[d] * b[d];
    }
    return sum;
  }

  /** The share of the true k nearest that an answer has; one as near as the k-th is as good. */
  double recall(int query, List<Long> answer) {
    long good =
        answer.stream()
            .distinct()
            .limit(k)
            .map(rows::vector)
            .filter(
                row ->
                    dot(queries[query], row) / Math.sqrt(dot(row, row)) >= kth[query] - tie(query))
            .count();
    return (double) good / k;
  }

  private double tie(int query) {
    return TIE * Math.sqrt(dot(queries[query], queries[query]));
  }
}
