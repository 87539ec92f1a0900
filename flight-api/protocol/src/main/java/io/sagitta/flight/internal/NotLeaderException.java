// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.internal;

import io.sagitta.model.NodeId;
import java.util.Optional;

/**
 * The node asked does not lead the shard; nothing was appended. Stays between router and shards: a
 * client only ever sees UNAVAILABLE once the router's own retries are spent.
 */
public final class NotLeaderException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Optional<NodeId> leader;

  public NotLeaderException(String message, Optional<NodeId> leader) {
    super(message);
    this.leader = leader;
  }

  /** The leader as the node knows it. */
  public Optional<NodeId> leader() {
    return leader;
  }
}
