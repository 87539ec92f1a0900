// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import org.apache.arrow.flight.FlightGrpcUtils;
import org.apache.arrow.flight.FlightProducer;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Flight's gRPC service without its uploads, whose reader does not do for bytes from strangers (see
 * {@link io.sagitta.flight.server.ipc}). Their methods stay, so that a caller is told that they are
 * not offered.
 */
final class FlightMethods {
  /** Flight's service. */
  static final String SERVICE = "arrow.flight.protocol.FlightService";

  private static final Set<String> UPLOADS = Set.of("DoPut", "DoExchange");

  private FlightMethods() {}

  /** The service as Flight binds it. */
  static ServerServiceDefinition of(
      BufferAllocator allocator, FlightProducer producer, ExecutorService executor) {
    // No handler of handshakes: the gate refuses them.
    return FlightGrpcUtils.createFlightService(allocator, producer, null, executor).bindService();
  }

  /** The same with uploads refused. */
  static ServerServiceDefinition withoutUploads(ServerServiceDefinition flight) {
    ServerServiceDefinition.Builder service = ServerServiceDefinition.builder(SERVICE);
    for (ServerMethodDefinition<?, ?> method : flight.getMethods()) {
      add(method, service);
    }
    return service.build();
  }

  /** Adds a method as it is, or an upload's refusal in its place. */
  static <A, B> void add(
      ServerMethodDefinition<A, B> method, ServerServiceDefinition.Builder service) {
    boolean upload = UPLOADS.contains(method.getMethodDescriptor().getBareMethodName());
    service.addMethod(upload ? refused(method) : method);
  }

  private static <A, B> ServerMethodDefinition<A, B> refused(ServerMethodDefinition<A, B> method) {
    ServerCallHandler<A, B> unimplemented =
        (call, headers) -> {
          call.close(
              Status.UNIMPLEMENTED.withDescription(
                  "[sagitta.UNIMPLEMENTED] "
                      + method.getMethodDescriptor().getFullMethodName()
                      + " is not offered"),
              new Metadata());
          return new ServerCall.Listener<>() {};
        };
    return method.withServerCallHandler(unimplemented);
  }
}
