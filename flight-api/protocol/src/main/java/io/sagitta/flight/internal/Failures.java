// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.internal;

import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import io.sagitta.flight.FlightErrors;
import io.sagitta.flight.internal.proto.Failure;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import java.util.Optional;
import org.apache.arrow.flight.CallStatus;
import org.apache.arrow.flight.ErrorFlightMetadata;
import org.apache.arrow.flight.FlightRuntimeException;

/**
 * Failures between nodes: every failing call on the internal port carries a {@link Failure} in the
 * trailer {@value #KEY}, so that the caller gets back what the callee threw, {@link
 * NotLeaderException} with the leader included. A call that fails without one failed on the way:
 * {@link #bare}.
 */
public final class Failures {
  /** Name of the trailer. */
  public static final String KEY = "sagitta-failure-bin";

  private static final Metadata.Key<byte[]> TRAILER =
      Metadata.Key.of(KEY, Metadata.BINARY_BYTE_MARSHALLER);
  private static final String NOT_LEADER = "NOT_LEADER";

  private Failures() {}

  public static Failure encode(Throwable failure) {
    if (FlightErrors.unwrap(failure) instanceof NotLeaderException notLeader) {
      Failure.Builder out =
          Failure.newBuilder()
              .setCode(NOT_LEADER)
              .setMessage(String.valueOf(notLeader.getMessage()))
              .setRetryAfterMs(-1);
      notLeader.leader().ifPresent(l -> out.setLeaderNode(InternalCodec.bytes(l.value())));
      return out.build();
    }
    SagittaException error = FlightErrors.toSagitta(failure);
    return Failure.newBuilder()
        .setCode(error.code().name())
        .setMessage(String.valueOf(error.getMessage()))
        .setRetryAfterMs(error.retryAfterMs().orElse(-1))
        .build();
  }

  /** What the callee threw. A code of a newer version is INTERNAL. */
  public static RuntimeException decode(Failure in) {
    if (in.getCode().equals(NOT_LEADER)) {
      return new NotLeaderException(
          in.getMessage(),
          in.getLeaderNode().isEmpty()
              ? Optional.empty()
              : Optional.of(new NodeId(InternalCodec.uuid(in.getLeaderNode()))));
    }
    for (ErrorCode code : ErrorCode.values()) {
      if (code.name().equals(in.getCode())) {
        return new SagittaException(code, in.getMessage(), in.getRetryAfterMs(), null);
      }
    }
    return new SagittaException(
        ErrorCode.INTERNAL, "unknown failure " + in.getCode() + ": " + in.getMessage());
  }

  /** A failure as the protobuf service sends it. */
  public static StatusRuntimeException toGrpc(Throwable failure) {
    Failure encoded = encode(failure);
    Metadata trailers = new Metadata();
    trailers.put(TRAILER, shortened(encoded).toByteArray());
    return status(encoded)
        .withDescription(encoded.getMessage())
        .withCause(failure)
        .asRuntimeException(trailers);
  }

  /** A failure as the internal DoGet sends it. */
  public static FlightRuntimeException toFlight(Throwable failure) {
    Failure encoded = encode(failure);
    ErrorFlightMetadata metadata = new ErrorFlightMetadata();
    metadata.insert(KEY, shortened(encoded).toByteArray());
    return callStatus(encoded)
        .withDescription(encoded.getMessage())
        .withCause(failure)
        .withMetadata(metadata)
        .toRuntimeException();
  }

  /** Trailers have a bound of their own. */
  private static Failure shortened(Failure failure) {
    return failure.getMessage().length() <= 2_048
        ? failure
        : failure.toBuilder().setMessage(failure.getMessage().substring(0, 2_048)).build();
  }

  /**
   * What the peer threw, or empty where the call failed on the way: then a read may be tried
   * elsewhere, and of a write nothing is known.
   */
  public static Optional<RuntimeException> thrownByPeer(Throwable failure) {
    byte[] trailer =
        switch (FlightErrors.unwrap(failure)) {
          case StatusRuntimeException grpc -> trailer(grpc.getTrailers());
          case StatusException grpc -> trailer(grpc.getTrailers());
          case FlightRuntimeException flight -> trailer(flight.status().metadata());
          default -> null;
        };
    if (trailer == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(decode(Failure.parseFrom(trailer)));
    } catch (InvalidProtocolBufferException e) {
      return Optional.empty();
    }
  }

  /**
   * The failure of a call to a peer, as {@link ShardDoor} promises it: what the peer threw, else
   * DEADLINE_EXCEEDED or UNAVAILABLE of a read, OUTCOME_UNKNOWN of a write (UNAVAILABLE where no
   * connection could be made, so that it was never sent).
   */
  public static RuntimeException fromCall(Throwable failure, String peer, boolean write) {
    return thrownByPeer(failure).orElseGet(() -> bare(FlightErrors.unwrap(failure), peer, write));
  }

  private static SagittaException bare(Throwable failure, String peer, boolean write) {
    SagittaException cause = FlightErrors.fromCall(failure, write);
    ErrorCode code =
        write && !FlightErrors.neverSent(failure)
            ? ErrorCode.OUTCOME_UNKNOWN
            : cause.code() == ErrorCode.DEADLINE_EXCEEDED
                ? ErrorCode.DEADLINE_EXCEEDED
                : ErrorCode.UNAVAILABLE;
    return new SagittaException(code, "node " + peer + ": " + cause.getMessage(), failure);
  }

  private static byte[] trailer(Metadata trailers) {
    return trailers == null ? null : trailers.get(TRAILER);
  }

  private static byte[] trailer(ErrorFlightMetadata metadata) {
    return metadata == null || !metadata.containsKey(KEY) ? null : metadata.getByte(KEY);
  }

  private static Status status(Failure failure) {
    return decode(failure) instanceof SagittaException error
        ? FlightErrors.grpcStatus(error.code())
        : Status.UNAVAILABLE;
  }

  private static CallStatus callStatus(Failure failure) {
    return decode(failure) instanceof SagittaException error
        ? FlightErrors.flightStatus(error.code())
        : CallStatus.UNAVAILABLE;
  }
}
