// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.arrow.flight.CallStatus;
import org.apache.arrow.flight.ErrorFlightMetadata;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.FlightStatusCode;

/**
 * Errors on the wire, both ways (docs/contract.md, section 6). An error of ours carries its code
 * three times, for three kinds of reader: as {@code [sagitta.CODE]} before the message, which every
 * client shows; in the trailer {@value #CODE_KEY}; and as JSON in {@code grpc-status-details-bin},
 * which pyarrow hands out as {@code extra_info} if {@code x-arrow-status} stands beside it. It does
 * not for what is the caller's mistake: there that trailer would turn pyarrow's ArrowInvalid,
 * ArrowKeyError and ArrowNotImplementedError into a FlightInternalError (seen with pyarrow 26.0.1).
 *
 * <p>RESOURCE_EXHAUSTED, CANCELLED and ALREADY_EXISTS are never sent: pyarrow turns them into
 * ValueError, KeyboardInterrupt and an error without a kind.
 *
 * <p>An error <em>without</em> a code comes from the transport or from something between. On a
 * write it means that the outcome is unknown, also where its status is UNAVAILABLE: gRPC says so
 * after a reset of a connection over which the call may have been executed.
 */
public final class FlightErrors {
  /** Trailer: name of the {@link ErrorCode}. */
  public static final String CODE_KEY = "sagitta-code";

  /** Trailer: milliseconds after which a retry is worth trying. */
  public static final String RETRY_AFTER_KEY = "retry-after-ms";

  /** What a caller is told of a bug; the log of the node that it met has the rest. */
  public static final String BUG =
      "there was an error servicing your request; the node's log says which";

  static final String DETAILS_KEY = "grpc-status-details-bin";
  static final String ARROW_STATUS_KEY = "x-arrow-status";

  private static final Pattern PREFIX =
      Pattern.compile("\\[sagitta\\.([A-Z_]+)] (.*)", Pattern.DOTALL);

  private FlightErrors() {}

  /**
   * The error to send for whatever went wrong. Anything but a {@link SagittaException} is a bug:
   * its text stays here.
   */
  public static FlightRuntimeException toFlight(Throwable failure) {
    Throwable cause = unwrap(failure);
    if (cause instanceof FlightRuntimeException flight) {
      return flight;
    }
    SagittaException error = toSagitta(cause);
    ErrorFlightMetadata metadata = new ErrorFlightMetadata();
    metadata.insert(CODE_KEY, error.code().name());
    error.retryAfterMs().ifPresent(ms -> metadata.insert(RETRY_AFTER_KEY, Long.toString(ms)));
    arrowStatus(error.code())
        .ifPresent(status -> metadata.insert(ARROW_STATUS_KEY, Integer.toString(status)));
    metadata.insert(DETAILS_KEY, details(error));
    return flightStatus(error.code())
        .withDescription(describe(error))
        .withCause(cause)
        .withMetadata(metadata)
        .toRuntimeException();
  }

  /** As {@link #toFlight}, for a gRPC service beside Flight. */
  public static StatusRuntimeException toGrpc(Throwable failure) {
    SagittaException error = toSagitta(failure);
    return grpcStatus(error.code())
        .withDescription(describe(error))
        .withCause(error)
        .asRuntimeException(trailers(error));
  }

  /** The trailers of an error, for whoever closes a gRPC call itself. */
  public static Metadata trailers(SagittaException error) {
    Metadata trailers = new Metadata();
    trailers.put(ascii(CODE_KEY), error.code().name());
    error.retryAfterMs().ifPresent(ms -> trailers.put(ascii(RETRY_AFTER_KEY), Long.toString(ms)));
    arrowStatus(error.code())
        .ifPresent(status -> trailers.put(ascii(ARROW_STATUS_KEY), Integer.toString(status)));
    trailers.put(Metadata.Key.of(DETAILS_KEY, Metadata.BINARY_BYTE_MARSHALLER), details(error));
    return trailers;
  }

  /** The error itself, or INTERNAL for what is a bug. Futures' wrappers are taken off. */
  public static SagittaException toSagitta(Throwable failure) {
    Throwable cause = unwrap(failure);
    return cause instanceof SagittaException error
        ? error
        : new SagittaException(ErrorCode.INTERNAL, BUG, cause);
  }

  /** The message as it stands on the wire: {@code [sagitta.CODE] text}. */
  public static String describe(SagittaException error) {
    return "[" + error.code().qualified() + "] " + error.getMessage();
  }

  // ---- reading

  /**
   * The error of ours that a call failed with: by trailer, else by the message's prefix. Empty
   * where it carries no code, so that nothing is known of what was applied.
   */
  public static Optional<SagittaException> coded(Throwable failure) {
    Throwable cause = unwrap(failure);
    return switch (cause) {
      case SagittaException error -> Optional.of(error);
      case FlightRuntimeException flight -> coded(flight);
      case StatusRuntimeException grpc -> coded(grpc.getStatus(), grpc.getTrailers(), grpc);
      case StatusException grpc -> coded(grpc.getStatus(), grpc.getTrailers(), grpc);
      default -> Optional.empty();
    };
  }

  private static Optional<SagittaException> coded(FlightRuntimeException flight) {
    ErrorFlightMetadata metadata = flight.status().metadata();
    String code = null;
    OptionalLong retryAfterMs = OptionalLong.empty();
    if (metadata != null && metadata.containsKey(CODE_KEY)) {
      code = metadata.get(CODE_KEY);
      if (metadata.containsKey(RETRY_AFTER_KEY)) {
        retryAfterMs = parseMs(metadata.get(RETRY_AFTER_KEY));
      }
    }
    return coded(code, retryAfterMs, flight.status().description(), flight);
  }

  private static Optional<SagittaException> coded(
      Status status, Metadata trailers, Throwable cause) {
    String code = trailers == null ? null : trailers.get(ascii(CODE_KEY));
    OptionalLong retryAfterMs =
        code == null ? OptionalLong.empty() : parseMs(trailers.get(ascii(RETRY_AFTER_KEY)));
    return coded(code, retryAfterMs, status.getDescription(), cause);
  }

  private static Optional<SagittaException> coded(
      String trailerCode, OptionalLong retryAfterMs, String description, Throwable cause) {
    Matcher prefix = PREFIX.matcher(description == null ? "" : description);
    boolean prefixed = prefix.matches();
    String code = trailerCode != null ? trailerCode : prefixed ? prefix.group(1) : null;
    String message = prefixed ? prefix.group(2) : description;
    return errorCode(code)
        .map(known -> new SagittaException(known, message, retryAfterMs.orElse(-1), cause));
  }

  private static Optional<ErrorCode> errorCode(String name) {
    for (ErrorCode code : ErrorCode.values()) {
      if (code.name().equals(name)) {
        return Optional.of(code);
      }
    }
    return Optional.empty();
  }

  private static OptionalLong parseMs(String text) {
    try {
      return text == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(text));
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }

  /**
   * What a failed call means to a client: its code where it has one, else by what a bare transport
   * error leaves open.
   *
   * @param write whether the call may have changed something
   */
  public static SagittaException fromCall(Throwable failure, boolean write) {
    return coded(failure).orElseGet(() -> bare(unwrap(failure), write));
  }

  /**
   * Whether the call certainly never left this process: no connection could be made. Nothing was
   * applied then, without any code saying so.
   */
  public static boolean neverSent(Throwable failure) {
    return TransportReason.unconnected(failure).isPresent();
  }

  private static SagittaException bare(Throwable cause, boolean write) {
    if (neverSent(cause)) {
      return new SagittaException(
          ErrorCode.UNAVAILABLE, "cannot connect: " + TransportReason.of(cause), cause);
    }
    FlightStatusCode status = transportStatus(cause);
    String message =
        isAnotherServer(cause, status)
            ? "what listens there is no public Flight port of Sagitta: " + TransportReason.of(cause)
            : "the call failed on the way: " + TransportReason.of(cause);
    ErrorCode code =
        switch (status) {
          case TIMED_OUT -> ErrorCode.DEADLINE_EXCEEDED;
          case UNAUTHENTICATED -> ErrorCode.UNAUTHENTICATED;
          case UNAUTHORIZED -> ErrorCode.PERMISSION_DENIED;
          case UNIMPLEMENTED -> ErrorCode.UNIMPLEMENTED;
          case INVALID_ARGUMENT -> write ? ErrorCode.OUTCOME_UNKNOWN : ErrorCode.INVALID_ARGUMENT;
          case RESOURCE_EXHAUSTED -> write ? ErrorCode.OUTCOME_UNKNOWN : ErrorCode.LIMIT;
          default -> write ? ErrorCode.OUTCOME_UNKNOWN : ErrorCode.UNAVAILABLE;
        };
    return new SagittaException(code, message, cause);
  }

  /** Whether what answered speaks no gRPC, or no Flight: our own ports name their methods. */
  private static boolean isAnotherServer(Throwable cause, FlightStatusCode status) {
    if (status == FlightStatusCode.UNIMPLEMENTED) {
      return true;
    }
    for (Throwable t = cause; t != null; t = t.getCause()) {
      if (String.valueOf(t.getMessage()).contains("First received frame was not SETTINGS")) {
        return true;
      }
    }
    return false;
  }

  private static FlightStatusCode transportStatus(Throwable cause) {
    return switch (cause) {
      case FlightRuntimeException flight -> flight.status().code();
      case StatusRuntimeException grpc -> flightCode(grpc.getStatus());
      case StatusException grpc -> flightCode(grpc.getStatus());
      default -> FlightStatusCode.UNKNOWN;
    };
  }

  private static FlightStatusCode flightCode(Status status) {
    return switch (status.getCode()) {
      case DEADLINE_EXCEEDED -> FlightStatusCode.TIMED_OUT;
      case UNAUTHENTICATED -> FlightStatusCode.UNAUTHENTICATED;
      case PERMISSION_DENIED -> FlightStatusCode.UNAUTHORIZED;
      case UNIMPLEMENTED -> FlightStatusCode.UNIMPLEMENTED;
      case RESOURCE_EXHAUSTED -> FlightStatusCode.RESOURCE_EXHAUSTED;
      case INVALID_ARGUMENT -> FlightStatusCode.INVALID_ARGUMENT;
      default -> FlightStatusCode.UNAVAILABLE;
    };
  }

  // ---- the table

  /** The table, as Flight names it. */
  public static CallStatus flightStatus(ErrorCode code) {
    return switch (code) {
      case INVALID_ARGUMENT, ALREADY_EXISTS, CONFLICT, LIMIT, SESSION_EXPIRED ->
          CallStatus.INVALID_ARGUMENT;
      case NOT_FOUND -> CallStatus.NOT_FOUND;
      case UNAUTHENTICATED -> CallStatus.UNAUTHENTICATED;
      case PERMISSION_DENIED -> CallStatus.UNAUTHORIZED;
      case UNAVAILABLE -> CallStatus.UNAVAILABLE;
      case OUTCOME_UNKNOWN, DEADLINE_EXCEEDED -> CallStatus.TIMED_OUT;
      case UNIMPLEMENTED -> CallStatus.UNIMPLEMENTED;
      case CORRUPT, INTERNAL -> CallStatus.INTERNAL;
    };
  }

  /** The same table as gRPC names it. */
  public static Status grpcStatus(ErrorCode code) {
    return switch (code) {
      case INVALID_ARGUMENT, ALREADY_EXISTS, CONFLICT, LIMIT, SESSION_EXPIRED ->
          Status.INVALID_ARGUMENT;
      case NOT_FOUND -> Status.NOT_FOUND;
      case UNAUTHENTICATED -> Status.UNAUTHENTICATED;
      case PERMISSION_DENIED -> Status.PERMISSION_DENIED;
      case UNAVAILABLE -> Status.UNAVAILABLE;
      case OUTCOME_UNKNOWN, DEADLINE_EXCEEDED -> Status.DEADLINE_EXCEEDED;
      case UNIMPLEMENTED -> Status.UNIMPLEMENTED;
      case CORRUPT, INTERNAL -> Status.INTERNAL;
    };
  }

  /** Arrow C++ {@code StatusCode} (cpp/src/arrow/status.h) by which pyarrow picks its exception. */
  private static OptionalInt arrowStatus(ErrorCode code) {
    return switch (code) {
      case UNAUTHENTICATED,
          PERMISSION_DENIED,
          UNAVAILABLE,
          OUTCOME_UNKNOWN,
          DEADLINE_EXCEEDED,
          CORRUPT,
          INTERNAL ->
          OptionalInt.of(5); // IOError
      case NOT_FOUND,
          INVALID_ARGUMENT,
          ALREADY_EXISTS,
          CONFLICT,
          LIMIT,
          SESSION_EXPIRED,
          UNIMPLEMENTED ->
          OptionalInt.empty();
    };
  }

  private static byte[] details(SagittaException error) {
    return Commands.write(
        out -> {
          out.writeStartObject();
          out.writeStringField("code", error.code().qualified());
          // Headers have a bound of their own; the whole text is in the status.
          String text = String.valueOf(error.getMessage());
          out.writeStringField("message", text.length() <= 512 ? text : text.substring(0, 512));
          if (error.retryAfterMs().isPresent()) {
            out.writeNumberField("retry_after_ms", error.retryAfterMs().getAsLong());
          }
          out.writeEndObject();
        });
  }

  private static Metadata.Key<String> ascii(String key) {
    return Metadata.Key.of(key.toLowerCase(Locale.ROOT), Metadata.ASCII_STRING_MARSHALLER);
  }

  /** What a future failed with, its wrappers taken off. */
  public static Throwable unwrap(Throwable failure) {
    Throwable cause = failure;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** The details of an error as a client may have got them: the JSON text. */
  static Optional<String> detailsOf(FlightRuntimeException flight) {
    ErrorFlightMetadata metadata = flight.status().metadata();
    return metadata == null || !metadata.containsKey(DETAILS_KEY)
        ? Optional.empty()
        : Optional.of(new String(metadata.getByte(DETAILS_KEY), StandardCharsets.UTF_8));
  }
}
