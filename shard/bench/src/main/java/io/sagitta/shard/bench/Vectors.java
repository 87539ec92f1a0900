// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.bench;

import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.VectorRows;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Rows of seeded vectors, and a query, of one type and dimension. */
@State(Scope.Thread)
public class Vectors {
  /** Rows scored per call: their scores stay in the first-level cache. */
  static final int BLOCK = 1_024;

  private static final long CACHE_BYTES = 24 << 10;
  private static final long STREAM_BYTES = 128 << 20;

  @Param({"100", "384"})
  int dim;

  @Param({"FLOAT32", "FLOAT16", "BFLOAT16", "INT8"})
  VectorType type;

  /**
   * {@code cache}: rows that fit the first level. {@code stream}: more than the last level holds.
   */
  @Param({"cache", "stream"})
  String where;

  VectorRows rows;
  MemorySegment memory;
  PreparedQuery query;
  float[] values;

  /** Scans per invocation, so that reading the clock weighs nothing. */
  int passes;

  final float[] out = new float[BLOCK];

  /** Lays out the rows. */
  @Setup
  public void fill() {
    SplittableRandom random = new SplittableRandom(42);
    int bytes = type.bytes(dim);
    int count = (int) ((where.equals("cache") ? CACHE_BYTES : STREAM_BYTES) / bytes) & -4;
    memory = Arena.ofAuto().allocate((long) count * bytes + 64, 64);
    passes = where.equals("cache") ? 1_000 : 1;
    values = new float[dim];
    for (int i = 0; i < dim; i++) {
      values[i] = component(random.nextInt(-100, 100));
    }
    for (long i = 0; i < (long) count * dim; i++) {
      put(i, random.nextInt(-100, 100));
    }
    rows = VectorRows.packed(type, dim, count, memory);
    query = PreparedQuery.of(type, Metric.DOT, dim, values, 0);
  }

  /**
   * Fails unless {@code score} is the dot product of the query and a row, within 1e-5 of lengths.
   */
  void check(int row, float score) {
    double dot = 0;
    double squares = 0;
    double querySquares = 0;
    for (int i = 0; i < dim; i++) {
      double component = get((long) row * dim + i);
      dot += values[i] * component;
      squares += component * component;
      querySquares += values[i] * values[i];
    }
    if (!(Math.abs(dot - score) <= 1e-5 * Math.sqrt(squares * querySquares))) {
      throw new IllegalStateException("row " + row + " scored " + score + ", expected " + dot);
    }
  }

  /** Exact in every type: whole numbers for bytes, otherwise 64ths of at most 7 bits. */
  private float component(int n) {
    return type == VectorType.INT8 ? n : n / 64f;
  }

  private void put(long i, int n) {
    float value = component(n);
    switch (type) {
      case FLOAT32 -> memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
      case FLOAT16 -> memory.setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16(value));
      case BFLOAT16 ->
          memory.setAtIndex(
              ValueLayout.JAVA_SHORT, i, (short) (Float.floatToRawIntBits(value) >>> 16));
      case INT8 -> memory.set(ValueLayout.JAVA_BYTE, i, (byte) n);
      case UINT8, BINARY -> throw new IllegalArgumentException(type + " is not measured");
    }
  }

  private float get(long i) {
    return switch (type) {
      case FLOAT32 -> memory.getAtIndex(ValueLayout.JAVA_FLOAT, i);
      case FLOAT16 -> Float.float16ToFloat(memory.getAtIndex(ValueLayout.JAVA_SHORT, i));
      case BFLOAT16 ->
          Float.intBitsToFloat(memory.getAtIndex(ValueLayout.JAVA_SHORT, i) << Short.SIZE);
      case INT8 -> memory.get(ValueLayout.JAVA_BYTE, i);
      case UINT8, BINARY -> throw new IllegalArgumentException(type + " is not measured");
    };
  }

  /** Rows scored and processor time used, which on a busy machine says more than the clock does. */
  @AuxCounters(AuxCounters.Type.EVENTS)
  @State(Scope.Thread)
  public static class Cost {
    /** Rows scored in this iteration. */
    public long rows;

    /** Processor time of this iteration in nanoseconds. */
    public long cpuNanos;

    private long startNanos;

    /** Starts the clock of an iteration. */
    @Setup(Level.Iteration)
    public void start() {
      rows = 0;
      cpuNanos = 0;
      startNanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /** Called at the end of every invocation: there is no hook before counters are read. */
    void scored(int count) {
      rows += count;
      cpuNanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - startNanos;
    }
  }
}
