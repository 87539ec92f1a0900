// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a measurement promises against what fresh queries get. */
@Seeded
class CalibratorTest {
  private static final int ROWS = 3_000;
  private static final int DIMENSION = 48;
  private static final int MEASURED = 800;
  private static final int FRESH = 300;
  private static final int K = 10;

  /** How often vectors repeat. */
  enum Repeats {
    NEVER,
    /** All but every eighth row are one vector. */
    ONE_VECTOR,
    /** Each vector is there some thirty times. */
    EVERY_VECTOR
  }

  @ParameterizedTest
  @EnumSource(Repeats.class)
  void a_promised_recall_is_kept_also_among_copies(Repeats repeats, Seed seed) {
    RandomGenerator random = seed.random();
    Supplier<float[]> fresh =
        TestData.source(VectorType.FLOAT32, TestData.Shape.CLUSTERED, DIMENSION, random);
    Supplier<float[]> source = repeating(repeats, fresh, random);
    try (Arena arena = Arena.ofShared()) {
      TestData data =
          TestData.of(arena, VectorType.FLOAT32, Metric.COSINE, DIMENSION, ROWS, source);
      try (VectorIndex index = TestIndexes.build(data)) {
        GraphConnector.connect(index);
        // As an engine has them: rows held out, so mostly copies where rows are, and points
        // between.
        List<float[]> like = new ArrayList<>();
        List<float[]> between = new ArrayList<>();
        for (int i = 0; i < MEASURED; i++) {
          like.add(source.get());
          between.add(between(source.get(), source.get()));
        }
        long[] present = new long[TestIndexes.words(ROWS)];
        Arrays.fill(present, -1);
        Calibration calibration =
            new Calibrator(index, data.exactRows(), present, ROWS, StopCheck.NEVER)
                .measure(List.of(like, between));
        for (double wanted : new double[] {0.9, 0.95}) {
          Calibration.Choice choice = calibration.choose(K, wanted, ROWS).orElseThrow();
          assertThat(recall(index, data, fresh, choice))
              .as("recall for %s, by %s", wanted, choice)
              .isGreaterThan(wanted - 0.03);
          assertThat(recall(index, data, source, choice))
              .as("recall of rows' like for %s, by %s", wanted, choice)
              .isGreaterThan(wanted - 0.03);
          Supplier<float[]> amid = () -> between(source.get(), source.get());
          assertThat(recall(index, data, amid, choice))
              .as("recall of points between rows for %s, by %s", wanted, choice)
              .isGreaterThan(wanted - 0.03);
        }
      }
    }
  }

  @Test
  void queries_that_are_like_no_row_get_their_recall_and_the_others_do_not_pay(Seed seed) {
    RandomGenerator random = seed.random();
    Supplier<float[]> source =
        TestData.source(VectorType.FLOAT32, TestData.Shape.CLUSTERED, DIMENSION, random);
    try (Arena arena = Arena.ofShared()) {
      TestData data =
          TestData.of(arena, VectorType.FLOAT32, Metric.COSINE, DIMENSION, ROWS, source);
      try (VectorIndex index = TestIndexes.build(data)) {
        GraphConnector.connect(index);
        List<float[]> like = new ArrayList<>();
        List<float[]> between = new ArrayList<>();
        for (int i = 0; i < MEASURED; i++) {
          like.add(source.get());
          between.add(between(source.get(), source.get()));
        }
        long[] present = new long[TestIndexes.words(ROWS)];
        Arrays.fill(present, -1);
        Calibrator calibrator =
            new Calibrator(index, data.exactRows(), present, ROWS, StopCheck.NEVER);
        Calibration calibration = calibrator.measure(List.of(like, between));
        assertThat(calibration.far()).isFinite();
        Calibration.Choice choice = calibration.choose(K, 0.95, ROWS).orElseThrow();
        Supplier<float[]> amid = () -> between(source.get(), source.get());
        assertThat(choice.farEffort()).isPresent();
        assertThat(recall(index, data, amid, choice)).isGreaterThan(0.92);
        assertThat(recall(index, data, source, choice)).isGreaterThan(0.92);
        // Apart from each other they need less than what serves both.
        Calibration rowsOnly = calibrator.measure(List.of(like));
        assertThat(choice.effort().ef())
            .isLessThanOrEqualTo(2 * rowsOnly.choose(K, 0.95, ROWS).orElseThrow().effort().ef());
        assertThat(choice.farEffort().get().ef()).isGreaterThan(choice.effort().ef());
      }
    }
  }

  @Test
  void without_queries_nothing_is_promised(Seed seed) {
    Supplier<float[]> source =
        TestData.source(VectorType.FLOAT32, TestData.Shape.RANDOM, DIMENSION, seed.random());
    try (Arena arena = Arena.ofShared()) {
      TestData data = TestData.of(arena, VectorType.FLOAT32, Metric.COSINE, DIMENSION, 100, source);
      try (VectorIndex index = TestIndexes.build(data)) {
        Calibration calibration =
            new Calibrator(index, data.exactRows(), new long[2], 100, StopCheck.NEVER)
                .measure(List.of(List.of(), List.of()));
        assertThat(calibration.steps()).isEmpty();
        assertThat(calibration.choose(K, 0.9, 100)).isEmpty();
      }
    }
  }

  private static Supplier<float[]> repeating(
      Repeats repeats, Supplier<float[]> fresh, RandomGenerator random) {
    return switch (repeats) {
      case NEVER -> fresh;
      case ONE_VECTOR -> {
        float[] same = fresh.get();
        yield () -> random.nextInt(8) == 0 ? fresh.get() : same;
      }
      case EVERY_VECTOR -> {
        float[][] all = new float[ROWS / 30][];
        Arrays.setAll(all, i -> fresh.get());
        yield () -> all[random.nextInt(all.length)];
      }
    };
  }

  private static float[] between(float[] a, float[] b) {
    float[] middle = new float[a.length];
    for (int i = 0; i < a.length; i++) {
      middle[i] = (a[i] + b[i]) / 2;
    }
    return middle;
  }

  private static double recall(
      VectorIndex index, TestData data, Supplier<float[]> queries, Calibration.Choice choice) {
    GraphSearcher searcher = new GraphSearcher();
    double recall = 0;
    for (int i = 0; i < FRESH; i++) {
      float[] query = queries.get();
      TestIndexes.Answer answer = TestIndexes.ask(searcher, index, data, query, K, choice);
      recall += data.recall(query, answer.ordinals, answer.count, K, data.all()) / FRESH;
    }
    return recall;
  }
}
