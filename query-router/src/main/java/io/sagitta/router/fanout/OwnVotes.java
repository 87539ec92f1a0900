// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.fanout;

import io.sagitta.flight.internal.AskerTerm;
import io.sagitta.model.ShardId;
import java.util.Optional;

/**
 * This node as a voter of shards that others lead. A strong read takes its term along to the
 * leader, which then need not ask for it.
 */
public interface OwnVotes {
  /** Its term of a shard's group, read now; empty where it does not vote. Never blocks. */
  Optional<AskerTerm> term(ShardId shard);

  /** A node that votes on nothing. */
  OwnVotes NONE = shard -> Optional.empty();
}
