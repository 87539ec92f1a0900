// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import io.sagitta.model.Metric;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.shard.distance.PreparedQuery;

/** About the mean of a segment's vectors: what codes are taken relative to. */
final class Centre {
  private Centre() {}

  /** The mean of up to {@code sample} rows, evenly spread; of their directions under cosine. */
  static float[] of(SegmentRows rows, VectorField field, int count, int sample) {
    double[] sum = new double[field.dimension()];
    float[] centre = new float[field.dimension()];
    if (field.type() == VectorType.BINARY) {
      return centre;
    }
    double step = Math.max(1, (double) count / sample);
    int taken = 0;
    for (double at = 0; at < count; at += step) {
      if (!rows.has((int) at)) {
        continue;
      }
      float[] values = rows.read((int) at, field.dimension());
      double scale = field.metric() == Metric.COSINE ? 1 / PreparedQuery.norm(values) : 1;
      for (int i = 0; i < values.length; i++) {
        sum[i] += scale * values[i];
      }
      taken++;
    }
    for (int i = 0; i < centre.length && taken > 0; i++) {
      float mean = (float) (sum[i] / taken);
      centre[i] = Float.isFinite(mean) ? mean : 0;
    }
    return centre;
  }
}
