// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

/**
 * How hard a search tries.
 *
 * @param ef how many of the best rows, by estimate, are kept and followed up
 * @param rerank how many of those are scored exactly
 */
public record Effort(int ef, int rerank, Traversal traversal) {
  /** Checks the ranges. */
  public Effort {
    if (ef < 1 || rerank < 1) {
      throw new IllegalArgumentException("ef " + ef + ", rerank " + rerank);
    }
  }
}
