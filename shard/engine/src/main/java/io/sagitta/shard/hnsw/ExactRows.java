// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.shard.distance.PreparedQuery;

/** Exact scores of rows by ordinal: the vectors that an index was made from. */
@FunctionalInterface
public interface ExactRows {
  /** Scores rows {@code ordinals[from..to)}, in any order, to {@code out[at..]}. */
  void score(PreparedQuery query, int[] ordinals, int from, int to, float[] out, int at);
}
