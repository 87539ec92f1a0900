// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import io.sagitta.node.NodeConfig.HostPort;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Calls to other nodes' internal ports. Failures are SagittaExceptions; UNAVAILABLE: not reached.
 */
public interface PeerCalls {
  /** A {@code MetadataRequest}; answered with a {@code MetadataReply}. */
  CompletableFuture<byte[]> metadata(HostPort to, byte[] request, Duration timeout);

  /** A {@code PlacementRequest}; answered with a {@code PlacementReply}. */
  CompletableFuture<byte[]> placement(HostPort to, byte[] request, Duration timeout);
}
