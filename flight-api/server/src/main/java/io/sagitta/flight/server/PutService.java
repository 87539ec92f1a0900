// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.protobuf.ProtoUtils;
import io.sagitta.flight.RequestHandler;
import io.sagitta.flight.server.ipc.IncomingFrame;
import io.sagitta.flight.server.ipc.IncomingFrames;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.apache.arrow.flight.impl.Flight.PutResult;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Serves DoPut in place of Flight's own method, whose reader does not do for uploads from strangers
 * (see {@link io.sagitta.flight.server.ipc}). DoExchange, which shares that reader, is not offered.
 */
final class PutService {
  private static final String DO_PUT = "DoPut";

  private final RequestHandler handler;
  private final BufferAllocator allocator;
  private final Executor virtualThreads;
  private final Set<PutStream> open = ConcurrentHashMap.newKeySet();

  PutService(RequestHandler handler, BufferAllocator allocator, Executor virtualThreads) {
    this.handler = handler;
    this.allocator = allocator;
    this.virtualThreads = virtualThreads;
  }

  /** Flight's service with DoPut served here. */
  ServerServiceDefinition over(ServerServiceDefinition flight) {
    ServerServiceDefinition.Builder service =
        ServerServiceDefinition.builder(FlightMethods.SERVICE);
    for (ServerMethodDefinition<?, ?> method : flight.getMethods()) {
      if (method.getMethodDescriptor().getBareMethodName().equals(DO_PUT)) {
        service.addMethod(doPut(), (call, headers) -> start(call));
      } else {
        FlightMethods.add(method, service);
      }
    }
    return service.build();
  }

  private MethodDescriptor<IncomingFrame, PutResult> doPut() {
    return MethodDescriptor.<IncomingFrame, PutResult>newBuilder()
        .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(FlightMethods.SERVICE, DO_PUT))
        .setRequestMarshaller(new IncomingFrames(allocator))
        .setResponseMarshaller(ProtoUtils.marshaller(PutResult.getDefaultInstance()))
        .build();
  }

  private ServerCall.Listener<IncomingFrame> start(ServerCall<IncomingFrame, PutResult> call) {
    PutStream stream = new PutStream(call, handler, allocator);
    open.add(stream);
    return stream.start(virtualThreads, () -> open.remove(stream));
  }

  /** Asks every open stream to go elsewhere. */
  void rotate() {
    open.forEach(PutStream::rotate);
  }

  /** Streams that are open. */
  int streams() {
    return open.size();
  }
}
