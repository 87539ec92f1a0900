// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for an answer and says in the contract's words why there is none. */
final class Calls {
  private Calls() {}

  static <T> T await(CompletableFuture<T> answer, Duration timeout) {
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new SagittaException(
          ErrorCode.UNAVAILABLE, "no answer within " + timeout.toMillis() + " ms", 200, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SagittaException(ErrorCode.UNAVAILABLE, "the node is stopping", e);
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case RuntimeException runtime -> throw runtime;
        case Error error -> throw error;
        case null, default -> throw new IllegalStateException(e.getCause());
      }
    }
  }

  /** Rests a while; an interrupt says that the node is stopping. */
  static void pause(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SagittaException(ErrorCode.UNAVAILABLE, "the node is stopping", e);
    }
  }
}
