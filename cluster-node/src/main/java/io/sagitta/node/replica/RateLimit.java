// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import java.util.concurrent.TimeUnit;

/** Bytes a second, shared by all who take; who comes too early waits. */
public final class RateLimit {
  /** How much may be taken at once after a rest: a burst that no reader of a disk notices. */
  private static final long BURST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final long bytesPerSecond;
  private long freeAtNanos = System.nanoTime();

  public RateLimit(long bytesPerSecond) {
    this.bytesPerSecond = bytesPerSecond;
  }

  /** Takes that many bytes, waiting for its turn. An interrupt ends the wait and is kept. */
  void take(int bytes) {
    long wait = reserve(bytes, System.nanoTime());
    if (wait > 0) {
      try {
        TimeUnit.NANOSECONDS.sleep(wait);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** How long to wait, in nanoseconds, before the bytes may be used. */
  synchronized long reserve(int bytes, long nowNanos) {
    freeAtNanos = Math.max(freeAtNanos, nowNanos - BURST_NANOS);
    long wait = freeAtNanos - nowNanos;
    freeAtNanos += (long) (bytes * 1e9 / bytesPerSecond);
    return wait;
  }
}
