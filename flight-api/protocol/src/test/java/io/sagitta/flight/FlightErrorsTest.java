// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.apache.arrow.flight.CallStatus;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.FlightStatusCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FlightErrorsTest {
  /** docs/contract.md, section 6, as it stands there. */
  private static final Map<ErrorCode, FlightStatusCode> CONTRACT =
      Map.ofEntries(
          Map.entry(ErrorCode.INVALID_ARGUMENT, FlightStatusCode.INVALID_ARGUMENT),
          Map.entry(ErrorCode.NOT_FOUND, FlightStatusCode.NOT_FOUND),
          Map.entry(ErrorCode.ALREADY_EXISTS, FlightStatusCode.INVALID_ARGUMENT),
          Map.entry(ErrorCode.CONFLICT, FlightStatusCode.INVALID_ARGUMENT),
          Map.entry(ErrorCode.LIMIT, FlightStatusCode.INVALID_ARGUMENT),
          Map.entry(ErrorCode.UNAUTHENTICATED, FlightStatusCode.UNAUTHENTICATED),
          Map.entry(ErrorCode.PERMISSION_DENIED, FlightStatusCode.UNAUTHORIZED),
          Map.entry(ErrorCode.UNAVAILABLE, FlightStatusCode.UNAVAILABLE),
          Map.entry(ErrorCode.SESSION_EXPIRED, FlightStatusCode.INVALID_ARGUMENT),
          Map.entry(ErrorCode.OUTCOME_UNKNOWN, FlightStatusCode.TIMED_OUT),
          Map.entry(ErrorCode.DEADLINE_EXCEEDED, FlightStatusCode.TIMED_OUT),
          Map.entry(ErrorCode.UNIMPLEMENTED, FlightStatusCode.UNIMPLEMENTED),
          Map.entry(ErrorCode.CORRUPT, FlightStatusCode.INTERNAL),
          Map.entry(ErrorCode.INTERNAL, FlightStatusCode.INTERNAL));

  /** What pyarrow maps badly. */
  private static final Set<FlightStatusCode> NEVER =
      Set.of(
          FlightStatusCode.RESOURCE_EXHAUSTED,
          FlightStatusCode.CANCELLED,
          FlightStatusCode.ALREADY_EXISTS);

  @ParameterizedTest
  @EnumSource
  void everyCodeTravelsByTheContractsTableAndComesBack(ErrorCode code) {
    SagittaException thrown = new SagittaException(code, "row 3: no", 250, null);
    FlightRuntimeException flight = FlightErrors.toFlight(thrown);
    assertThat(flight.status().code()).isEqualTo(CONTRACT.get(code)).isNotIn(NEVER);
    assertThat(flight.status().description()).isEqualTo("[sagitta." + code + "] row 3: no");
    assertThat(FlightErrors.detailsOf(flight).orElseThrow())
        .isEqualTo(
            "{\"code\":\"sagitta." + code + "\",\"message\":\"row 3: no\",\"retry_after_ms\":250}");
    // Beside this trailer pyarrow hands out the details, but raises FlightInternalError for
    // mistakes
    // of the caller instead of ArrowInvalid, ArrowKeyError and ArrowNotImplementedError.
    assertThat(flight.status().metadata().containsKey("x-arrow-status"))
        .isEqualTo(
            !List.of(
                    FlightStatusCode.INVALID_ARGUMENT,
                    FlightStatusCode.NOT_FOUND,
                    FlightStatusCode.UNIMPLEMENTED)
                .contains(flight.status().code()));

    StatusRuntimeException grpc = FlightErrors.toGrpc(thrown);
    for (Throwable caught : List.of(flight, grpc, new CompletionException(flight))) {
      SagittaException back = FlightErrors.coded(caught).orElseThrow();
      assertThat(back.code()).isEqualTo(code);
      assertThat(back.getMessage()).isEqualTo("row 3: no");
      assertThat(back.retryAfterMs()).hasValue(250);
    }
  }

  @Test
  void theCodeIsReadFromTheMessageWhereTrailersWereLost() {
    FlightRuntimeException flight =
        CallStatus.INVALID_ARGUMENT
            .withDescription("[sagitta.CONFLICT] version\nis 7")
            .toRuntimeException();
    SagittaException back = FlightErrors.coded(flight).orElseThrow();
    assertThat(back.code()).isEqualTo(ErrorCode.CONFLICT);
    assertThat(back.getMessage()).isEqualTo("version\nis 7");
  }

  @Test
  void aBugShowsNothingOfItself() {
    FlightRuntimeException flight =
        FlightErrors.toFlight(new CompletionException(new IOException("/secret/path")));
    assertThat(flight.status().code()).isEqualTo(FlightStatusCode.INTERNAL);
    assertThat(flight.status().description()).isEqualTo("[sagitta.INTERNAL] " + FlightErrors.BUG);
  }

  @Test
  void aBareTransportErrorOnAWriteMeansThatTheOutcomeIsUnknown() {
    Throwable reset = Status.UNAVAILABLE.withDescription("reset").asRuntimeException();
    assertThat(FlightErrors.coded(reset)).isEmpty();
    assertThat(FlightErrors.fromCall(reset, true).code()).isEqualTo(ErrorCode.OUTCOME_UNKNOWN);
    assertThat(FlightErrors.fromCall(reset, false).code()).isEqualTo(ErrorCode.UNAVAILABLE);
    Throwable late = Status.DEADLINE_EXCEEDED.asRuntimeException();
    assertThat(FlightErrors.fromCall(late, true).code()).isEqualTo(ErrorCode.DEADLINE_EXCEEDED);
    for (Status.Code code : Status.Code.values()) {
      ErrorCode write =
          FlightErrors.fromCall(Status.fromCode(code).asRuntimeException(), true).code();
      assertThat(write)
          .isIn(
              ErrorCode.OUTCOME_UNKNOWN,
              ErrorCode.DEADLINE_EXCEEDED,
              ErrorCode.UNAUTHENTICATED,
              ErrorCode.PERMISSION_DENIED,
              ErrorCode.UNIMPLEMENTED);
    }
  }

  @Test
  void aCallThatNeverLeftIsUnavailableAlsoForAWrite() {
    Throwable refused =
        Status.UNAVAILABLE.withCause(new ConnectException("refused")).asRuntimeException();
    assertThat(FlightErrors.fromCall(refused, true).code()).isEqualTo(ErrorCode.UNAVAILABLE);
  }

  @Test
  void whatHappenedIsSaidAndNotWhatGrpcCallsIt() {
    ConnectException refused =
        new ConnectException("finishConnect(..) failed: Connection refused: localhost/127.0.0.1:1");
    assertThat(onTheWay(Status.UNAVAILABLE.withDescription("io exception").withCause(refused)))
        .isEqualTo("cannot connect: Connection refused: localhost/127.0.0.1:1");
    assertThat(
            onTheWay(
                Status.UNAVAILABLE
                    .withDescription("Unable to resolve host nowhere")
                    .withCause(new UnknownHostException("nowhere"))))
        .isEqualTo("cannot connect: the host is not known: nowhere");
    assertThat(
            onTheWay(
                Status.UNAVAILABLE
                    .withDescription("io exception")
                    .withCause(
                        new IOException("recvAddress(..) failed with error(-104): reset by peer"))))
        .isEqualTo("the call failed on the way: reset by peer");
    assertThat(onTheWay(Status.INTERNAL.withDescription("http2 exception")))
        .isEqualTo(
            "the call failed on the way: the connection broke, or what listens there speaks another"
                + " protocol");
  }

  private static String onTheWay(Status status) {
    return FlightErrors.fromCall(status.asRuntimeException(), false).getMessage();
  }
}
