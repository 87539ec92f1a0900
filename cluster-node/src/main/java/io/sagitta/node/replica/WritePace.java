// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import io.sagitta.shard.index.IndexLag;

/**
 * Slows a shard's writers down, instead of refusing them, while its graphs are far behind: rows
 * without a graph are scanned by every search.
 *
 * <p>Up to {@link #FROM_BYTES} of vectors that wait for their graph, writes go at full speed. From
 * there on each has to be paid for with a share of the time that indexing its rows takes, which
 * grows to the whole at {@link #FULL_BYTES}: at that point rows come as fast as they are indexed.
 * The price of a write is paid by the next ones, so a single write now and then never waits; one
 * that came later never starts before one that came earlier.
 *
 * <p>Any thread.
 */
final class WritePace {
  /** Scanned in some 30 ms. */
  static final long FROM_BYTES = 256L << 20;

  static final long FULL_BYTES = 1L << 30;

  /** Where nothing is known yet, or the machine is hopelessly busy: writers are never stopped. */
  static final double BYTES_PER_SECOND_MIN = 1 << 20;

  private static final double NANOS = 1e9;

  /** When the next write may start. */
  private long nextNanos;

  private boolean started;

  /**
   * How long a write waits before it is proposed.
   *
   * @param rows it brings
   * @param nowNanos the same clock in every call
   * @param pauseMaxNanos the most it may wait
   */
  synchronized long pauseNanos(int rows, IndexLag lag, long nowNanos, long pauseMaxNanos) {
    if (!started || nextNanos - nowNanos < 0) {
      started = true;
      nextNanos = nowNanos;
    }
    long pause = Math.min(nextNanos - nowNanos, pauseMaxNanos);
    double share =
        Math.clamp((double) (lag.waitingBytes() - FROM_BYTES) / (FULL_BYTES - FROM_BYTES), 0, 1);
    double bytes = (double) rows * lag.bytesPerRow();
    double seconds = bytes / Math.max(BYTES_PER_SECOND_MIN, lag.bytesPerSecond());
    nextNanos = nowNanos + pause + (long) (share * seconds * NANOS);
    return pause;
  }
}
