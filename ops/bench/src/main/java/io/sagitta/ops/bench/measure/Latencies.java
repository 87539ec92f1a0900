// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import org.HdrHistogram.ConcurrentHistogram;

/** Times of single calls. Safe for several threads. */
public final class Latencies {
  private static final long LONGEST_NANOS = 600_000_000_000L;

  private final ConcurrentHistogram nanos = new ConcurrentHistogram(LONGEST_NANOS, 3);

  /** Records a call that began at this {@link System#nanoTime}. */
  public void since(long beginNanos) {
    nanos.recordValue(Math.clamp(System.nanoTime() - beginNanos, 1, LONGEST_NANOS));
  }

  public double percentileMs(double percentile) {
    return nanos.getValueAtPercentile(percentile) / 1e6;
  }

  public double maxMs() {
    return nanos.getMaxValue() / 1e6;
  }

  public long count() {
    return nanos.getTotalCount();
  }
}
