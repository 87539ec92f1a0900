// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.VectorType;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Estimates from codes: near the truth, and the same bits from every width. */
@Seeded
class CodeKernelsTest {
  private static final int ROWS = 37;

  private static final List<Integer> DIMENSIONS =
      IntStream.concat(
              IntStream.rangeClosed(1, 40),
              IntStream.of(100, 127, 128, 129, 384, 500, 511, 512, 513, 768, 1536, 4096))
          .boxed()
          .toList();

  @Test
  void all_widths_give_the_same_estimates(Seed seed) {
    RandomGenerator random = seed.random();
    for (int dimension : DIMENSIONS) {
      try (Arena arena = Arena.ofConfined()) {
        CodeRows rows = rows(arena, dimension, random);
        float[] query = vector(dimension, random);
        int[] ordinals = ordinals(random);
        QueryPlanes planes = new QueryPlanes(rows.layout());
        planes.set(query, random.nextFloat(), 1, 2);
        for (boolean byRow : List.of(false, true)) {
          if (byRow) {
            planes.setRow(rows, random.nextInt(ROWS), 0.5f, 1, 1, 2);
          }
          float[] four = new float[ordinals.length];
          float[] eight = new float[ordinals.length];
          CodeScorer.four(new ScalarCodeKernels(), rows, planes, ordinals, ordinals.length, four);
          CodeScorer.eight(new ScalarCodeKernels(), rows, planes, ordinals, ordinals.length, eight);
          for (RowKernels width : TestVectors.ALL_KERNELS) {
            float[] out = new float[ordinals.length];
            CodeScorer.four(width.codes(), rows, planes, ordinals, ordinals.length, out);
            assertThat(out).as("4 bits, %s, %d", width.name(), dimension).isEqualTo(four);
            CodeScorer.eight(width.codes(), rows, planes, ordinals, ordinals.length, out);
            assertThat(out).as("8 bits, %s, %d", width.name(), dimension).isEqualTo(eight);
          }
        }
      }
    }
  }

  @Test
  void all_widths_unpack_a_row_alike(Seed seed) {
    RandomGenerator random = seed.random();
    for (int dimension : DIMENSIONS) {
      try (Arena arena = Arena.ofConfined()) {
        CodeRows rows = rows(arena, dimension, random);
        short[] keep = new short[rows.blocks * CodeLayout.BLOCK_COMPONENTS];
        for (int i = 0; i < dimension; i++) {
          keep[CodeLayout.plane(i)] = -1;
        }
        long at = rows.stride * random.nextInt(ROWS);
        short[] expected = new short[keep.length];
        new ScalarCodeKernels().unpack(rows.high + at, rows.low + at, keep, expected, rows.blocks);
        for (RowKernels width : TestVectors.ALL_KERNELS) {
          short[] planes = new short[keep.length];
          width.codes().unpack(rows.high + at, rows.low + at, keep, planes, rows.blocks);
          assertThat(planes).as("%s, %d", width.name(), dimension).isEqualTo(expected);
        }
      }
    }
  }

  @Test
  void all_widths_transform_alike_and_by_the_definition(Seed seed) {
    RandomGenerator random = seed.random();
    for (int width = 1; width <= 1_024; width *= 2) {
      int at = random.nextInt(20);
      float[] values = vector(at + width + 3, random);
      float[] expected = values.clone();
      new ScalarCodeKernels().hadamard(expected, at, width);
      for (int i = 0; i < width; i++) {
        double sum = 0;
        for (int j = 0; j < width; j++) {
          sum += (Integer.bitCount(i & j) % 2 == 0 ? 1 : -1) * (double) values[at + j];
        }
        assertThat((double) expected[at + i]).isCloseTo(sum, within(1e-3 * (1 + Math.abs(sum))));
      }
      for (RowKernels kernels : TestVectors.ALL_KERNELS) {
        float[] out = values.clone();
        kernels.codes().hadamard(out, at, width);
        assertThat(out).as("%s, %d", kernels.name(), width).isEqualTo(expected);
      }
    }
  }

  @Test
  void estimates_are_what_the_codes_mean(Seed seed) {
    RandomGenerator random = seed.random();
    for (int dimension : DIMENSIONS) {
      try (Arena arena = Arena.ofConfined()) {
        CodeRows rows = rows(arena, dimension, random);
        float[] query = vector(dimension, random);
        QueryPlanes planes = new QueryPlanes(rows.layout());
        int[] ordinals = ordinals(random);
        float[] out = new float[ordinals.length];
        planes.set(query, 3, 1, 2);
        CodeScorer.eight(rows, planes, ordinals, ordinals.length, out);
        float[] decoded = new float[dimension];
        for (int i = 0; i < ordinals.length; i++) {
          rows.decode(ordinals[i], decoded);
          double expected = 3 + rows.bias(ordinals[i]) - 2 * dot(query, decoded);
          assertThat((double) out[i])
              .as("query of floats, %d", dimension)
              .isCloseTo(expected, within(2e-2 * length(query) * length(decoded) + 1e-4));
        }
        int row = random.nextInt(ROWS);
        planes.setRow(rows, row, 3, 1, 1, 2);
        CodeScorer.eight(rows, planes, ordinals, ordinals.length, out);
        float[] own = new float[dimension];
        rows.decode(row, own);
        for (int i = 0; i < ordinals.length; i++) {
          rows.decode(ordinals[i], decoded);
          double expected = 3 + rows.bias(row) + rows.bias(ordinals[i]) - 2 * dot(own, decoded);
          assertThat((double) out[i])
              .as("row as query, %d", dimension)
              .isCloseTo(expected, within(1e-5 * length(own) * length(decoded) + 1e-4));
        }
      }
    }
  }

  @Test
  void four_bits_are_near_the_truth_and_eight_nearer(Seed seed) {
    RandomGenerator random = seed.random();
    for (int dimension : new int[] {64, 100, 384, 1536}) {
      double[] error = new double[2];
      try (Arena arena = Arena.ofConfined()) {
        List<float[]> vectors = new ArrayList<>();
        CodeRows rows = rows(arena, dimension, random, vectors);
        float[] query = vector(dimension, random);
        int[] ordinals = IntStream.range(0, ROWS).toArray();
        QueryPlanes planes = new QueryPlanes(rows.layout());
        planes.set(query, 0, 0, 1);
        float[] four = new float[ROWS];
        float[] eight = new float[ROWS];
        CodeScorer.four(rows, planes, ordinals, ROWS, four);
        CodeScorer.eight(rows, planes, ordinals, ROWS, eight);
        for (int i = 0; i < ROWS; i++) {
          double truth = -dot(query, vectors.get(i));
          double unit = length(query) * length(vectors.get(i)) / Math.sqrt(dimension);
          error[0] += Math.abs(four[i] - truth) / unit / ROWS;
          error[1] += Math.abs(eight[i] - truth) / unit / ROWS;
        }
      }
      // In deviations of a random product: the steps' own rounding gives about 0.09 and 0.006.
      assertThat(error[0]).as("4 bits, %d", dimension).isBetween(0.03, 0.2);
      assertThat(error[1]).as("8 bits, %d", dimension).isLessThan(0.03);
    }
  }

  @Test
  void bits_are_counted_alike(Seed seed) {
    RandomGenerator random = seed.random();
    for (int dimension : DIMENSIONS) {
      try (Arena arena = Arena.ofConfined()) {
        List<float[]> vectors =
            TestVectors.randomVectors(VectorType.BINARY, dimension, ROWS, random);
        VectorRows source = TestVectors.rows(arena, VectorType.BINARY, vectors, 0, 0, 0);
        CodeLayout layout = new CodeLayout(dimension, true);
        CodeRows rows =
            new CodeRows(layout, ROWS, arena.allocate((long) ROWS * layout.stride(), 64), null);
        for (int i = 0; i < ROWS; i++) {
          rows.encodeBits(i, source, i);
        }
        float[] query = TestVectors.random(VectorType.BINARY, dimension, random);
        QueryPlanes planes = new QueryPlanes(layout);
        planes.setBits(query);
        int[] ordinals = ordinals(random);
        for (RowKernels width : TestVectors.ALL_KERNELS) {
          float[] out = new float[ordinals.length];
          CodeScorer.bits(width.codes(), rows, planes, ordinals, ordinals.length, out);
          for (int i = 0; i < ordinals.length; i++) {
            int differing = 0;
            for (int j = 0; j < dimension; j++) {
              differing += query[j] == vectors.get(ordinals[i])[j] ? 0 : 1;
            }
            assertThat(out[i]).as("%s, %d", width.name(), dimension).isEqualTo(differing);
          }
        }
      }
    }
  }

  private static CodeRows rows(Arena arena, int dimension, RandomGenerator random) {
    return rows(arena, dimension, random, new ArrayList<>());
  }

  private static CodeRows rows(
      Arena arena, int dimension, RandomGenerator random, List<float[]> vectors) {
    CodeLayout layout = new CodeLayout(dimension, false);
    long bytes = (long) ROWS * layout.stride();
    CodeRows rows =
        new CodeRows(layout, ROWS, arena.allocate(bytes, 64), arena.allocate(bytes, 64));
    for (int i = 0; i < ROWS; i++) {
      vectors.add(vector(dimension, random));
      rows.encode(i, vectors.get(i), (float) random.nextGaussian());
    }
    return rows;
  }

  private static int[] ordinals(RandomGenerator random) {
    return random.ints(random.nextInt(1, 90), 0, ROWS).toArray();
  }

  private static float[] vector(int dimension, RandomGenerator random) {
    float[] out = new float[dimension];
    double scale = Math.scalb(1.0, random.nextInt(-3, 4));
    for (int i = 0; i < dimension; i++) {
      out[i] = (float) (scale * random.nextGaussian());
    }
    return out;
  }

  private static double dot(float[] left, float[] right) {
    double sum = 0;
    for (int i = 0; i < left.length; i++) {
      sum += (double) left[i] * right[i];
    }
    return sum;
  }

  private static double length(float[] vector) {
    return Math.sqrt(dot(vector, vector));
  }
}
