// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.grpc.Context;
import io.grpc.Deadline;
import io.sagitta.flight.RequestHandler.Call;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Makes a handler's {@link Call} of the gRPC call at hand: caller, deadline, cancellation. */
final class Calls {
  /** How long a stream may live that the client has set no end. */
  static final Duration STREAM_TIMEOUT = Duration.ofDays(1);

  private Calls() {}

  /**
   * The call at hand. Its deadline is the client's, else {@code timeout} from now; {@code
   * timeoutMs}, as the request may name it, only shortens that.
   */
  static Call current(Duration timeout, OptionalLong timeoutMs) {
    Context context = Context.current();
    Deadline asked = context.getDeadline();
    long nanos = asked == null ? timeout.toNanos() : asked.timeRemaining(TimeUnit.NANOSECONDS);
    if (timeoutMs.isPresent()) {
      nanos = Math.min(nanos, TimeUnit.MILLISECONDS.toNanos(timeoutMs.getAsLong()));
    }
    return new Call(
        Caller.current().principal(),
        System.nanoTime() + nanos,
        hook -> onAbandoned(context, hook));
  }

  /**
   * Runs {@code hook} when the client goes away or its deadline passes, at once if it has; never
   * after a call that ends well. gRPC cancels the context of every call at its end, of an abandoned
   * one with a cause.
   */
  static void onAbandoned(Context context, Runnable hook) {
    context.addListener(
        ended -> {
          if (ended.cancellationCause() != null) {
            hook.run();
          }
        },
        Runnable::run);
  }

  /**
   * Hands a future's outcome on. Where that itself fails, the failure is handed on in turn: a call
   * is never left without an end.
   */
  static <T> void deliver(
      CompletableFuture<T> future, Consumer<T> onValue, Consumer<Throwable> onFailure) {
    var _ = delivered(future, onValue, onFailure);
  }

  /** As {@link #deliver}; what comes back ends once the outcome has been handed on. */
  static <T> CompletableFuture<T> delivered(
      CompletableFuture<T> future, Consumer<T> onValue, Consumer<Throwable> onFailure) {
    return future.whenComplete(
        (value, failure) -> {
          if (failure != null) {
            onFailure.accept(failure);
            return;
          }
          try {
            onValue.accept(value);
          } catch (RuntimeException e) {
            onFailure.accept(e);
          }
        });
  }
}
