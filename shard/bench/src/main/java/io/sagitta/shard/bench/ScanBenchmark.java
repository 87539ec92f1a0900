// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.bench;

import io.sagitta.model.VectorType;
import io.sagitta.shard.distance.Scorer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * One query against all rows: the scorer as it is, and what a free order of addition would save.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class ScanBenchmark {

  /** Both must score right before they are timed. */
  @Setup
  public void check(Vectors vectors) {
    int last = vectors.rows.count() - 1;
    int from = Math.max(0, last + 1 - Vectors.BLOCK);
    Scorer.score(vectors.query, vectors.rows, from, last + 1, vectors.out, 0);
    for (int row = from; row <= last; row++) {
      vectors.check(row, vectors.out[row - from]);
    }
    if (vectors.type == VectorType.FLOAT32) {
      UnorderedDot.score(vectors.memory, vectors.dim, vectors.values, 0, 4, vectors.out);
      for (int row = 0; row < 4; row++) {
        vectors.check(row, vectors.out[row]);
      }
    }
  }

  /** The canonical arithmetic, with the kernels that the JVM was started with. */
  @Benchmark
  public float[] canonical(Vectors vectors, Vectors.Cost cost) {
    int count = vectors.rows.count();
    for (int pass = 0; pass < vectors.passes; pass++) {
      for (int from = 0; from < count; from += Vectors.BLOCK) {
        int to = Math.min(count, from + Vectors.BLOCK);
        Scorer.score(vectors.query, vectors.rows, from, to, vectors.out, 0);
      }
    }
    cost.scored(count * vectors.passes);
    return vectors.out;
  }

  /** Several accumulators a row and {@code reduceLanes}: float32 only. */
  @Benchmark
  public float[] unordered(Vectors vectors, Vectors.Cost cost) {
    int count = vectors.rows.count();
    for (int pass = 0; pass < vectors.passes; pass++) {
      for (int from = 0; from < count; from += Vectors.BLOCK) {
        int to = Math.min(count, from + Vectors.BLOCK);
        UnorderedDot.score(vectors.memory, vectors.dim, vectors.values, from, to, vectors.out);
      }
    }
    cost.scored(count * vectors.passes);
    return vectors.out;
  }
}
