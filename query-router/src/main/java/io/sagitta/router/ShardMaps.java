// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.model.ShardMap;
import java.util.concurrent.CompletableFuture;

/**
 * Where the router learns who owns what. Implemented by the node on top of its copy of the metadata
 * group's state. Any thread.
 */
public interface ShardMaps {

  /**
   * The newest map known to this process: a plain read, never blocks. {@link ShardMap#EMPTY} at
   * first.
   */
  ShardMap current();

  /**
   * Asks the metadata group (its leader, not a local copy) for its present map, adopts it if it is
   * newer and completes with a map at least as new as {@code minEpoch} <em>and</em> as the state at
   * the time of the call; 0 asks for the present state. So a collection that was created through
   * another node before this call is in the answer.
   *
   * <p>Fails with UNAVAILABLE when no metadata leader answers in time. The router asks at most once
   * at a time and shares the answer, so the implementation need not coalesce.
   */
  CompletableFuture<ShardMap> refresh(long minEpoch);
}
