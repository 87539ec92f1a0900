// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

/** Asked every few steps of a search; throws when the answer is of no use any more. */
@FunctionalInterface
public interface StopCheck {
  StopCheck NEVER = () -> {};

  /** Returns to go on; throws to stop. */
  void check();
}
