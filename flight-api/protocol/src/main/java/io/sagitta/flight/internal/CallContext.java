// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.internal;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What travels with a call.
 *
 * @param principal who asks, for log headers and audit
 * @param deadlineNanos {@link System#nanoTime} value after which the answer is of no use
 * @param cancelled set when the caller has gone
 */
public record CallContext(String principal, long deadlineNanos, AtomicBoolean cancelled) {}
