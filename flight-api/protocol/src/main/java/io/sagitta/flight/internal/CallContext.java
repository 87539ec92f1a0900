// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.internal;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What travels with a call.
 *
 * @param principal who asks, for log headers and audit
 * @param deadlineNanos {@link System#nanoTime} value after which the answer is of no use
 * @param cancelled set when the caller has gone
 * @param askerTerm of a read that came from another node which votes on the shard
 */
public record CallContext(
    String principal, long deadlineNanos, AtomicBoolean cancelled, Optional<AskerTerm> askerTerm) {

  /** A call that comes from no voter. */
  public CallContext(String principal, long deadlineNanos, AtomicBoolean cancelled) {
    this(principal, deadlineNanos, cancelled, Optional.empty());
  }

  /** The same call as this node sends it on. */
  public CallContext from(Optional<AskerTerm> asker) {
    return new CallContext(principal, deadlineNanos, cancelled, asker);
  }
}
