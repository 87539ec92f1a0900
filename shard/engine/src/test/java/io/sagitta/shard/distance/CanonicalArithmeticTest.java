// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every width gives the bits that the package comment writes down. */
@Seeded
class CanonicalArithmeticTest {

  private static final List<Integer> DIMENSIONS =
      IntStream.concat(IntStream.rangeClosed(1, 70), IntStream.of(100, 384, 1023, 1025, 1536, 2100))
          .boxed()
          .toList();

  @ParameterizedTest
  @EnumSource(VectorType.class)
  void all_kernels_give_the_same_bits(VectorType type, Seed seed) {
    RandomGenerator random = seed.random();
    try (Arena arena = Arena.ofConfined()) {
      for (int dim : DIMENSIONS) {
        List<float[]> vectors = TestVectors.randomVectors(type, dim, 11, random);
        vectors.add(vectors.getFirst());
        int padding = random.nextInt(3) * 16;
        int slack = random.nextInt(2) * 200;
        VectorRows rows = TestVectors.rows(arena, type, vectors, random.nextInt(5), padding, slack);
        for (Metric metric : TestVectors.metrics(type)) {
          PreparedQuery query = query(type, metric, vectors, random);
          float[] expected = TestVectors.scores(new ScalarKernels(), query, rows);
          for (RowKernels kernels : TestVectors.ALL_KERNELS) {
            assertSameBits(
                TestVectors.scores(kernels, query, rows),
                expected,
                kernels.name() + " " + metric + " " + type + "[" + dim + "]");
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(VectorType.class)
  void ranges_ordinals_and_several_queries_give_the_same_bits(VectorType type, Seed seed) {
    RandomGenerator random = seed.random();
    try (Arena arena = Arena.ofConfined()) {
      for (int dim : new int[] {1, 17, 100}) {
        List<float[]> vectors = TestVectors.randomVectors(type, dim, 333, random);
        VectorRows rows = TestVectors.rows(arena, type, vectors, 0, 0, 0);
        for (Metric metric : TestVectors.metrics(type)) {
          PreparedQuery[] queries = {
            query(type, metric, vectors, random), query(type, metric, vectors, random)
          };
          for (RowKernels kernels : TestVectors.ALL_KERNELS) {
            float[] all = TestVectors.scores(kernels, queries[1], rows);
            int from = random.nextInt(100);
            int to = from + random.nextInt(233);
            float[] both = new float[2 * (to - from)];
            Scorer.score(kernels, queries, rows, from, to, both);
            int[] ordinals = random.ints(57, 0, 333).toArray();
            float[] gathered = new float[60];
            Scorer.score(kernels, queries[1], rows, ordinals, 2, 57, gathered, 3);

            for (int i = from; i < to; i++) {
              assertSameBits(both[to - from + i - from], all[i], kernels.name() + " row " + i);
            }
            for (int i = 2; i < 57; i++) {
              assertSameBits(gathered[3 + i - 2], all[ordinals[i]], kernels.name() + " at " + i);
            }
            assertThat(gathered).startsWith(0, 0, 0).endsWith(0, 0);
          }
        }
      }
    }
  }

  @Test
  void the_scalar_kernels_follow_the_written_order(Seed seed) {
    RandomGenerator random = seed.random();
    float[] dot = new float[1];
    float[] square = new float[1];
    ScalarKernels scalar = new ScalarKernels();
    try (Arena arena = Arena.ofConfined()) {
      for (int dim : DIMENSIONS) {
        float[] query = TestVectors.random(VectorType.FLOAT32, dim, random);
        float[] vector = TestVectors.random(VectorType.FLOAT32, dim, random);
        long at = TestVectors.rows(arena, VectorType.FLOAT32, vector).address(0);
        PreparedQuery prepared = TestVectors.query(VectorType.FLOAT32, Metric.L2, query);
        scalar.dotFloat32(at, at, at, at, prepared, dot, 0, 1, 0);
        scalar.squareFloat32(at, at, at, at, prepared, square, 0, 1, 0);
        assertSameBits(dot[0], asWritten(query, vector, false), "dot of " + dim);
        assertSameBits(square[0], asWritten(query, vector, true), "square of " + dim);
      }
    }
  }

  @Test
  void every_half_is_read_exactly() {
    List<float[]> vectors = new ArrayList<>();
    for (int bits = 0; bits < 1 << 16; bits++) {
      float value = Float.float16ToFloat((short) bits);
      if (Float.isFinite(value)) {
        vectors.add(new float[] {value});
      }
    }
    try (Arena arena = Arena.ofConfined()) {
      VectorRows rows = TestVectors.rows(arena, VectorType.FLOAT16, vectors, 0, 0, 64);
      PreparedQuery one = TestVectors.query(VectorType.FLOAT16, Metric.DOT, 1);
      for (RowKernels kernels : TestVectors.ALL_KERNELS) {
        float[] scores = TestVectors.scores(kernels, one, rows);
        for (int i = 0; i < scores.length; i++) {
          assertSameBits(scores[i], vectors.get(i)[0] + 0.0f, kernels.name());
        }
      }
    }
  }

  /** The order of operations as the package comment numbers it, with arrays and no cleverness. */
  private static float asWritten(float[] query, float[] vector, boolean squares) {
    float[] totals = new float[16];
    float[] sums = new float[16];
    int padded = (query.length + 15) / 16 * 16;
    for (int i = 0; i < padded; i++) {
      float q = i < query.length ? query[i] : 0;
      float v = i < query.length ? vector[i] : 0;
      sums[i % 16] = squares ? Math.fma(q - v, q - v, sums[i % 16]) : Math.fma(q, v, sums[i % 16]);
      if (i % 1024 == 1023 || i == padded - 1) {
        for (int lane = 0; lane < 16; lane++) {
          totals[lane] += sums[lane];
          sums[lane] = 0;
        }
      }
    }
    for (int half = 8; half >= 1; half /= 2) {
      for (int lane = 0; lane < half; lane++) {
        totals[lane] += totals[lane + half];
      }
    }
    return totals[0] + 0.0f;
  }

  /** Often a stored vector; sometimes with fractions, which integer rows meet in float. */
  private static PreparedQuery query(
      VectorType type, Metric metric, List<float[]> vectors, RandomGenerator random) {
    float[] query = vectors.get(random.nextInt(vectors.size())).clone();
    if (type != VectorType.BINARY && random.nextBoolean()) {
      query[0] = query[0] / 2 + 0.25f;
    }
    if (metric == Metric.COSINE) {
      query[0] = query[0] == 0 ? 1 : query[0];
    }
    return TestVectors.query(type, metric, query);
  }

  private static void assertSameBits(float[] actual, float[] expected, String what) {
    for (int i = 0; i < expected.length; i++) {
      assertSameBits(actual[i], expected[i], what + " row " + i);
    }
  }

  /** NaN never equals, so it fails too. */
  private static void assertSameBits(float actual, float expected, String what) {
    if (Float.floatToRawIntBits(actual) != Float.floatToRawIntBits(expected)
        && !(Float.isNaN(actual) && Float.isNaN(expected))) {
      throw new AssertionError(what + ": " + actual + ", expected " + expected);
    }
  }
}
