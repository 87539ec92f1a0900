// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.arrow.flight.Action;
import org.apache.arrow.flight.CallHeaders;
import org.apache.arrow.flight.FlightCallHeaders;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.FlightStatusCode;
import org.apache.arrow.flight.HeaderCallOption;
import org.apache.arrow.flight.Location;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

class CallGateTest {
  @Test
  void everyMethodOfEveryPortHasAClass() throws Exception {
    try (RootAllocator allocator = new RootAllocator();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        PublicEndpoint open =
            PublicEndpoint.start(
                Served.loopback(),
                new FakeHandler(allocator, threads),
                Authenticator.OPEN,
                allocator,
                threads);
        InternalEndpoint internal =
            InternalEndpoint.start(
                Served.loopback(),
                new FakePeer(allocator),
                Authenticator.OPEN,
                allocator,
                threads)) {
      List<ServerServiceDefinition> services = new ArrayList<>(open.services());
      services.addAll(internal.services());
      List<String> methods = new ArrayList<>();
      for (ServerServiceDefinition service : services) {
        for (ServerMethodDefinition<?, ?> method : service.getMethods()) {
          methods.add(method.getMethodDescriptor().getFullMethodName());
        }
      }
      assertThat(methods).hasSizeGreaterThan(20);
      assertThat(CallGate.CLASSES.keySet())
          .as("give each method a class in CallGate.CLASSES")
          .containsAll(methods);
    }
  }

  @Test
  void theAuthenticatorSeesTokenAndClassBeforeAnyBodyAndMayRefuse() throws Exception {
    List<Authenticator.Attempt> attempts = new ArrayList<>();
    Authenticator strict =
        attempt -> {
          attempts.add(attempt);
          if (!attempt.bearerToken().equals(Optional.of("secret"))) {
            throw new SagittaException(ErrorCode.UNAUTHENTICATED, "no valid token");
          }
          return new Caller("alice");
        };
    try (RootAllocator allocator = new RootAllocator();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      FakeHandler handler = new FakeHandler(allocator, threads);
      try (PublicEndpoint endpoint =
              PublicEndpoint.start(Served.loopback(), handler, strict, allocator, threads);
          FlightClient client =
              FlightClient.builder(
                      allocator, Location.forGrpcInsecure("127.0.0.1", endpoint.port()))
                  .build()) {
        assertThatThrownBy(() -> client.doAction(new Action("status")).next())
            .isInstanceOfSatisfying(
                FlightRuntimeException.class,
                e -> assertThat(e.status().code()).isEqualTo(FlightStatusCode.UNAUTHENTICATED))
            .hasMessageContaining("[sagitta.UNAUTHENTICATED] no valid token");
        CallHeaders headers = new FlightCallHeaders();
        headers.insert("authorization", "Bearer secret");
        client.doAction(new Action("status"), new HeaderCallOption(headers)).next();
      }
      assertThat(attempts)
          .extracting(Authenticator.Attempt::callClass)
          .containsExactly(CallClass.ANY_ROLE, CallClass.ANY_ROLE);
      assertThat(attempts.getFirst().method())
          .isEqualTo("arrow.flight.protocol.FlightService/DoAction");
      assertThat(handler.calls).hasSize(1);
      assertThat(handler.calls.getFirst().principal()).isEqualTo("alice");
    }
  }
}
