// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

/**
 * Bytes of vectors a second that get into graphs, over about the last half minute of work. Time
 * between two steps of one piece of work counts, since other shards may have had their turn then;
 * time at rest does not. Written by one thread at a time, read by any.
 */
final class IndexSpeed {
  private static final double MEMORY_NANOS = 30e9;

  private double bytes;
  private double nanos;
  private long lastNanos;
  private boolean atWork;
  private volatile double bytesPerSecond;

  /** A step begins. */
  void begin(long nowNanos) {
    if (!atWork) {
      atWork = true;
      lastNanos = nowNanos;
    }
  }

  /**
   * A step has ended that brought so many bytes of vectors into graphs; 0 for one that measures.
   */
  void step(long bytesInserted, long nowNanos) {
    long took = nowNanos - lastNanos;
    lastNanos = nowNanos;
    double kept = Math.exp(-took / MEMORY_NANOS);
    bytes = bytes * kept + bytesInserted;
    nanos = nanos * kept + took;
    bytesPerSecond = nanos == 0 ? 0 : bytes * 1e9 / nanos;
  }

  /** Nothing more to do for now. */
  void rest() {
    atWork = false;
  }

  double bytesPerSecond() {
    return bytesPerSecond;
  }
}
