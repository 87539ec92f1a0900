// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import java.util.Map;
import java.util.Set;

/** What is known of a write. */
public sealed interface Outcome {

  /**
   * Acknowledged.
   *
   * @param indexes log index by shard number, for shards where all of the write is one entry
   * @param rejected ids that were not applied because their condition failed
   */
  record Acknowledged(Map<Integer, Long> indexes, Set<Long> rejected) implements Outcome {
    public Acknowledged {
      indexes = Map.copyOf(indexes);
      rejected = Set.copyOf(rejected);
    }
  }

  /** Certainly not applied: the error carried a code that says so. */
  record Refused(String reason) implements Outcome {}

  /** Nobody knows: applied, not applied, or in some shards only. */
  record Unknown(String reason) implements Outcome {}
}
