// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import io.sagitta.model.Metric;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.shard.distance.PreparedQuery;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Queries to measure recall with that are not in the graph: rows that wait to be inserted, and
 * points between two rows, which lie where there is little data, as a foreign query does.
 */
final class HeldOut {
  private static final int ROWS = 192;

  /** Where fewer rows wait, points between rows of the graph stand in. */
  private static final int ROWS_MIN = 48;

  /** Length of what is added to a point between rows to have one that is like none. */
  private static final double NOISE = 0.5;

  private static final long SEED = 0x0dd17L;

  private HeldOut() {}

  /**
   * Queries for a graph over rows {@code [0, size)} of a segment's {@code count} rows, by kind;
   * none where hardly a row has a vector.
   */
  static List<List<float[]>> queries(SegmentRows rows, VectorField field, int size, int count) {
    List<float[]> waiting = spread(rows, field, size, count);
    List<float[]> between = new ArrayList<>();
    addBetween(between, waiting.size() < ROWS_MIN ? spread(rows, field, 0, size) : waiting, field);
    return List.of(waiting, between, astray(between, field));
  }

  /** Evenly spread over those of rows {@code [from, to)} that have a vector. */
  private static List<float[]> spread(SegmentRows rows, VectorField field, int from, int to) {
    List<float[]> found = new ArrayList<>();
    double step = Math.max(1, (double) (to - from) / ROWS);
    for (double at = from; at < to && found.size() < ROWS; at += step) {
      if (rows.has((int) at)) {
        found.add(rows.read((int) at, field.dimension()));
      }
    }
    return found;
  }

  private static void addBetween(List<float[]> queries, List<float[]> rows, VectorField field) {
    for (int i = 0; i + 1 < rows.size(); i++) {
      float[] middle =
          field.type() == VectorType.BINARY
              ? betweenBits(rows.get(i), rows.get(i + 1))
              : between(rows.get(i), rows.get(i + 1), field.metric());
      if (middle != null) {
        queries.add(middle);
      }
    }
  }

  /** Those points, and as much noise as is half their length: like no row. */
  private static List<float[]> astray(List<float[]> points, VectorField field) {
    if (field.type() == VectorType.BINARY) {
      return List.of();
    }
    SplittableRandom random = new SplittableRandom(SEED);
    List<float[]> found = new ArrayList<>();
    for (float[] point : points) {
      double deviation = NOISE * PreparedQuery.norm(point) / Math.sqrt(point.length);
      float[] moved = new float[point.length];
      boolean finite = true;
      for (int i = 0; i < moved.length; i++) {
        moved[i] = (float) (point[i] + deviation * random.nextGaussian());
        finite &= Float.isFinite(moved[i]);
      }
      if (finite) {
        found.add(moved);
      }
    }
    return found;
  }

  /** Half way, in direction under cosine; null where that is nowhere. */
  private static float[] between(float[] a, float[] b, Metric metric) {
    double scaleA = metric == Metric.COSINE ? 1 / PreparedQuery.norm(a) : 0.5;
    double scaleB = metric == Metric.COSINE ? 1 / PreparedQuery.norm(b) : 0.5;
    float[] middle = new float[a.length];
    for (int i = 0; i < a.length; i++) {
      middle[i] = (float) (scaleA * a[i] + scaleB * b[i]);
      if (!Float.isFinite(middle[i])) {
        return null;
      }
    }
    return metric == Metric.COSINE && PreparedQuery.norm(middle) < 1e-6 ? null : middle;
  }

  /** Every second bit in which they differ as in one of them. */
  private static float[] betweenBits(float[] a, float[] b) {
    float[] middle = a.clone();
    boolean take = false;
    for (int i = 0; i < a.length; i++) {
      if (a[i] != b[i]) {
        middle[i] = take ? b[i] : a[i];
        take = !take;
      }
    }
    return middle;
  }
}
