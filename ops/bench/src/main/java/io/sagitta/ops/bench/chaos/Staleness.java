// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import java.util.Optional;
import java.util.TreeMap;

/**
 * Judges strong reads: one must see every edition that had been acknowledged before it was sent.
 * All times are of one monotonic clock, in the process that writes and reads. Safe for several
 * threads.
 */
public final class Staleness {
  /** Editions and when their acknowledgement had come. */
  private final TreeMap<Long, Long> acknowledged = new TreeMap<>();

  private long count;

  /** An edition has been acknowledged; {@code nanos} was read after the acknowledgement came. */
  public synchronized void acknowledged(long edition, long nanos) {
    acknowledged.put(edition, nanos);
    count++;
  }

  /** The newest edition acknowledged so far; 0 where there is none. */
  public synchronized long newest() {
    return acknowledged.isEmpty() ? 0 : acknowledged.lastKey();
  }

  /** Number of acknowledgements. */
  public synchronized long count() {
    return count;
  }

  /**
   * Judges a read.
   *
   * @param node who was asked
   * @param edition what was looked for
   * @param seen whether it was there
   * @param sentNanos read before the request was sent
   */
  public synchronized Optional<Violation> read(
      String node, long edition, boolean seen, long sentNanos) {
    Long since = acknowledged.get(edition);
    if (seen || since == null || since >= sentNanos) {
      return Optional.empty();
    }
    return Optional.of(
        new Violation(
            Violation.Kind.STALE,
            "a strong read of "
                + node
                + " did not see edition "
                + edition
                + ", which had been acknowledged "
                + (sentNanos - since) / 1_000
                + " us before it was sent"));
  }

  /** Forgets all but the newest; reads under way must have ended. */
  public synchronized void compact() {
    if (!acknowledged.isEmpty()) {
      acknowledged.headMap(acknowledged.lastKey()).clear();
    }
  }
}
