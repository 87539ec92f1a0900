// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.internal;

import io.sagitta.model.ReadStamp;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteOutcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * The shards of one node, as the router sees them: this process's own (cluster-node) or another
 * node's over its internal port (router fan-out). Both answer alike, so the router never cares.
 *
 * <p>Failures are {@link io.sagitta.model.SagittaException}s: UNAVAILABLE where the node does not
 * lead (as {@link NotLeaderException} with the leader it knows), OUTCOME_UNKNOWN where a write may
 * have been appended, DEADLINE_EXCEEDED, INVALID_ARGUMENT of a filter and so on.
 */
public interface ShardDoor {
  /** Proposes a write on the shard's leader. */
  CompletableFuture<WriteOutcome> write(ShardWrite write, CallContext call);

  /** Reads one shard. */
  CompletableFuture<ShardAnswer> read(ShardRead read, CallContext call);

  /**
   * Whether anybody is behind the door: completes when there is, however busy, and fails otherwise.
   * This process always is.
   */
  default CompletableFuture<Void> pulse(Duration timeout) {
    return CompletableFuture.completedFuture(null);
  }

  /**
   * One shard's answer. The caller closes it.
   *
   * @param stamp its part of the certificate
   * @param rows Search: {@code query: int32}, id, {@code _score: float32}, {@code _version: int64},
   *     fields, best first per query; Get and Scan: id, {@code _version}, fields; Count: one row
   *     {@code count: int64}
   */
  record ShardAnswer(ReadStamp stamp, VectorSchemaRoot rows) implements AutoCloseable {
    @Override
    public void close() {
      rows.close();
    }
  }
}
