// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Finds stale reads of one point whose edition only grows: a strong read must return at least the
 * newest edition that had been acknowledged before the read was sent. All times are of one
 * monotonic clock, in the process that writes and reads. Safe for several threads.
 */
public final class Staleness {
  /** Time of acknowledgement to the newest edition acknowledged by then. */
  private final NavigableMap<Long, Long> acknowledged = new TreeMap<>();

  private long newest;

  /** An edition has been acknowledged; {@code nanos} was read after the acknowledgement came. */
  public synchronized void acknowledged(long edition, long nanos) {
    newest = Math.max(newest, edition);
    acknowledged.merge(nanos, newest, Math::max);
  }

  /** The newest edition acknowledged so far; 0 where there is none. */
  public synchronized long newest() {
    return newest;
  }

  /**
   * Judges a read.
   *
   * @param node who was asked
   * @param edition what it returned; 0 for no such point
   * @param sentNanos read before the request was sent
   */
  public synchronized Optional<Violation> read(String node, long edition, long sentNanos) {
    Map.Entry<Long, Long> before = acknowledged.lowerEntry(sentNanos);
    if (before == null || edition >= before.getValue()) {
      return Optional.empty();
    }
    long lateMicros = (sentNanos - firstAcknowledged(before.getValue())) / 1_000;
    return Optional.of(
        new Violation(
            Violation.Kind.STALE,
            "a strong read of "
                + node
                + " returned edition "
                + edition
                + ", but "
                + before.getValue()
                + " had been acknowledged "
                + lateMicros
                + " us before it was sent"));
  }

  private long firstAcknowledged(long edition) {
    return acknowledged.entrySet().stream()
        .filter(entry -> entry.getValue() >= edition)
        .map(Map.Entry::getKey)
        .findFirst()
        .orElseThrow();
  }

  /** Forgets what is older than the newest acknowledgement; reads under way must have ended. */
  public synchronized void compact() {
    if (!acknowledged.isEmpty()) {
      acknowledged.headMap(acknowledged.lastKey()).clear();
    }
  }
}
