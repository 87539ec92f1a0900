// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

/** Asked between blocks of a read; throws when its answer is of no use any more. */
@FunctionalInterface
public interface StopSignal {
  StopSignal NEVER = () -> {};

  /** Returns to go on; throws DEADLINE_EXCEEDED or UNAVAILABLE (cancelled) to stop. */
  void check();
}
