// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.model.Metric;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.shard.distance.InverseNorms;
import io.sagitta.shard.distance.VectorRows;
import io.sagitta.shard.hnsw.Calibration;
import io.sagitta.shard.hnsw.Effort;
import io.sagitta.shard.hnsw.GraphBuilder;
import io.sagitta.shard.hnsw.IndexParameters;
import io.sagitta.shard.hnsw.NeighbourCoding;
import io.sagitta.shard.hnsw.StopCheck;
import io.sagitta.shard.hnsw.Traversal;
import io.sagitta.shard.hnsw.VectorIndex;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class NeighbourStepTest {
  private static final int ROWS = 800;
  private static final int DIM = 24;

  private final Arena arena = Arena.ofShared();
  private ScheduledExecutorService executor;

  @BeforeEach
  void start() {
    executor = Executors.newScheduledThreadPool(1);
  }

  @AfterEach
  void stop() {
    executor.shutdownNow();
    arena.close();
  }

  @Test
  void codesOfNeighboursStayWhereSearchesAreFasterWithThem() {
    try (VectorIndex graph = graph(Metric.COSINE)) {
      step(graph, Metric.COSINE, Traversal.FOUR, clock(300, 200), StopCheck.NEVER).take();
      assertThat(graph.hasNeighbourCodes()).isTrue();
    }
  }

  @Test
  void theyGoWhereSearchesAreNoFaster() {
    try (VectorIndex graph = graph(Metric.DOT)) {
      long before = graph.bytes();
      step(graph, Metric.DOT, Traversal.FOUR, clock(200, 200), StopCheck.NEVER).take();
      assertThat(graph.hasNeighbourCodes()).isFalse();
      assertThat(graph.bytes()).isEqualTo(before);
    }
  }

  @Test
  void theyAreNotTriedWhereTheyCannotPay() {
    try (VectorIndex cosine = graph(Metric.COSINE);
        VectorIndex l2 = graph(Metric.L2)) {
      assertThat(bytes(cosine, Metric.COSINE, Traversal.FOUR, ROWS))
          .isEqualTo(NeighbourCoding.bytes(cosine.parameters(), ROWS))
          .isPositive();
      assertThat(bytes(cosine, Metric.COSINE, Traversal.FOUR, ROWS + 1)).isZero();
      assertThat(bytes(cosine, Metric.COSINE, Traversal.EIGHT, ROWS)).isZero();
      assertThat(bytes(l2, Metric.L2, Traversal.FOUR, ROWS)).isZero();
    }
    assertThat(NeighbourCoding.mayPay(IndexParameters.of(VectorType.FLOAT32, Metric.COSINE, 384)))
        .isFalse();
    assertThat(NeighbourCoding.mayPay(IndexParameters.of(VectorType.BINARY, Metric.HAMMING, 100)))
        .isFalse();
  }

  @Test
  void aNodeThatStopsDoesNotWaitForThem() {
    AtomicInteger asked = new AtomicInteger();
    StopCheck soon =
        () -> {
          if (asked.incrementAndGet() > 24_100) { // In the midst of the coding.
            throw new IndexingStopped();
          }
        };
    try (VectorIndex graph = graph(Metric.COSINE)) {
      NeighbourStep step = step(graph, Metric.COSINE, Traversal.FOUR, clock(2, 1), soon);
      assertThatThrownBy(step::take).isInstanceOf(IndexingStopped.class);
      assertThat(graph.hasNeighbourCodes()).isFalse();
    }
  }

  private long bytes(VectorIndex graph, Metric metric, Traversal traversal, int rowsMin) {
    return new NeighbourStep(
            target(graph, metric, traversal), rowsMin, options(() -> 0), StopCheck.NEVER)
        .bytesNeeded();
  }

  private NeighbourStep step(
      VectorIndex graph, Metric metric, Traversal traversal, LongSupplier clock, StopCheck stop) {
    return new NeighbourStep(target(graph, metric, traversal), 1, options(clock), stop);
  }

  private IndexingOptions options(LongSupplier clock) {
    return new IndexingOptions(executor, 2, 0, 256, () -> 0, clock);
  }

  private static FieldIndex target(VectorIndex graph, Metric metric, Traversal traversal) {
    FieldIndex target =
        new FieldIndex(1, new VectorField(1, "v", VectorType.FLOAT32, DIM, metric, false), graph);
    target.calibrated(
        new Calibration(
            ROWS,
            100,
            List.of(new Calibration.Step(10, new Effort(200, 40, traversal), 0.99, 300))));
    return target;
  }

  /** On which every other pass takes so long, and those between so long. */
  private static LongSupplier clock(long without, long with) {
    AtomicInteger asked = new AtomicInteger();
    long[] now = {0};
    return () ->
        switch (asked.getAndIncrement() & 3) {
          case 1 -> now[0] += without;
          case 3 -> now[0] += with;
          default -> now[0];
        };
  }

  private VectorIndex graph(Metric metric) {
    SplittableRandom random = new SplittableRandom(42);
    MemorySegment memory = arena.allocate((long) ROWS * DIM * Float.BYTES + 64, 64);
    for (int i = 0; i < ROWS * DIM; i++) {
      memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) random.nextGaussian());
    }
    VectorRows rows = VectorRows.packed(VectorType.FLOAT32, DIM, ROWS, memory);
    MemorySegment norms = arena.allocate((long) ROWS * Float.BYTES, 64);
    InverseNorms.fill(rows, 0, ROWS, norms);
    VectorIndex index =
        VectorIndex.empty(IndexParameters.of(VectorType.FLOAT32, metric, DIM), new float[DIM]);
    index.reserve(ROWS);
    index.encode(0, rows.withInverseNorms(norms), 0, ROWS, null, random.longs(ROWS).toArray());
    GraphBuilder builder = new GraphBuilder(index);
    for (int row = 0; row < ROWS; row++) {
      builder.insert(row);
    }
    index.publish(ROWS);
    return index;
  }
}
