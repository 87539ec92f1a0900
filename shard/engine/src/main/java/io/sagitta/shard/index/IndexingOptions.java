// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import io.sagitta.model.VectorField;
import java.util.Objects;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.LongSupplier;

/**
 * How a shard builds graphs.
 *
 * @param executor runs builds, shared by all shards of a node; its threads are what builds may take
 *     of the machine
 * @param workers threads that may insert into one graph at a time
 * @param scanBytes a field of a segment whose vectors take no more than this is always scanned:
 *     exact, and hardly slower
 * @param sliceRows rows that are inserted in one step; also how many a growing segment's graph may
 *     lag behind while nothing else is to do
 * @param nanoTime the clock by which searches are sampled
 * @param cpuTime nanoseconds that the calling thread has had of its processor, by which ways to
 *     search are compared: it stands still while others run
 */
public record IndexingOptions(
    ScheduledExecutorService executor,
    int workers,
    long scanBytes,
    int sliceRows,
    LongSupplier nanoTime,
    LongSupplier cpuTime) {
  /** Scanned in some half a millisecond. */
  public static final long SCAN_BYTES = 8 << 20;

  /** Some tenths of a second of one thread's work. */
  public static final int SLICE_ROWS = 1_024;

  /** A graph over fewer rows cannot be measured. */
  private static final int ROWS_MIN = 8;

  public IndexingOptions {
    Objects.requireNonNull(executor);
    Objects.requireNonNull(nanoTime);
    Objects.requireNonNull(cpuTime);
    if (workers < 1 || scanBytes < 0 || sliceRows < 1) {
      throw new IllegalArgumentException(
          "workers " + workers + ", scanBytes " + scanBytes + ", sliceRows " + sliceRows);
    }
  }

  /** With the usual sizes. */
  public IndexingOptions(
      ScheduledExecutorService executor, int workers, LongSupplier nanoTime, LongSupplier cpuTime) {
    this(executor, workers, SCAN_BYTES, SLICE_ROWS, nanoTime, cpuTime);
  }

  /** Rows from which on a field of a segment gets a graph. */
  int rowsMin(VectorField field) {
    return (int) Math.max(ROWS_MIN, Math.min(Integer.MAX_VALUE, scanBytes / field.vectorBytes()));
  }
}
