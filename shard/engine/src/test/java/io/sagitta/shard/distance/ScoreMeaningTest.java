// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Metric;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Scores are what the contract calls them, for vectors of every length. */
@Seeded
class ScoreMeaningTest {

  @ParameterizedTest
  @EnumSource(VectorType.class)
  void scores_are_within_1e_5_of_the_exact_value(VectorType type, Seed seed) {
    RandomGenerator random = seed.random();
    try (Arena arena = Arena.ofConfined()) {
      for (int dim : new int[] {1, 2, 3, 16, 100, 1025, 16_384}) {
        List<float[]> vectors = TestVectors.randomVectors(type, dim, 20, random);
        float[] constant = new float[dim];
        Arrays.fill(constant, type == VectorType.FLOAT32 ? 0.1f : 1);
        vectors.add(constant);
        VectorRows rows = TestVectors.rows(arena, type, vectors, 0, 0, 0);
        for (Metric metric : TestVectors.metrics(type)) {
          for (float[] query : List.of(vectors.get(0), vectors.get(7), constant)) {
            if (metric == Metric.COSINE && norm(query) == 0) {
              continue;
            }
            float[] scores =
                TestVectors.scores(
                    new ScalarKernels(), TestVectors.query(type, metric, query), rows);
            for (int i = 0; i < scores.length; i++) {
              assertExact(metric, query, vectors.get(i), scores[i]);
            }
          }
        }
      }
    }
  }

  @Test
  void length_never_matters_under_cosine() {
    assertThat(score(Metric.COSINE, new float[] {1, 0}, new float[] {1e-20f, 0}))
        .isCloseTo(1f, within(1e-6f));
    assertThat(score(Metric.COSINE, new float[] {1, 0}, new float[] {1e20f, 0}))
        .isCloseTo(1f, within(1e-6f));
    assertThat(score(Metric.COSINE, new float[] {1e38f, 1e38f}, new float[] {3e38f, 3e38f}))
        .isCloseTo(1f, within(1e-6f));
    assertThat(
            score(
                Metric.COSINE,
                new float[] {Float.MIN_VALUE, 0},
                new float[] {Float.MIN_VALUE, -Float.MIN_VALUE}))
        .isCloseTo((float) Math.sqrt(0.5), within(1e-6f));
    assertThat(score(Metric.COSINE, new float[] {3e38f, -3e38f}, new float[] {9.8E-45f, 0}))
        .isCloseTo((float) Math.sqrt(0.5), within(1e-6f));
  }

  @Test
  void scores_that_overflow_have_a_defined_order() {
    assertThat(score(Metric.L2, new float[] {3e38f, 0}, new float[] {-3e38f, 0}))
        .isEqualTo(Float.MAX_VALUE);
    assertThat(score(Metric.L2, new float[] {1e38f, 0}, new float[] {-1e38f, 0}))
        .isCloseTo(2e38f, within(2e32f));
    assertThat(score(Metric.DOT, new float[] {3e38f, 0}, new float[] {3e38f, 0}))
        .isEqualTo(Float.MAX_VALUE);
    assertThat(score(Metric.DOT, new float[] {3e38f, 0}, new float[] {-3e38f, 0}))
        .isEqualTo(-Float.MAX_VALUE);
    // Infinite partial sums of both signs would be NaN.
    assertThat(score(Metric.DOT, new float[] {3e38f, 3e38f, 1}, new float[] {3e38f, -3e38f, 2}))
        .isEqualTo(2f);
  }

  @Test
  void tiny_distances_are_not_rounded_to_nothing() {
    assertThat(score(Metric.L2, new float[] {1e-30f, 0}, new float[] {2e-30f, 0}))
        .isCloseTo(1e-30f, within(1e-36f));
    assertThat(score(Metric.L2, new float[] {1, 2}, new float[] {1, 2})).isZero();
  }

  @Test
  void zero_is_never_negative() {
    float score = score(Metric.DOT, new float[] {-1e-30f, 0}, new float[] {1e-30f, 0});
    assertThat(Float.floatToRawIntBits(score)).isZero();
    score = score(Metric.DOT, new float[] {-1, -1}, new float[] {0, 0});
    assertThat(Float.floatToRawIntBits(score)).isZero();
  }

  @Test
  void halves_at_the_ends_of_their_range_are_nearest_to_themselves() {
    try (Arena arena = Arena.ofConfined()) {
      float[] largest = {65504, 0, 0, 0};
      float[] smallest = {Float.float16ToFloat((short) 1), 0, 0, 0};
      VectorRows rows = TestVectors.rows(arena, VectorType.FLOAT16, largest, smallest);
      for (RowKernels kernels : TestVectors.ALL_KERNELS) {
        assertThat(
                TestVectors.scores(
                    kernels, TestVectors.query(VectorType.FLOAT16, Metric.L2, largest), rows))
            .containsExactly(0, 65504);
        assertThat(
                TestVectors.scores(
                    kernels, TestVectors.query(VectorType.FLOAT16, Metric.L2, smallest), rows))
            .containsExactly(65504, 0);
      }
    }
  }

  @Test
  void hamming_counts_components_only() {
    try (Arena arena = Arena.ofConfined()) {
      byte[] row = {(byte) 0b1010_0000, (byte) 0b1111_1111};
      var memory = arena.allocate(2);
      memory.copyFrom(MemorySegment.ofArray(row));
      VectorRows rows = VectorRows.packed(VectorType.BINARY, 9, 1, memory);
      PreparedQuery query =
          TestVectors.query(VectorType.BINARY, Metric.HAMMING, 1, 0, 0, 0, 0, 0, 0, 1, 1);
      for (RowKernels kernels : TestVectors.ALL_KERNELS) {
        assertThat(TestVectors.scores(kernels, query, rows)).containsExactly(2);
      }
    }
  }

  @Test
  void queries_are_refused_by_name() {
    VectorField field =
        new VectorField(1, "embedding", VectorType.FLOAT32, 4, Metric.COSINE, false);
    assertRefused(field, "3 components", 1, 2, 3);
    assertRefused(field, "component 2 is NaN", 1, 2, Float.NaN, 4);
    assertRefused(field, "component 0 is Infinity", Float.POSITIVE_INFINITY, 0, 0, 0);
    assertRefused(field, "zero", 0, 0, -0.0f, 0);
    VectorField bits = new VectorField(1, "bits", VectorType.BINARY, 2, Metric.HAMMING, false);
    assertRefused(bits, "expected a bit", 0, 2);
  }

  private static void assertRefused(VectorField field, String message, float... query) {
    assertThatThrownBy(() -> PreparedQuery.of(field, query))
        .isInstanceOfSatisfying(
            SagittaException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
        .hasMessageContaining(message);
  }

  private static float score(Metric metric, float[] query, float[] vector) {
    try (Arena arena = Arena.ofConfined()) {
      VectorRows rows = TestVectors.rows(arena, VectorType.FLOAT32, List.of(vector), 0, 0, 64);
      PreparedQuery prepared = TestVectors.query(VectorType.FLOAT32, metric, query);
      float score = TestVectors.scores(new ScalarKernels(), prepared, rows)[0];
      for (RowKernels kernels : TestVectors.ALL_KERNELS) {
        assertThat(TestVectors.scores(kernels, prepared, rows)[0]).isEqualTo(score);
      }
      return score;
    }
  }

  private static void assertExact(Metric metric, float[] q, float[] v, float score) {
    double dot = 0;
    double squares = 0;
    for (int i = 0; i < q.length; i++) {
      dot += (double) q[i] * v[i];
      squares += ((double) q[i] - v[i]) * ((double) q[i] - v[i]);
    }
    double lengths = norm(q) * norm(v);
    double max = Float.MAX_VALUE;
    double exact;
    double tolerance;
    switch (metric) {
      case DOT -> {
        exact = Math.clamp(dot, -max, max);
        tolerance = 1e-5 * lengths + Float.MIN_VALUE;
      }
      case COSINE -> {
        exact = lengths == 0 ? 0 : dot / lengths;
        tolerance = 1e-5;
      }
      case L2 -> {
        exact = Math.min(Math.sqrt(squares), max);
        tolerance = 1e-5 * Math.sqrt(squares) + Float.MIN_VALUE;
      }
      default -> {
        exact = squares;
        tolerance = 0;
      }
    }
    assertThat((double) score)
        .as("%s of %d components", metric, q.length)
        .isCloseTo(exact, within(tolerance));
  }

  private static double norm(float[] v) {
    double sum = 0;
    for (float x : v) {
      sum += (double) x * x;
    }
    return Math.sqrt(sum);
  }
}
