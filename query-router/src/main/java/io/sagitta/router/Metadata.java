// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.flight.internal.CallContext;
import io.sagitta.model.ShardMap;
import java.util.concurrent.CompletableFuture;

/**
 * The side of the node that changes and tells the cluster's metadata. Implemented by the node; it
 * finds the metadata group's leader itself. Failures are {@link io.sagitta.model.SagittaException}s
 * by the contract's table; every call ends by {@code call.deadlineNanos()}.
 */
public interface Metadata {

  /**
   * Creates a collection and completes once it may be written to: its shards have leaders that
   * applied their first entry. When the deadline ends the wait but the collection is committed, it
   * completes all the same, since the router waits for shards in its own retries.
   *
   * @return the map that contains the collection, already visible in {@link ShardMaps#current}
   * @throws io.sagitta.model.SagittaException (in the future) ALREADY_EXISTS, LIMIT of
   *     group-replicas, UNAVAILABLE
   */
  CompletableFuture<ShardMap> create(CreateSpec spec, CallContext call);

  /**
   * Drops a collection; NOT_FOUND when there is none. The files go later, when no view holds them.
   *
   * @return the map without the collection, already visible in {@link ShardMaps#current}
   */
  CompletableFuture<ShardMap> drop(String collection, CallContext call);

  /**
   * The cluster as one JSON object: nodes, metadata leader, health. Answered as it is by {@code
   * status}.
   */
  CompletableFuture<ObjectNode> status(CallContext call);

  /**
   * What {@code describe} adds to schema and placement, which the router writes itself. Keys of the
   * object are merged into the answer; {@code {}} is allowed. Expected: {@code "shard_states"}, by
   * shard number, with leader, index, rows and bytes as far as they are known here without asking
   * around.
   */
  CompletableFuture<ObjectNode> describeExtras(ShardMap.Collection collection, CallContext call);

  /**
   * What {@code verify} answers, as it is: every replica's digest of its live rows, compared at one
   * log index. {@code {"shards": [{"shard", "equal": true | false | null, "replicas": [{"node",
   * "index", "rows", "digest", "verdict", "cause"}]}]}}.
   *
   * <p>{@code verdict} is {@code equal} (holds what a majority of the shard's replicas holds),
   * {@code different} (a majority holds something else), {@code undecided} (compared, but no
   * majority holds the same), {@code not_compared} (no other was read at its log index), {@code
   * only_replica}, {@code damaged}, {@code unreachable} (its node did not answer) or {@code
   * unavailable} (it cannot be read now); {@code cause} says why, but for {@code equal}. The last
   * three have {@code "error"} in place of index, rows and digest.
   *
   * <p>{@code equal} of a shard is true where all its replicas were read at one log index and none
   * differs; false where some differ or one is damaged; else null: not all could be compared, or
   * there is only one.
   */
  CompletableFuture<ObjectNode> verify(ShardMap.Collection collection, CallContext call);
}
