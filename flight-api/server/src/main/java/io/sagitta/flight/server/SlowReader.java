// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.grpc.Context;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.arrow.flight.FlightProducer.ServerStreamListener;

/**
 * Makes a sender wait for its reader. Flight's server queues whatever it is given, so that one slow
 * client could take all memory; who sends more than one message asks here before each. Must be made
 * while the call begins, on the thread that begins it; waiting must happen elsewhere.
 */
final class SlowReader {
  private final ServerStreamListener listener;
  private final Context context;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  SlowReader(ServerStreamListener listener) {
    this.listener = listener;
    this.context = Context.current();
    listener.setOnReadyHandler(this::wake);
    Calls.onAbandoned(context, this::wake);
  }

  private void wake() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Whether the client has gone: nothing sent will arrive. */
  boolean gone() {
    return listener.isCancelled() || context.isCancelled();
  }

  /**
   * Waits until the reader has room for a message.
   *
   * @param stallMs longest wait
   * @throws SagittaException UNAVAILABLE when the client has gone, DEADLINE_EXCEEDED when it reads
   *     nothing
   */
  void await(long stallMs) throws InterruptedException {
    long left = TimeUnit.MILLISECONDS.toNanos(stallMs);
    lock.lock();
    try {
      while (!listener.isReady()) {
        if (gone()) {
          throw new SagittaException(ErrorCode.UNAVAILABLE, "the client has gone");
        }
        if (left <= 0) {
          throw new SagittaException(
              ErrorCode.DEADLINE_EXCEEDED, "the client has read nothing for " + stallMs + " ms");
        }
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }
}
