// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Graph searches against scoring every row. */
@Seeded
class GraphRecallTest {
  private static final int ROWS = 2_000;
  private static final int DIMENSION = 48;
  private static final int QUERIES = 40;
  private static final int K = 10;

  static Stream<Arguments> kindsAndShapes() {
    return Stream.of(
            List.of(VectorType.FLOAT32, Metric.COSINE),
            List.of(VectorType.FLOAT32, Metric.DOT),
            List.of(VectorType.FLOAT32, Metric.L2),
            List.of(VectorType.FLOAT16, Metric.COSINE),
            List.of(VectorType.BFLOAT16, Metric.L2),
            List.of(VectorType.INT8, Metric.DOT),
            List.of(VectorType.UINT8, Metric.L2),
            List.of(VectorType.BINARY, Metric.HAMMING))
        .flatMap(
            kind ->
                Arrays.stream(TestData.Shape.values())
                    .map(shape -> Arguments.of(kind.get(0), kind.get(1), shape)));
  }

  @ParameterizedTest
  @MethodSource("kindsAndShapes")
  void a_search_finds_nearly_all_of_the_nearest(
      VectorType type, Metric metric, TestData.Shape shape, Seed seed) {
    RandomGenerator random = seed.random();
    try (Arena arena = Arena.ofShared()) {
      int dimension = type == VectorType.BINARY ? 3 * DIMENSION : DIMENSION;
      Supplier<float[]> source = TestData.source(type, shape, dimension, random);
      TestData data = TestData.of(arena, type, metric, dimension, ROWS, source);
      try (VectorIndex index = TestIndexes.build(data)) {
        GraphConnector.connect(index);
        for (Traversal traversal : List.of(Traversal.FOUR, Traversal.EIGHT)) {
          double recall = meanRecall(index, data, source, effort(shape, traversal));
          assertThat(recall).as("%s bits", traversal).isGreaterThan(0.95);
        }
      }
    }
  }

  /**
   * Codes cannot tell rows apart that differ by a thousandth: there an effort as large as the knot
   * must find them, which says that the graph leads to all. (A calibration sees that.)
   */
  private static Effort effort(TestData.Shape shape, Traversal traversal) {
    return switch (shape) {
      case RANDOM, CLUSTERED, COPIES, OUTLIERS -> new Effort(150, 100, traversal);
      case NEAR_COPIES -> new Effort(ROWS / 2, ROWS / 2, traversal);
    };
  }

  private static double meanRecall(
      VectorIndex index, TestData data, Supplier<float[]> queries, Effort effort) {
    GraphSearcher searcher = new GraphSearcher();
    double recall = 0;
    for (int i = 0; i < QUERIES; i++) {
      float[] query = data.query(queries.get());
      TestIndexes.Answer answer = TestIndexes.ask(searcher, index, data, query, K, effort);
      assertThat(answer.count).isEqualTo(K);
      recall += data.recall(query, answer.ordinals, answer.count, K, data.all()) / QUERIES;
    }
    return recall;
  }

  @Test
  @Tag("B003")
  void copies_do_not_crowd_each_other_out_of_an_answer_as_long_as_the_effort(Seed seed) {
    RandomGenerator random = seed.random();
    Supplier<float[]> fresh =
        TestData.source(VectorType.FLOAT32, TestData.Shape.CLUSTERED, DIMENSION, random);
    float[] twin = fresh.get();
    try (Arena arena = Arena.ofShared()) {
      Supplier<float[]> source = () -> random.nextInt(4) == 0 ? twin : fresh.get();
      TestData data =
          TestData.of(arena, VectorType.FLOAT32, Metric.COSINE, DIMENSION, ROWS, source);
      try (VectorIndex index = TestIndexes.build(data)) {
        GraphConnector.connect(index);
        int k = 100;
        TestIndexes.Answer answer =
            TestIndexes.ask(
                new GraphSearcher(), index, data, twin, k, new Effort(k, k, Traversal.FOUR));
        assertThat(data.recall(twin, answer.ordinals, answer.count, k, data.all())).isEqualTo(1);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(TestData.Shape.class)
  void every_row_is_found_by_its_own_vector(TestData.Shape shape, Seed seed) {
    RandomGenerator random = seed.random();
    try (Arena arena = Arena.ofShared()) {
      TestData data =
          TestData.of(arena, VectorType.FLOAT32, Metric.L2, DIMENSION, ROWS, shape, random);
      try (VectorIndex index = TestIndexes.build(data)) {
        GraphConnector.connect(index);
        GraphSearcher searcher = new GraphSearcher();
        int missed = 0;
        for (int row = 0; row < ROWS; row += 5) {
          float[] query = data.vectors.get(row);
          TestIndexes.Answer answer =
              TestIndexes.ask(searcher, index, data, query, 1, effort(shape, Traversal.EIGHT));
          missed += (int) (1 - data.recall(query, answer.ordinals, answer.count, 1, data.all()));
        }
        assertThat(missed).as("of %d", ROWS / 5).isLessThanOrEqualTo(2);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(TestData.Shape.class)
  void an_effort_above_the_number_of_rows_reaches_every_one(TestData.Shape shape, Seed seed) {
    RandomGenerator random = seed.random();
    try (Arena arena = Arena.ofShared()) {
      TestData data =
          TestData.of(arena, VectorType.FLOAT32, Metric.COSINE, DIMENSION, ROWS, shape, random);
      try (VectorIndex index = TestIndexes.build(data)) {
        GraphConnector.connect(index);
        assertThat(GraphConnector.connect(index)).as("links added a second time").isZero();
        GraphSearcher searcher = new GraphSearcher();
        int count =
            searcher.search(
                index,
                data.coded(data.vectors.getFirst()),
                new Effort(2 * ROWS, 1, Traversal.FOUR),
                2 * ROWS,
                null,
                ROWS,
                Long.MAX_VALUE,
                StopCheck.NEVER);
        assertThat(count).isEqualTo(ROWS);
        Set<Integer> found = new HashSet<>();
        for (int i = 0; i < count; i++) {
          found.add(searcher.hits()[i]);
          if (i > 0) {
            assertThat(searcher.estimates()[i]).isGreaterThanOrEqualTo(searcher.estimates()[i - 1]);
          }
        }
        assertThat(found).hasSize(ROWS);
      }
    }
  }

  @Test
  @Tag("B003")
  void a_knot_of_identical_vectors_does_not_trap_a_search() {
    for (int copies : new int[] {8, 2_000}) {
      try (Arena arena = Arena.ofShared()) {
        float[][] last = {{2, 1, 1, 1}, {2.1f, 1, 1, 1}, {1.9f, 1, 1, 1}};
        int[] at = {0};
        TestData data =
            TestData.of(
                arena,
                VectorType.FLOAT32,
                Metric.L2,
                4,
                copies + 3,
                () -> at[0] < copies ? copy(at) : last[at[0]++ - copies]);
        try (VectorIndex index = TestIndexes.build(data, 1, new float[4])) {
          GraphConnector.connect(index);
          GraphSearcher searcher = new GraphSearcher();
          Effort effort = new Effort(40, 40, Traversal.FOUR);
          TestIndexes.Answer near =
              TestIndexes.ask(searcher, index, data, new float[] {2.05f, 1, 1, 1}, 3, effort);
          assertThat(near.ordinals[2]).isEqualTo(copies + 2);
          assertThat(Arrays.copyOf(near.ordinals, 2)).containsExactlyInAnyOrder(copies, copies + 1);
          BitSet living = data.all();
          living.clear(0);
          TestIndexes.Answer rest =
              TestIndexes.ask(
                  searcher,
                  index,
                  data,
                  new float[] {1, 1, 1, 1},
                  7,
                  effort,
                  living,
                  data.count(),
                  Long.MAX_VALUE);
          assertThat(rest.ordinals).hasSize(7).doesNotContain(0);
          assertThat(Arrays.stream(rest.ordinals)).allMatch(row -> row < copies);
        }
      }
    }
  }

  private static float[] copy(int[] at) {
    at[0]++;
    return new float[] {1, 1, 1, 1};
  }

  @Test
  void a_search_among_copies_does_not_visit_them_all(Seed seed) {
    RandomGenerator random = seed.random();
    try (Arena arena = Arena.ofShared()) {
      float[] one = TestData.gaussian(DIMENSION, 1, random);
      TestData data =
          TestData.of(arena, VectorType.FLOAT32, Metric.L2, DIMENSION, 5_000, () -> one);
      try (VectorIndex index = TestIndexes.build(data)) {
        GraphSearcher searcher = new GraphSearcher();
        TestIndexes.Answer answer =
            TestIndexes.ask(searcher, index, data, one, 10, new Effort(50, 50, Traversal.FOUR));
        assertThat(answer.count).isEqualTo(10);
        assertThat(answer.visited).isLessThan(data.count());
      }
    }
  }

  @Test
  void a_mask_is_kept_and_filled_from_at_every_selectivity(Seed seed) {
    RandomGenerator random = seed.random();
    try (Arena arena = Arena.ofShared()) {
      Supplier<float[]> source =
          TestData.source(VectorType.FLOAT32, TestData.Shape.CLUSTERED, DIMENSION, random);
      TestData data =
          TestData.of(arena, VectorType.FLOAT32, Metric.COSINE, DIMENSION, ROWS, source);
      try (VectorIndex index = TestIndexes.build(data)) {
        GraphConnector.connect(index);
        GraphSearcher searcher = new GraphSearcher();
        for (double share : new double[] {0, 0.001, 0.01, 0.1, 0.5, 1}) {
          double recall = 0;
          for (int i = 0; i < 20; i++) {
            BitSet accept = new BitSet();
            for (int row = 0; row < ROWS; row++) {
              accept.set(row, random.nextDouble() < share);
            }
            int limit = random.nextBoolean() ? ROWS : random.nextInt(1, ROWS);
            BitSet eligible = (BitSet) accept.clone();
            eligible.clear(limit, Math.max(limit, ROWS));
            float[] query = source.get();
            TestIndexes.Answer answer =
                TestIndexes.ask(
                    searcher,
                    index,
                    data,
                    query,
                    K,
                    new Effort(100, 50, Traversal.FOUR),
                    accept,
                    limit,
                    Long.MAX_VALUE);
            assertThat(Arrays.stream(answer.ordinals)).allMatch(eligible::get);
            assertThat(answer.count).isEqualTo(Math.min(K, eligible.cardinality()));
            recall += data.recall(query, answer.ordinals, answer.count, K, eligible) / 20;
          }
          assertThat(recall).as("share %s", share).isGreaterThan(0.95);
        }
      }
    }
  }

  @Test
  void a_search_gives_up_at_the_number_of_rows_it_was_allowed(Seed seed) {
    RandomGenerator random = seed.random();
    try (Arena arena = Arena.ofShared()) {
      TestData data =
          TestData.of(
              arena,
              VectorType.FLOAT32,
              Metric.DOT,
              DIMENSION,
              ROWS,
              TestData.Shape.RANDOM,
              random);
      try (VectorIndex index = TestIndexes.build(data)) {
        GraphSearcher searcher = new GraphSearcher();
        BitSet none = new BitSet();
        TestIndexes.Answer answer =
            TestIndexes.ask(
                searcher,
                index,
                data,
                data.vectors.getFirst(),
                K,
                new Effort(100, 50, Traversal.FOUR),
                none,
                ROWS,
                500);
        assertThat(answer.gaveUp).isTrue();
        assertThat(answer.visited).isBetween(500L, 500L + 4 * 32);
        assertThat(answer.count).isZero();
      }
    }
  }
}
