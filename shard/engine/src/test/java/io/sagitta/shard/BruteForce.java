// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.PointId;
import io.sagitta.model.VectorField;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Nearest neighbours by the definition of the metric, in double. */
final class BruteForce {
  private BruteForce() {}

  static double[] components(VectorField field, Object plain) {
    ByteBuffer in = PlainRows.decode(plain);
    double[] out = new double[field.dimension()];
    for (int i = 0; i < out.length; i++) {
      out[i] =
          switch (field.type()) {
            case FLOAT32 -> in.getFloat();
            case FLOAT16 -> Float.float16ToFloat(in.getShort());
            case BFLOAT16 -> Float.intBitsToFloat(in.getShort() << 16);
            case INT8 -> in.get();
            case UINT8 -> Byte.toUnsignedInt(in.get());
            case BINARY -> (in.get(i >> 3) >> (7 - (i & 7))) & 1;
          };
    }
    return out;
  }

  static double score(VectorField field, double[] a, double[] b) {
    double dot = 0;
    double square = 0;
    double lengthA = 0;
    double lengthB = 0;
    for (int i = 0; i < a.length; i++) {
      dot += a[i] * b[i];
      square += (a[i] - b[i]) * (a[i] - b[i]);
      lengthA += a[i] * a[i];
      lengthB += b[i] * b[i];
    }
    return switch (field.metric()) {
      case COSINE -> dot / Math.sqrt(lengthA) / Math.sqrt(lengthB);
      case DOT -> dot;
      case L2 -> Math.sqrt(square);
      case HAMMING -> square;
    };
  }

  /**
   * Checks hits: as many as there can be, each with its right score, in order, none better left
   * out.
   *
   * @param candidates vectors that may be found
   */
  static void check(
      VectorField field,
      Map<PointId, Object> candidates,
      double[] query,
      int k,
      List<TestShard.Hit> hits) {
    boolean higher = field.metric().higherIsBetter();
    Map<PointId, Double> left = new TreeMap<>();
    double length = Math.sqrt(score(dot(field), query, query));
    double tolerance = 1e-6;
    for (Map.Entry<PointId, Object> candidate : candidates.entrySet()) {
      double[] vector = components(field, candidate.getValue());
      left.put(candidate.getKey(), score(field, query, vector));
      if (field.metric() != io.sagitta.model.Metric.COSINE) {
        double other = Math.sqrt(score(dot(field), vector, vector));
        tolerance = Math.max(tolerance, 1e-5 * Math.max(length * other, length + other));
      } else {
        tolerance = 1e-5;
      }
    }
    assertThat(hits).hasSize(Math.min(k, candidates.size()));
    for (int i = 0; i < hits.size(); i++) {
      TestShard.Hit hit = hits.get(i);
      Double right = left.remove(hit.id());
      assertThat(right).as("hit %s is a candidate, found once", hit.id()).isNotNull();
      assertThat((double) hit.score()).isCloseTo(right, within(tolerance));
      if (i > 0) {
        TestShard.Hit before = hits.get(i - 1);
        int order =
            higher
                ? Float.compare(hit.score(), before.score())
                : Float.compare(before.score(), hit.score());
        assertThat(order < 0 || (order == 0 && before.id().compareTo(hit.id()) < 0))
            .as("%s before %s", before, hit)
            .isTrue();
      }
    }
    if (!hits.isEmpty()) {
      double worst = hits.getLast().score();
      double slack = 2 * tolerance;
      left.forEach(
          (id, score) ->
              assertThat(higher ? score <= worst + slack : score >= worst - slack)
                  .as("%s scores %s and was left out, worst hit %s", id, score, worst)
                  .isTrue());
    }
  }

  private static VectorField dot(VectorField field) {
    return field.type() == io.sagitta.model.VectorType.BINARY
        ? field
        : new VectorField(
            1, "x", field.type(), field.dimension(), io.sagitta.model.Metric.DOT, false);
  }

  private static org.assertj.core.data.Offset<Double> within(double tolerance) {
    return org.assertj.core.data.Offset.offset(tolerance);
  }
}
