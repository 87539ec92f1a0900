// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

/** What a search reads of the rows that it passes. */
public enum Traversal {
  /** The high nibbles. */
  FOUR,
  /** All 8 bits of a component. */
  EIGHT,
  /** The bits of a binary vector; what such an index uses whatever was asked. */
  BITS
}
