// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The life of an index: growth, absent rows, image and back, who holds its memory. */
@Seeded
class VectorIndexTest {
  private static final int DIMENSION = 20;
  private static final Effort EFFORT = new Effort(100, 50, Traversal.FOUR);

  @Test
  void an_empty_index_finds_nothing() {
    IndexParameters parameters = IndexParameters.of(VectorType.FLOAT32, Metric.COSINE, 3);
    try (VectorIndex index = VectorIndex.empty(parameters, new float[3])) {
      CodeQuery query = new CodeQuery(parameters);
      query.set(new float[] {1, 2, 3}, 0);
      GraphSearcher searcher = new GraphSearcher();
      assertThat(
              searcher.search(index, query, EFFORT, 10, null, 0, Long.MAX_VALUE, StopCheck.NEVER))
          .isZero();
      assertThat(index.size()).isZero();
      assertThat(GraphConnector.connect(index)).isZero();
    }
  }

  @Test
  void rows_without_a_vector_are_never_found_and_do_not_hide_others(Seed seed) {
    RandomGenerator random = seed.random();
    int count = 400;
    try (Arena arena = Arena.ofShared()) {
      TestData data = data(arena, Metric.L2, count, random);
      BitSet present = new BitSet();
      IntStream.range(0, count).forEach(row -> present.set(row, random.nextInt(3) > 0));
      present.clear(0, 5);
      try (VectorIndex index = VectorIndex.empty(data.parameters(), data.centre())) {
        index.reserve(count);
        long[] bits = Arrays.copyOf(present.toLongArray(), TestIndexes.words(count));
        index.encode(0, data.rows, 0, count, bits, new long[count]);
        TestIndexes.insert(index, 0, count, 2);
        index.publish(count);
        GraphConnector.connect(index);
        GraphSearcher searcher = new GraphSearcher();
        int found =
            searcher.search(
                index,
                data.coded(data.vectors.getFirst()),
                EFFORT,
                count,
                null,
                count,
                Long.MAX_VALUE,
                StopCheck.NEVER);
        BitSet seen = new BitSet();
        Arrays.stream(searcher.hits()).limit(found).forEach(seen::set);
        assertThat(seen).isEqualTo(present);
      }
    }
  }

  @Test
  void rows_encoded_in_pieces_from_any_place_are_found(Seed seed) {
    RandomGenerator random = seed.random();
    int count = 600;
    try (Arena arena = Arena.ofShared()) {
      TestData data = data(arena, Metric.COSINE, count, random);
      try (VectorIndex index = VectorIndex.empty(data.parameters(), data.centre())) {
        for (int from = 0; from < count; ) {
          int to = Math.min(count, from + random.nextInt(1, 90));
          index.reserve(Math.max(index.capacity(), to + random.nextInt(50)));
          TestIndexes.encode(index, data, from, to);
          TestIndexes.insert(index, from, to, 1);
          index.publish(to);
          from = to;
        }
        assertFindsEachByItself(index, data, EFFORT);
      }
    }
  }

  @Test
  void an_image_answers_as_the_index_it_was_made_from(Seed seed) {
    RandomGenerator random = seed.random();
    for (Metric metric : Metric.values()) {
      VectorType type = metric == Metric.HAMMING ? VectorType.BINARY : VectorType.FLOAT32;
      try (Arena arena = Arena.ofShared();
          Arena mapped = Arena.ofShared()) {
        TestData data = TestData.of(arena, type, metric, 96, 800, TestData.Shape.CLUSTERED, random);
        AtomicInteger closed = new AtomicInteger();
        VectorIndex copy;
        try (VectorIndex index = TestIndexes.build(data)) {
          copy =
              VectorIndex.of(
                  copied(index.image(), segment -> copy(mapped, segment)), closed::incrementAndGet);
          GraphSearcher searcher = new GraphSearcher();
          for (Traversal traversal : List.of(Traversal.FOUR, Traversal.EIGHT)) {
            for (int i = 0; i < 50; i++) {
              CodeQuery query = data.coded(data.vectors.get(random.nextInt(data.count())));
              Effort effort = new Effort(30, 1, traversal);
              int count = search(searcher, index, query, effort);
              int[] hits = Arrays.copyOf(searcher.hits(), count);
              float[] estimates = Arrays.copyOf(searcher.estimates(), count);
              assertThat(search(searcher, copy, query, effort)).isEqualTo(count);
              assertThat(Arrays.copyOf(searcher.hits(), count)).isEqualTo(hits);
              assertThat(Arrays.copyOf(searcher.estimates(), count)).isEqualTo(estimates);
            }
          }
        }
        assertThat(closed).hasValue(0);
        copy.close();
        assertThat(closed).hasValue(1);
      }
    }
  }

  private static int search(
      GraphSearcher searcher, VectorIndex index, CodeQuery query, Effort effort) {
    return searcher.search(
        index, query, effort, 20, null, index.size(), Long.MAX_VALUE, StopCheck.NEVER);
  }

  private static IndexImage copied(IndexImage image, UnaryOperator<MemorySegment> copy) {
    return new IndexImage(
        image.parameters(),
        image.centre(),
        image.size(),
        image.entry(),
        image.entryLevel(),
        image.upperBlocks(),
        copy.apply(image.high()),
        image.low() == null ? null : copy.apply(image.low()),
        copy.apply(image.links()),
        copy.apply(image.levels()),
        copy.apply(image.upper()),
        null);
  }

  private static MemorySegment copy(Arena arena, MemorySegment segment) {
    return arena.allocate(Math.max(1, segment.byteSize()), 64).copyFrom(segment);
  }

  @Test
  void an_image_shorter_than_it_says_is_refused(Seed seed) {
    try (Arena arena = Arena.ofShared()) {
      TestData data = data(arena, Metric.DOT, 100, seed.random());
      try (VectorIndex index = TestIndexes.build(data)) {
        IndexImage image = index.image();
        IndexImage cut =
            copied(
                image, segment -> segment.asSlice(0, segment.byteSize() - segment.byteSize() / 9));
        assertThatThrownBy(() -> VectorIndex.of(cut, () -> {}))
            .isInstanceOf(IllegalArgumentException.class);
      }
    }
  }

  @Test
  void dropping_the_low_nibbles_gives_memory_back_and_leaves_4_bit_searches(Seed seed) {
    try (Arena arena = Arena.ofShared()) {
      TestData data = data(arena, Metric.COSINE, 300, seed.random());
      try (VectorIndex index = TestIndexes.build(data)) {
        long before = index.bytes();
        index.dropLow();
        assertThat(before - index.bytes()).isEqualTo(300L * 64);
        assertThat(index.image().low()).isNull();
        assertFindsEachByItself(index, data, EFFORT);
        assertThatThrownBy(
                () ->
                    TestIndexes.ask(
                        new GraphSearcher(),
                        index,
                        data,
                        data.vectors.getFirst(),
                        1,
                        new Effort(10, 10, Traversal.EIGHT)))
            .isInstanceOf(IllegalStateException.class);
      }
    }
  }

  @Test
  void memory_stays_while_somebody_holds_the_index_and_not_longer(Seed seed) {
    try (Arena arena = Arena.ofShared()) {
      TestData data = data(arena, Metric.L2, 200, seed.random());
      VectorIndex index = TestIndexes.build(data);
      assertThat(index.tryRetain()).isTrue();
      GraphMemory memory = index.acquire();
      index.reserve(1_000);
      index.close();
      assertFindsEachByItself(index, data, EFFORT);
      index.release();
      assertThat(index.tryRetain()).isFalse();
      assertThatThrownBy(
              () ->
                  TestIndexes.ask(
                      new GraphSearcher(), index, data, data.vectors.getFirst(), 1, EFFORT))
          .isInstanceOf(IllegalStateException.class);
      // The old memory outlives even the index, for the one who holds it.
      assertThat(memory.capacity).isEqualTo(200);
      assertThat(memory.tryRetain()).isTrue();
      memory.release();
      memory.release();
      assertThat(memory.tryRetain()).isFalse();
    }
  }

  @Test
  void components_of_any_size_do_no_harm(Seed seed) {
    RandomGenerator random = seed.random();
    for (Metric metric : new Metric[] {Metric.COSINE, Metric.DOT, Metric.L2}) {
      try (Arena arena = Arena.ofShared()) {
        TestData data =
            TestData.of(
                arena,
                VectorType.FLOAT32,
                metric,
                DIMENSION,
                300,
                () -> TestData.gaussian(DIMENSION, magnitude(random), random));
        try (VectorIndex index = TestIndexes.build(data)) {
          GraphConnector.connect(index);
          GraphSearcher searcher = new GraphSearcher();
          for (int row = 0; row < data.count(); row++) {
            int count =
                searcher.search(
                    index,
                    data.coded(data.vectors.get(row)),
                    EFFORT,
                    data.count(),
                    null,
                    data.count(),
                    Long.MAX_VALUE,
                    StopCheck.NEVER);
            assertThat(count).isEqualTo(data.count());
          }
        }
      }
    }
  }

  private static float magnitude(RandomGenerator random) {
    return Math.scalb(1f, random.nextInt(-120, 120));
  }

  private static TestData data(Arena arena, Metric metric, int count, RandomGenerator random) {
    return TestData.of(
        arena, VectorType.FLOAT32, metric, DIMENSION, count, TestData.Shape.RANDOM, random);
  }

  private static void assertFindsEachByItself(VectorIndex index, TestData data, Effort effort) {
    GraphSearcher searcher = new GraphSearcher();
    int missed = 0;
    for (int row = 0; row < data.count(); row++) {
      TestIndexes.Answer answer =
          TestIndexes.ask(searcher, index, data, data.vectors.get(row), 1, effort);
      missed += answer.count == 1 && answer.ordinals[0] == row ? 0 : 1;
    }
    assertThat(missed).as("of %d", data.count()).isLessThanOrEqualTo(data.count() / 200);
  }
}
