// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import java.time.Duration;
import java.util.Optional;

/**
 * One point of a collection of one shard, seen as a number that only grows. Failures are {@link
 * io.sagitta.model.SagittaException}s. Safe for several threads.
 */
public interface Register extends AutoCloseable {

  /** Writes the edition by way of this node; returns when it is acknowledged. */
  void write(String node, long edition, Duration timeout);

  /** A strong read, answered by this node; 0 where there is no point yet. */
  long read(String node, Duration timeout);

  /** The node that leads the shard, as this node sees it. */
  Optional<String> leader(String node);

  @Override
  void close();
}
