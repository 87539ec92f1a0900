// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.fanout;

import io.sagitta.flight.internal.CallContext;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A call being served: who asked, until when an answer is of use, and whether anyone still waits.
 * Starts attempts, each with a context of its own, so that one can be called off without the
 * others. Any thread.
 */
public final class ActiveCall {
  private final String principal;
  private final long deadlineNanos;
  private final LongSupplier nanoTime;
  private final AtomicBoolean cancelled;
  private final Set<Attempt<?>> attempts = ConcurrentHashMap.newKeySet();
  private final Set<ActiveCall> parts = ConcurrentHashMap.newKeySet();

  /**
   * A call.
   *
   * @param deadlineNanos value of {@code nanoTime} after which the answer is of no use
   * @param nanoTime {@link System#nanoTime}, or a test's
   */
  public ActiveCall(String principal, long deadlineNanos, LongSupplier nanoTime) {
    this(principal, deadlineNanos, nanoTime, new AtomicBoolean());
  }

  private ActiveCall(
      String principal, long deadlineNanos, LongSupplier nanoTime, AtomicBoolean cancelled) {
    this.principal = principal;
    this.deadlineNanos = deadlineNanos;
    this.nanoTime = nanoTime;
    this.cancelled = cancelled;
  }

  /** The same caller with a deadline of at most {@code nanos} from now; not cancelled with this. */
  public ActiveCall atMost(long nanos) {
    long deadline =
        remainingNanos() <= nanos ? deadlineNanos : nanoTime.getAsLong() + Math.max(0, nanos);
    return new ActiveCall(principal, deadline, nanoTime);
  }

  /** As {@link #atMost}, cancelled with this call and also by itself. A call has few parts. */
  public ActiveCall part(long nanos) {
    ActiveCall part = atMost(nanos);
    parts.add(part);
    if (cancelled.get()) {
      part.cancel();
    }
    return part;
  }

  public String principal() {
    return principal;
  }

  /** What is left until the deadline; negative when it has passed. */
  public long remainingNanos() {
    return deadlineNanos - nanoTime.getAsLong();
  }

  public boolean isOver() {
    return cancelled.get() || remainingNanos() <= 0;
  }

  /** Nobody waits any more: all attempts are called off, and those to come. Idempotent. */
  public void cancel() {
    cancelled.set(true);
    attempts.forEach(Attempt::abandon);
    parts.forEach(ActiveCall::cancel);
  }

  /** For calls that are not started as attempts. */
  public CallContext context() {
    return new CallContext(principal, deadlineNanos, cancelled);
  }

  /** A context in which a call is made. */
  public interface Ask<T> {
    CompletableFuture<T> in(CallContext context);
  }

  /**
   * Starts an attempt.
   *
   * @param discard takes a result that comes when nobody waits for it any more
   */
  public <T> Attempt<T> start(Ask<T> ask, Consumer<? super T> discard) {
    AtomicBoolean off = new AtomicBoolean(cancelled.get());
    CompletableFuture<T> answer;
    try {
      answer = ask.in(new CallContext(principal, deadlineNanos, off));
    } catch (RuntimeException e) {
      answer = CompletableFuture.failedFuture(e);
    }
    Attempt<T> attempt = new Attempt<>(this, answer, off, discard);
    attempts.add(attempt);
    CompletableFuture<?> unused =
        answer.whenComplete((result, failure) -> attempts.remove(attempt));
    if (cancelled.get()) {
      attempt.abandon();
    }
    return attempt;
  }

  /** Sleeps, less where the call ends sooner. */
  public void pause(long nanos) throws InterruptedException {
    long bounded = Math.min(nanos, remainingNanos());
    if (bounded > 0 && !cancelled.get()) {
      TimeUnit.NANOSECONDS.sleep(bounded);
    }
  }

  /** Why this call ends without an answer: its deadline, or its caller has gone. */
  public SagittaException ended(String what, Throwable cause) {
    return cancelled.get()
        ? new SagittaException(ErrorCode.UNAVAILABLE, what + ": the caller has gone", cause)
        : new SagittaException(
            ErrorCode.DEADLINE_EXCEEDED, what + ": the deadline has passed", cause);
  }
}
