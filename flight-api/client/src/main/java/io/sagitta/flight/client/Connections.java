// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import io.grpc.ChannelCredentials;
import io.grpc.ClientInterceptor;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Reason;
import io.sagitta.model.SagittaException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightGrpcUtils;
import org.apache.arrow.memory.BufferAllocator;

/**
 * One connection to each endpoint, made when first used. All calls go to the same one until it
 * fails: any node can answer, and a warm connection is the fastest.
 */
final class Connections implements AutoCloseable {
  /** Answers come in messages of 2 MiB; room for other servers' habits. */
  private static final int MESSAGE_BYTES_MAX = 64 << 20;

  private static final int FLOW_CONTROL_BYTES = 8 << 20;

  private final List<Connection> connections = new ArrayList<>();
  private final AtomicInteger current = new AtomicInteger();

  /** A connection and the Flight client on it. */
  record Connection(Endpoint endpoint, ManagedChannel channel, FlightClient flight) {}

  Connections(ClientConfig config, BufferAllocator allocator) {
    for (Endpoint endpoint : config.endpoints()) {
      ManagedChannel channel = channel(endpoint, config);
      connections.add(
          new Connection(
              endpoint,
              channel,
              FlightGrpcUtils.createFlightClientWithSharedChannel(allocator, channel)));
    }
  }

  private static ManagedChannel channel(Endpoint endpoint, ClientConfig config) {
    NettyChannelBuilder builder =
        NettyChannelBuilder.forAddress(endpoint.host(), endpoint.port(), credentials(config))
            // What runs on the transport's thread only enqueues; a hop less is some 30 us.
            .directExecutor()
            .maxInboundMessageSize(MESSAGE_BYTES_MAX)
            .initialFlowControlWindow(FLOW_CONTROL_BYTES)
            .keepAliveTime(30, TimeUnit.SECONDS)
            .keepAliveTimeout(20, TimeUnit.SECONDS)
            // Retries are ours: gRPC knows nothing of writers.
            .disableRetry();
    config.token().ifPresent(token -> builder.intercept(bearer(token)));
    return builder.build();
  }

  private static ChannelCredentials credentials(ClientConfig config) {
    if (config.tls().isEmpty()) {
      return InsecureChannelCredentials.create();
    }
    try {
      return TlsChannelCredentials.newBuilder().trustManager(config.tls().get().toFile()).build();
    } catch (IOException e) {
      throw new SagittaException(
          ErrorCode.INVALID_ARGUMENT, "cannot read " + config.tls().get() + ": " + Reason.of(e), e);
    }
  }

  private static ClientInterceptor bearer(String token) {
    Metadata headers = new Metadata();
    headers.put(
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
    return MetadataUtils.newAttachHeadersInterceptor(headers);
  }

  /** The one to use now. */
  Connection current() {
    return connections.get(Math.floorMod(current.get(), connections.size()));
  }

  /**
   * Moves on from a connection that failed, unless another call has done so already, and lets the
   * next one connect at once however long ago it last failed.
   */
  void failed(Connection connection) {
    int at = current.get();
    if (current().equals(connection) && connections.size() > 1) {
      current.compareAndSet(at, at + 1);
    }
    current().channel().resetConnectBackoff();
  }

  @Override
  public void close() {
    for (Connection connection : connections) {
      connection.channel().shutdown();
    }
    try {
      for (Connection connection : connections) {
        if (!connection.channel().awaitTermination(1, TimeUnit.SECONDS)) {
          connection.channel().shutdownNow();
          connection.channel().awaitTermination(1, TimeUnit.SECONDS);
        }
      }
    } catch (InterruptedException e) {
      connections.forEach(connection -> connection.channel().shutdownNow());
      Thread.currentThread().interrupt();
    }
  }
}
