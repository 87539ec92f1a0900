// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerStreamTracer;
import io.sagitta.flight.FlightErrors;
import io.sagitta.flight.RequestLimits;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;

/**
 * Watches how large the message that a call is receiving has grown, and ends the call with our own
 * error once it is too large. gRPC's own bound will not do: once headers are out, as they are in a
 * DoPut, it ends the stream with no more than a reset, which pyarrow shows as a KeyboardInterrupt.
 * So gRPC's bound lies far above, and what counts is this one.
 */
final class MessageSize extends ServerStreamTracer {
  /** A message larger than this is refused. */
  static final long BYTES_MAX = RequestLimits.REQUEST_BYTES_MAX;

  /** At this size the call is ended at once, whatever else it has to say. */
  private static final long FORCE_BYTES = 2 * BYTES_MAX;

  private static final Context.Key<MessageSize> KEY = Context.key("sagitta-message-size");

  /** Told when a message is too large. Called on the transport's thread. */
  interface Watcher {
    /**
     * The message at hand is too large.
     *
     * @param force end the call now; else it may first give the answers it owes
     */
    void tooLarge(SagittaException error, boolean force);
  }

  // The transport's thread only.
  private long bytes;
  // Guarded by this.
  private Watcher watcher;
  private boolean tooLarge;
  private boolean forced;

  private MessageSize() {}

  /** One for every stream of a server. */
  static final ServerStreamTracer.Factory FACTORY =
      new ServerStreamTracer.Factory() {
        @Override
        public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
          return new MessageSize();
        }
      };

  /** Ends calls of which nothing else is known yet: their one message is not complete. */
  static final ServerInterceptor INTERCEPTOR =
      new ServerInterceptor() {
        @Override
        public <A, B> ServerCall.Listener<A> interceptCall(
            ServerCall<A, B> call, Metadata headers, ServerCallHandler<A, B> next) {
          current()
              .watch(
                  (error, force) -> {
                    if (!force) {
                      call.close(
                          FlightErrors.grpcStatus(error.code())
                              .withDescription(FlightErrors.describe(error)),
                          FlightErrors.trailers(error));
                    }
                  });
          return next.startCall(call, headers);
        }
      };

  /** That of the call at hand. */
  static MessageSize current() {
    return KEY.get();
  }

  @Override
  public Context filterContext(Context context) {
    return context.withValue(KEY, this);
  }

  /** Sets who is told; the last one counts. Told at once where it has happened already. */
  void watch(Watcher told) {
    boolean late;
    boolean force;
    synchronized (this) {
      watcher = told;
      late = tooLarge;
      force = forced;
    }
    if (late) {
      told.tooLarge(error(), force);
    }
  }

  @Override
  public void inboundMessage(int number) {
    bytes = 0;
  }

  @Override
  public void inboundWireSize(long more) {
    long before = bytes;
    bytes += more;
    if (before <= BYTES_MAX && bytes > BYTES_MAX) {
      tell(false);
    }
    if (before <= FORCE_BYTES && bytes > FORCE_BYTES) {
      tell(true);
    }
  }

  private void tell(boolean force) {
    Watcher told;
    synchronized (this) {
      tooLarge = true;
      forced |= force;
      told = watcher;
    }
    if (told != null) {
      told.tooLarge(error(), force);
    }
  }

  private static SagittaException error() {
    return new SagittaException(
        ErrorCode.LIMIT,
        "a message has more than " + BYTES_MAX + " bytes: send smaller batches or requests");
  }
}
