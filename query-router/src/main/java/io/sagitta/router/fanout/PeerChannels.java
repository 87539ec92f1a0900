// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.fanout;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.sagitta.flight.RequestLimits;
import java.util.concurrent.TimeUnit;

/** Opens a channel to a node's internal port. The node gives one with its certificates. */
public interface PeerChannels {
  /**
   * Messages accepted from a peer: an answer is cut to 2 MiB, a chunk of a file to 1 MiB; the rest
   * is room for one row that cannot be cut.
   */
  int MESSAGE_BYTES_MAX = RequestLimits.REQUEST_BYTES_MAX;

  ManagedChannel open(String host, int port);

  /**
   * Without encryption, for loopback and private networks. Callbacks run on the transport's thread.
   */
  static PeerChannels plaintext() {
    return (host, port) ->
        configure(NettyChannelBuilder.forAddress(host, port).usePlaintext()).build();
  }

  /** What every channel to a peer has in common, whatever its security. */
  static NettyChannelBuilder configure(NettyChannelBuilder builder) {
    return builder
        .directExecutor()
        .maxInboundMessageSize(MESSAGE_BYTES_MAX)
        // A peer that vanished without a word is noticed between two elections.
        .keepAliveTime(10, TimeUnit.SECONDS)
        .keepAliveTimeout(5, TimeUnit.SECONDS);
  }
}
