// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/**
 * For how long a fault kept shards from serving: until each has acknowledged a write that was sent
 * after it struck. Whoever was hit may still be away then. Times are of {@link System#nanoTime}.
 * Safe for several threads.
 */
final class Resumption {
  private final Map<Integer, Long> servedNanos = new HashMap<>();
  private long struckNanos = Long.MAX_VALUE;

  /** A fault strikes now. */
  synchronized void struck(long nanos) {
    servedNanos.clear();
    struckNanos = nanos;
  }

  /** A write was acknowledged by these shards. */
  synchronized void acknowledged(Collection<Integer> shards, long sentNanos, long nowNanos) {
    if (sentNanos < struckNanos) {
      return; // it may have been appended before
    }
    shards.forEach(shard -> servedNanos.putIfAbsent(shard, nowNanos - struckNanos));
  }

  /** Milliseconds until the last of so many shards served again; empty where one has not yet. */
  synchronized OptionalLong servedAgainMs(int shards) {
    if (servedNanos.size() < shards) {
      return OptionalLong.empty();
    }
    return OptionalLong.of(
        servedNanos.values().stream().mapToLong(Long::longValue).max().orElse(0) / 1_000_000);
  }
}
