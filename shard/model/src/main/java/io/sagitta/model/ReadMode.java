// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

/** How fresh a read must be (docs/contract.md, section 4). */
public sealed interface ReadMode {
  /** Sees every write acknowledged before the call was sent. */
  record Strong() implements ReadMode {}

  /** Sees at least the write at {@code minIndex} of the shard read. */
  record Session(long minIndex) implements ReadMode {}

  /** The replica has confirmed the leader's commit index within the last {@code maxStalenessMs}. */
  record Bounded(long maxStalenessMs) implements ReadMode {}

  /** Whatever the replica has. */
  record Any() implements ReadMode {}

  ReadMode STRONG = new Strong();
  ReadMode ANY = new Any();
}
