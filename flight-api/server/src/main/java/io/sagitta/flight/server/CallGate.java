// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.sagitta.flight.FlightErrors;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/**
 * The one gate of a port, before every method of every service on it: Flight's own middleware
 * covers Flight alone. A call passes when the node is not draining, its method has a {@link
 * CallClass} and the {@link Authenticator} knows its caller. A method without a class is refused
 * whoever calls, and a test finds it.
 */
final class CallGate implements ServerInterceptor {
  /** Classes of all methods that any port serves. */
  static final Map<String, CallClass> CLASSES =
      Map.ofEntries(
          flight("Handshake", CallClass.NOT_OFFERED),
          flight("ListFlights", CallClass.ANY_ROLE),
          flight("GetFlightInfo", CallClass.READ),
          flight("PollFlightInfo", CallClass.NOT_OFFERED),
          flight("GetSchema", CallClass.READ),
          flight("DoGet", CallClass.READ),
          flight("DoPut", CallClass.WRITE),
          flight("DoExchange", CallClass.NOT_OFFERED),
          flight("DoAction", CallClass.ANY_ROLE),
          flight("ListActions", CallClass.ANY_ROLE),
          internal("Write"),
          internal("Terms"),
          internal("LeaderBarrier"),
          internal("Metadata"),
          internal("Placement"),
          internal("PrefetchCheckpoint"),
          internal("SendCheckpoint"));

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final String BEARER = "bearer ";

  /** A wait after which another node, or this one restarted, will have taken over. */
  private static final long DRAIN_RETRY_MS = 500;

  /** What may be queued for a reader before it counts as slow: two messages. */
  private static final int UNSENT_BYTES = 4 << 20;

  private final Authenticator authenticator;
  private volatile boolean draining;

  CallGate(Authenticator authenticator) {
    this.authenticator = authenticator;
  }

  private static Map.Entry<String, CallClass> flight(String method, CallClass callClass) {
    return Map.entry("arrow.flight.protocol.FlightService/" + method, callClass);
  }

  private static Map.Entry<String, CallClass> internal(String method) {
    return Map.entry("sagitta.internal.v1.Internal/" + method, CallClass.NODE);
  }

  /** From now on new calls are refused; those that have begun go on. */
  void drain() {
    draining = true;
  }

  @Override
  public <A, B> ServerCall.Listener<A> interceptCall(
      ServerCall<A, B> call, Metadata headers, ServerCallHandler<A, B> next) {
    try {
      Caller caller = admit(call, headers);
      call.setOnReadyThreshold(UNSENT_BYTES);
      Context context = Context.current().withValue(Caller.KEY, caller);
      return Contexts.interceptCall(context, call, headers, next);
    } catch (SagittaException e) {
      call.close(
          FlightErrors.grpcStatus(e.code()).withDescription(FlightErrors.describe(e)),
          FlightErrors.trailers(e));
      return new ServerCall.Listener<>() {};
    }
  }

  private Caller admit(ServerCall<?, ?> call, Metadata headers) {
    if (draining) {
      throw SagittaException.unavailable("the node is shutting down", DRAIN_RETRY_MS);
    }
    String method = call.getMethodDescriptor().getFullMethodName();
    CallClass callClass = CLASSES.get(method);
    if (callClass == null) {
      throw new SagittaException(
          ErrorCode.PERMISSION_DENIED, "method " + method + " has no call class");
    }
    if (callClass == CallClass.NOT_OFFERED) {
      throw new SagittaException(ErrorCode.UNIMPLEMENTED, method + " is not offered");
    }
    return authenticator.authenticate(
        new Authenticator.Attempt(
            method, callClass, bearerToken(headers), certificateSubject(call)));
  }

  private static Optional<String> bearerToken(Metadata headers) {
    String value = headers.get(AUTHORIZATION);
    return value != null && value.regionMatches(true, 0, BEARER, 0, BEARER.length())
        ? Optional.of(value.substring(BEARER.length()).trim())
        : Optional.empty();
  }

  private static Optional<String> certificateSubject(ServerCall<?, ?> call) {
    SSLSession session = call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
    try {
      return session == null ? Optional.empty() : Optional.of(session.getPeerPrincipal().getName());
    } catch (SSLPeerUnverifiedException e) {
      // TLS without a client certificate.
      return Optional.empty();
    }
  }
}
