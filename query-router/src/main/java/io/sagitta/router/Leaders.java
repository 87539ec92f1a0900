// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import java.util.Optional;

/**
 * Hints about who leads a shard, as far as this process happens to know: from its own replica of
 * the shard, or from what peers told. A wrong hint costs one refused call (the router then follows
 * the leader named in the refusal), never a wrong answer. Any thread, never blocks.
 */
public interface Leaders {
  Optional<NodeId> leaderOf(ShardId shard);

  /** Knows nothing. */
  Leaders UNKNOWN = shard -> Optional.empty();
}
