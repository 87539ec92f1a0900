// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import io.sagitta.shard.distance.NativeMemory;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Searches while rows are encoded and inserted, and the index grows. */
@Seeded
class ConcurrentBuildTest {
  private static final int ROWS = 6_000;
  private static final int PIECE = 500;
  private static final int DIMENSION = 24;

  @Test
  void searches_find_what_is_published_while_workers_insert(Seed seed) {
    try (Arena arena = Arena.ofShared()) {
      Supplier<float[]> source =
          TestData.source(VectorType.FLOAT32, TestData.Shape.CLUSTERED, DIMENSION, seed.random());
      TestData data = TestData.of(arena, VectorType.FLOAT32, Metric.L2, DIMENSION, ROWS, source);
      try (VectorIndex index = VectorIndex.empty(data.parameters(), data.centre())) {
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger asked = new AtomicInteger();
        AtomicInteger missed = new AtomicInteger();
        AtomicInteger role = new AtomicInteger();
        Callable<Void> coordinator =
            () -> {
              for (int from = 0; from < ROWS; from += PIECE) {
                index.reserve(from + PIECE);
                TestIndexes.encode(index, data, from, from + PIECE);
                TestIndexes.insert(index, from, from + PIECE, 3);
                index.publish(from + PIECE);
              }
              done.set(true);
              return null;
            };
        TestIndexes.runAll(
            3,
            () -> {
              int mine = role.getAndIncrement();
              if (mine == 0) {
                return coordinator.call();
              }
              RandomGenerator random = seed.branch("searcher " + mine).random();
              searchUntil(done, index, data, random, asked, missed);
              return null;
            });
        assertThat(asked.get()).isPositive();
        assertThat(missed.get())
            .as("of %d", asked.get())
            .isLessThanOrEqualTo(1 + asked.get() / 200);
      }
    }
  }

  private static void searchUntil(
      AtomicBoolean done,
      VectorIndex index,
      TestData data,
      RandomGenerator random,
      AtomicInteger asked,
      AtomicInteger missed) {
    GraphSearcher searcher = new GraphSearcher();
    do {
      int size = index.size();
      if (size == 0) {
        continue;
      }
      int row = random.nextInt(size);
      TestIndexes.Answer answer =
          TestIndexes.ask(
              searcher,
              index,
              data,
              data.vectors.get(row),
              5,
              new Effort(80, 40, Traversal.FOUR),
              null,
              size,
              Long.MAX_VALUE);
      boolean found = false;
      for (int ordinal : answer.ordinals) {
        assertThat(ordinal).isBetween(0, size - 1);
        found |= ordinal == row;
      }
      assertThat(answer.ordinals).doesNotHaveDuplicates();
      asked.incrementAndGet();
      missed.addAndGet(found ? 0 : 1);
    } while (!done.get());
  }

  @Test
  void links_of_a_graph_built_by_many_are_sound(Seed seed) {
    try (Arena arena = Arena.ofShared()) {
      TestData data =
          TestData.of(
              arena,
              VectorType.FLOAT32,
              Metric.COSINE,
              DIMENSION,
              ROWS,
              TestData.Shape.COPIES,
              seed.random());
      try (VectorIndex index = TestIndexes.build(data, 8, data.centre())) {
        GraphMemory memory = index.acquire();
        int[] links = new int[memory.width];
        for (int row = 0; row < ROWS; row++) {
          for (int level = 0; level <= memory.level(row); level++) {
            long list = memory.list(row, level);
            int length = GraphMemory.length(list, memory.width(level));
            for (int i = 0; i < length; i++) {
              links[i] = NativeMemory.intAt(list + 4L * i);
              assertThat(links[i]).isBetween(0, ROWS - 1).isNotEqualTo(row);
              assertThat(memory.level(links[i])).isGreaterThanOrEqualTo(level);
            }
            assertThat(Arrays.copyOf(links, length)).doesNotHaveDuplicates();
          }
        }
        memory.release();
      }
    }
  }
}
