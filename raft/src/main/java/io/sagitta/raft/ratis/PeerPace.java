// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.Peer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * How quickly peers have answered of late: whom to ask first, and when not to wait for them alone.
 * The estimate is that of TCP (RFC 6298): a smoothed round trip and its mean deviation.
 */
final class PeerPace {
  /** Below this, a second question costs more than the wait it spares. */
  static final long PATIENCE_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(2);

  /** Beyond this nobody shall wait for one peer while another can be asked. */
  static final long PATIENCE_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(50);

  /** For a peer that has not answered yet. */
  static final long PATIENCE_NANOS_FIRST = TimeUnit.MILLISECONDS.toNanos(10);

  private final Map<String, Pace> paces = new HashMap<>(); // under this

  /**
   * One peer.
   *
   * @param smoothedNanos 0: has not answered yet
   * @param failures in a row, answers that came too late among them
   */
  private record Pace(long smoothedNanos, long deviationNanos, int failures) {
    static final Pace UNKNOWN = new Pace(0, 0, 0);

    Pace answered(long nanos) {
      if (smoothedNanos == 0) {
        return new Pace(nanos, nanos / 2, 0);
      }
      long error = nanos - smoothedNanos;
      return new Pace(
          Math.max(1, smoothedNanos + error / 8),
          deviationNanos + (Math.abs(error) - deviationNanos) / 4,
          0);
    }

    Pace failed() {
      return new Pace(smoothedNanos, deviationNanos, failures + 1);
    }

    long patienceNanos() {
      return smoothedNanos == 0
          ? PATIENCE_NANOS_FIRST
          : Math.clamp(smoothedNanos + 4 * deviationNanos, PATIENCE_NANOS_MIN, PATIENCE_NANOS_MAX);
    }
  }

  synchronized void answered(Peer peer, long nanos) {
    paces.merge(peer.id(), Pace.UNKNOWN.answered(nanos), (known, first) -> known.answered(nanos));
  }

  /** It failed, or was waited for in vain. */
  synchronized void failed(Peer peer) {
    paces.merge(peer.id(), Pace.UNKNOWN.failed(), (known, first) -> known.failed());
  }

  /**
   * Peers, the best to ask first: who answered last time before who did not, then the quickest. One
   * that was never asked comes first of all, so that its pace is known.
   */
  synchronized List<Peer> order(Collection<Peer> peers) {
    List<Peer> order = new ArrayList<>(peers);
    order.sort(
        Comparator.comparingInt((Peer peer) -> of(peer).failures())
            .thenComparingLong(peer -> of(peer).smoothedNanos())
            .thenComparing(Peer::id));
    return order;
  }

  /** How long to wait for all of these before others are asked too. */
  synchronized long patienceNanos(Collection<Peer> asked) {
    long nanos = PATIENCE_NANOS_MIN;
    for (Peer peer : asked) {
      nanos = Math.max(nanos, of(peer).patienceNanos());
    }
    return nanos;
  }

  private Pace of(Peer peer) {
    return paces.getOrDefault(peer.id(), Pace.UNKNOWN);
  }
}
