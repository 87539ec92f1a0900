// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import java.util.Optional;

/**
 * A collection of one shard, to which points are only ever added, one for each edition. Failures
 * are {@link io.sagitta.model.SagittaException}s. Safe for several threads.
 */
public interface Register extends AutoCloseable {

  /** Adds the edition by way of this node; returns when it is acknowledged. */
  void write(String node, long edition);

  /** Whether a strong read that this node answers sees the edition. */
  boolean sees(String node, long edition);

  /** The node that leads the shard, as this node sees it. */
  Optional<String> leader(String node);

  @Override
  void close();
}
