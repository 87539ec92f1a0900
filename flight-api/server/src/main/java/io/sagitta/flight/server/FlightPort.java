// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallExecutorSupplier;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * A gRPC server as our ports need it. Calls run on the transport's own thread, which saves two
 * hand-overs of some 30 us each: what runs there decodes, hands over, and never blocks. The methods
 * that may block ({@link #BLOCKING}) run on virtual threads instead. Not {@code directExecutor}
 * alone: with it an upload that is refused midway may take the whole connection with it.
 */
final class FlightPort {
  /** Methods whose callbacks may block, by their bare names. */
  private static final Set<String> BLOCKING = Set.of("DoPut", "GetFlightInfo", "GetSchema");

  private static final Executor DIRECT = Runnable::run;

  private static final int METADATA_BYTES_MAX = 32 << 10;
  private static final int CALLS_PER_CONNECTION_MAX = 1_000;
  private static final int FLOW_CONTROL_BYTES = 4 << 20;

  private final Server server;
  private final CallGate gate;
  private final PortConfig config;

  private FlightPort(Server server, CallGate gate, PortConfig config) {
    this.server = server;
    this.gate = gate;
    this.config = config;
  }

  /**
   * Binds the port and serves.
   *
   * @param virtualThreads runs what may block, one thread a task
   */
  static FlightPort start(
      PortConfig config,
      CallGate gate,
      Executor virtualThreads,
      List<ServerServiceDefinition> services) {
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(
                new InetSocketAddress(config.host(), config.port()),
                TlsConfig.credentials(config.tls()))
            .directExecutor()
            .callExecutor(new ByMethod(virtualThreads))
            .intercept(gate)
            // MessageSize bounds messages; this only keeps its counting honest.
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .addStreamTracerFactory(MessageSize.FACTORY)
            .intercept(MessageSize.INTERCEPTOR)
            .maxInboundMetadataSize(METADATA_BYTES_MAX)
            .maxConcurrentCallsPerConnection(CALLS_PER_CONNECTION_MAX)
            .initialFlowControlWindow(FLOW_CONTROL_BYTES)
            .permitKeepAliveTime(10, TimeUnit.SECONDS)
            .permitKeepAliveWithoutCalls(true)
            .keepAliveTime(30, TimeUnit.SECONDS)
            .keepAliveTimeout(20, TimeUnit.SECONDS);
    services.forEach(builder::addService);
    Server server = builder.build();
    try {
      server.start();
    } catch (IOException e) {
      throw new SagittaException(
          ErrorCode.UNAVAILABLE,
          "cannot listen on " + config.host() + ":" + config.port() + ": " + rootMessage(e),
          e);
    }
    return new FlightPort(server, gate, config);
  }

  private static String rootMessage(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause.getMessage();
  }

  int port() {
    return server.getPort();
  }

  /** The services served, for the test that every method has a class. */
  List<ServerServiceDefinition> services() {
    return server.getServices();
  }

  /** Refuses new calls; those that run go on. */
  void drain() {
    gate.drain();
  }

  /** Waits for running calls, at most the port's drain time, then ends them. */
  void close() throws InterruptedException {
    gate.drain();
    server.shutdown();
    if (!server.awaitTermination(config.drainTimeout().toMillis(), TimeUnit.MILLISECONDS)) {
      server.shutdownNow();
      server.awaitTermination(5, TimeUnit.SECONDS);
    }
  }

  /** Ends all at once. */
  void kill() throws InterruptedException {
    server.shutdownNow();
    server.awaitTermination(5, TimeUnit.SECONDS);
  }

  /** Picks the executor by method, before anything of the call is decoded. */
  private static final class ByMethod implements ServerCallExecutorSupplier {
    private final Executor virtualThreads;

    private ByMethod(Executor virtualThreads) {
      this.virtualThreads = virtualThreads;
    }

    @Override
    public <A, B> Executor getExecutor(ServerCall<A, B> call, Metadata headers) {
      return BLOCKING.contains(call.getMethodDescriptor().getBareMethodName())
          ? virtualThreads
          : DIRECT;
    }
  }
}
