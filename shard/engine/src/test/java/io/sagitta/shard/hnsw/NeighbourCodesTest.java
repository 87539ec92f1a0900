// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import io.sagitta.shard.distance.CodeScorer;
import io.sagitta.shard.distance.QueryPlanes;
import java.lang.foreign.Arena;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Seeded
class NeighbourCodesTest {
  private static final int ROWS = 4_000;
  private static final int DIMENSION = 48;
  private static final int K = 10;
  private static final Effort EFFORT = new Effort(100, 40, Traversal.FOUR);

  static void codeNeighbours(VectorIndex index, NeighbourCoding coding) {
    NeighbourCoding.Writer writer = coding.writer();
    for (int row = 0; row < index.size(); row++) {
      writer.write(row);
    }
    coding.show();
  }

  static void codeNeighbours(VectorIndex index) {
    try (NeighbourCoding coding = NeighbourCoding.begin(index, StopCheck.NEVER).orElseThrow()) {
      codeNeighbours(index, coding);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Metric.class,
      names = {"COSINE", "DOT"})
  void distances_are_linear_in_rows(Metric metric, Seed seed) {
    RandomGenerator random = seed.random();
    try (Arena arena = Arena.ofShared()) {
      TestData data = data(arena, metric, 200, TestData.Shape.CLUSTERED, random);
      try (VectorIndex index = TestIndexes.build(data)) {
        GraphMemory memory = index.acquire();
        CodeQuery query = data.coded(data.vectors.getFirst());
        QueryPlanes planes = new QueryPlanes(GraphMemory.layout(data.parameters()));
        index.space().planes(query, new float[DIMENSION], planes);
        int[] all = IntStream.range(0, 200).toArray();
        float[] distances = new float[200];
        CodeScorer.eight(memory.rows, planes, all, 200, distances);
        float[] weights = new float[DIMENSION];
        double length = index.space().weights(query, weights);
        double squares = 0;
        for (float weight : weights) {
          squares += weight * weight;
        }
        assertThat(length).isCloseTo(Math.sqrt(squares), within(1e-4 * length));
        float[] a = new float[DIMENSION];
        float[] b = new float[DIMENSION];
        for (int row = 1; row < 200; row++) {
          memory.rows.decode(row - 1, a);
          memory.rows.decode(row, b);
          double product = 0;
          for (int i = 0; i < DIMENSION; i++) {
            product += weights[i] * (b[i] - a[i]);
          }
          // The query of planes is rounded; the rows are the same codes. Under cosine a row's
          // code is not quite of length 1, as its distance takes it to be.
          double scale = Math.abs(distances[row]) + Math.abs(distances[row - 1]) + 1;
          assertThat(distances[row] - distances[row - 1])
              .isCloseTo((float) -product, within((float) (0.02 * scale)));
        }
        memory.release();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Metric.class,
      names = {"COSINE", "DOT"})
  void fewer_rows_are_scored_and_as_many_of_the_best_are_found(Metric metric, Seed seed) {
    for (TestData.Shape shape : TestData.Shape.values()) {
      RandomGenerator random = seed.random();
      try (Arena arena = Arena.ofShared()) {
        Supplier<float[]> source = TestData.source(VectorType.FLOAT32, shape, DIMENSION, random);
        TestData data = TestData.of(arena, VectorType.FLOAT32, metric, DIMENSION, ROWS, source);
        try (VectorIndex index = TestIndexes.build(data)) {
          GraphConnector.connect(index);
          codeNeighbours(index);
          GraphSearcher with = new GraphSearcher();
          GraphSearcher without = new GraphSearcher(false);
          double found = 0;
          double foundWithout = 0;
          long visited = 0;
          long visitedWithout = 0;
          int queries = 100;
          for (int q = 0; q < queries; q++) {
            float[] query = source.get();
            TestIndexes.Answer answer = TestIndexes.ask(with, index, data, query, K, EFFORT);
            TestIndexes.Answer plain = TestIndexes.ask(without, index, data, query, K, EFFORT);
            found += recall(data, query, answer);
            foundWithout += recall(data, query, plain);
            visited += answer.visited;
            visitedWithout += plain.visited;
          }
          String what = metric + " over " + shape;
          assertThat(found / queries).as(what).isGreaterThan(foundWithout / queries - 0.015);
          assertThat(visited).as(what).isLessThan(visitedWithout);
        }
      }
    }
  }

  @Test
  void under_a_filter_all_that_match_are_found(Seed seed) {
    RandomGenerator random = seed.random();
    try (Arena arena = Arena.ofShared()) {
      TestData data = data(arena, Metric.COSINE, ROWS, TestData.Shape.CLUSTERED, random);
      try (VectorIndex index = TestIndexes.build(data)) {
        codeNeighbours(index);
        BitSet accept = new BitSet(ROWS);
        IntStream.range(0, ROWS / 4).forEach(i -> accept.set(random.nextInt(ROWS)));
        GraphSearcher searcher = new GraphSearcher();
        for (int q = 0; q < 20; q++) {
          TestIndexes.Answer answer =
              TestIndexes.ask(
                  searcher,
                  index,
                  data,
                  data.vectors.get(random.nextInt(ROWS)),
                  K,
                  EFFORT,
                  accept,
                  ROWS,
                  Long.MAX_VALUE);
          assertThat(answer.count).isEqualTo(K);
          assertThat(IntStream.of(answer.ordinals)).allMatch(accept::get);
        }
      }
    }
  }

  @Test
  void rows_without_a_vector_and_lone_rows_do_no_harm(Seed seed) {
    try (Arena arena = Arena.ofShared()) {
      TestData data = data(arena, Metric.COSINE, 1, TestData.Shape.RANDOM, seed.random());
      try (VectorIndex index = TestIndexes.build(data)) {
        assertThat(NeighbourCoding.begin(index, StopCheck.NEVER)).isEmpty();
      }
      TestData more = data(arena, Metric.COSINE, 300, TestData.Shape.RANDOM, seed.random());
      try (VectorIndex index = VectorIndex.empty(more.parameters(), more.centre())) {
        index.reserve(300);
        long[] present = new long[TestIndexes.words(300)];
        IntStream.range(0, 300).filter(i -> i % 3 != 0).forEach(i -> present[i >> 6] |= 1L << i);
        index.encode(0, more.rows, 0, 300, present, new long[300]);
        TestIndexes.insert(index, 0, 300, 1);
        index.publish(300);
        codeNeighbours(index);
        TestIndexes.Answer answer =
            TestIndexes.ask(
                new GraphSearcher(),
                index,
                more,
                more.vectors.get(0),
                200,
                new Effort(300, 300, Traversal.FOUR));
        assertThat(answer.count).isEqualTo(200);
        assertThat(IntStream.of(answer.ordinals)).allMatch(row -> row % 3 != 0);
      }
    }
  }

  @Test
  void a_graph_with_codes_of_neighbours_takes_no_more_rows(Seed seed) {
    try (Arena arena = Arena.ofShared()) {
      TestData data = data(arena, Metric.DOT, 200, TestData.Shape.RANDOM, seed.random());
      try (VectorIndex index = TestIndexes.build(data)) {
        codeNeighbours(index);
        assertThatThrownBy(() -> new GraphBuilder(index).insert(0))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("complete");
      }
    }
  }

  @Test
  void a_trial_keeps_what_is_faster_and_finds_the_same(Seed seed) {
    try (Arena arena = Arena.ofShared()) {
      TestData data = data(arena, Metric.COSINE, 2_000, TestData.Shape.RANDOM, seed.random());
      try (VectorIndex index = TestIndexes.build(data);
          NeighbourCoding coding = NeighbourCoding.begin(index, StopCheck.NEVER).orElseThrow()) {
        codeNeighbours(index, coding);
        NeighbourTrial.Outcome twice = trial(index, 200, 100).run();
        assertThat(twice.gain()).isEqualTo(2);
        // Of 10,240 rows asked for: the share is known to some 0.002.
        assertThat(twice.loss()).isBetween(-0.015, 0.015);
        assertThat(trial(index, 104, 100).run().pays()).isFalse();
        assertThat(new NeighbourTrial.Outcome(2, 0.001).pays()).isTrue();
        assertThat(new NeighbourTrial.Outcome(2, 0.01).pays()).isFalse();
        long bytes = index.bytes();
        coding.hide();
        assertThat(index.hasNeighbourCodes()).isFalse();
        assertThat(bytes - index.bytes())
            .isEqualTo(NeighbourCoding.bytes(index.parameters(), 2_000));
      }
    }
  }

  /** By a clock on which every other pass takes so long, and those between so long. */
  private static NeighbourTrial trial(VectorIndex index, long without, long with) {
    AtomicInteger asked = new AtomicInteger();
    long[] now = {0};
    return new NeighbourTrial(
        index,
        EFFORT,
        () ->
            switch (asked.getAndIncrement() & 3) {
              case 1 -> now[0] += without;
              case 3 -> now[0] += with;
              default -> now[0];
            },
        StopCheck.NEVER);
  }

  private static TestData data(
      Arena arena, Metric metric, int rows, TestData.Shape shape, RandomGenerator random) {
    return TestData.of(arena, VectorType.FLOAT32, metric, DIMENSION, rows, shape, random);
  }

  private static double recall(TestData data, float[] query, TestIndexes.Answer answer) {
    return data.recall(query, answer.ordinals, answer.count, K, data.all());
  }
}
