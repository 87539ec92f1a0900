// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.fanout;

import io.sagitta.flight.FlightErrors;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * One try at a call. Its result has exactly one owner: whoever awaits it, or, once it is abandoned,
 * the discarder. The answer's own future is never cancelled, for its maker might then drop a result
 * that holds memory.
 */
public final class Attempt<T> {
  private final ActiveCall call;
  private final CompletableFuture<T> answer;
  private final AtomicBoolean off;
  private final Consumer<? super T> discard;
  private final AtomicBoolean owned = new AtomicBoolean();

  /** Completes with the answer, or when this is abandoned. */
  private final CompletableFuture<T> waited = new CompletableFuture<>();

  Attempt(
      ActiveCall call,
      CompletableFuture<T> answer,
      AtomicBoolean off,
      Consumer<? super T> discard) {
    this.call = call;
    this.answer = answer;
    this.off = off;
    this.discard = discard;
    CompletableFuture<?> unused =
        answer.whenComplete(
            (result, failure) -> {
              if (failure == null) {
                waited.complete(result);
              } else {
                waited.completeExceptionally(failure);
              }
            });
  }

  /** Gives up: whoever waits is woken, and a result that is there or comes later is discarded. */
  public void abandon() {
    off.set(true);
    waited.completeExceptionally(new CancellationException("given up"));
    if (owned.compareAndSet(false, true)) {
      CompletableFuture<?> unused = answer.thenAccept(discard);
    }
  }

  /** Completes when there is a result, a failure, or this was given up. */
  CompletableFuture<?> done() {
    return waited;
  }

  /** Whether there is a result, a failure, or this was given up, within {@code nanos}. */
  public boolean isDoneWithin(long nanos) throws InterruptedException {
    return isDoneWithin(waited, Math.min(nanos, call.remainingNanos()));
  }

  static boolean isDoneWithin(CompletableFuture<?> future, long nanos) throws InterruptedException {
    try {
      future.get(Math.max(0, nanos), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException | CancellationException e) {
      return true;
    }
  }

  /**
   * The result, waited for until the call's deadline; afterwards it is given up.
   *
   * @throws TimeoutException when the deadline passed or the attempt was given up first
   * @throws Exception what the attempt failed with
   */
  public T await() throws Exception {
    T result;
    try {
      result = waited.get(Math.max(0, call.remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | InterruptedException e) {
      abandon();
      throw e;
    } catch (CancellationException e) {
      throw givenUp(e);
    } catch (ExecutionException e) {
      throw cause(e);
    }
    if (!owned.compareAndSet(false, true)) {
      throw givenUp(null);
    }
    return result;
  }

  /** What a future failed with, its wrappers taken off. */
  static Exception cause(Exception failure) throws TimeoutException {
    Throwable cause = FlightErrors.unwrap(failure);
    if (cause instanceof CancellationException) {
      throw givenUp(cause);
    }
    return cause instanceof Exception exception ? exception : failure;
  }

  private static TimeoutException givenUp(Throwable cause) {
    TimeoutException givenUp = new TimeoutException("given up");
    givenUp.initCause(cause);
    return givenUp;
  }
}
