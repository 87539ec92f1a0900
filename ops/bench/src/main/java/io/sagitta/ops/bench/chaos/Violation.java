// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

/**
 * A broken promise.
 *
 * @param kind which
 * @param detail what was expected and what was found, with the point and the writes concerned
 */
public record Violation(Kind kind, String detail) {
  /** The promises. */
  public enum Kind {
    /** An acknowledged write is not there. */
    LOST,
    /** A deleted point is back. */
    RESURRECTED,
    /** A write that belongs to one shard took effect in part. */
    HALF,
    /** A write took effect more than once. */
    TWICE,
    /** A point's content is a mixture. */
    TORN,
    /** A point, or an edition of it, that nobody wrote, or that was refused. */
    INVENTED,
    /** Two ways of reading disagree: scan, get, count, search. */
    DISAGREEMENT,
    /** Replicas hold different points. */
    DIVERGED,
    /** A strong read missed a write that had been acknowledged before it was sent. */
    STALE
  }
}
