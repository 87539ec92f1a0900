// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.shard.hnsw.Effort;
import java.util.Optional;

/**
 * What a search of one segment did.
 *
 * @param visited vectors scored, by codes or exactly
 * @param recall mean recall it was planned for; 1 where every candidate was scored exactly
 * @param effort how the graph was searched; empty for a scan
 */
record Searched(Strategy strategy, long visited, double recall, Optional<Effort> effort) {
  /** How a segment was searched. */
  enum Strategy {
    GRAPH("graph"),
    /** By graph, under a filter. */
    MASKED("masked"),
    SCAN("scan");

    private final String word;

    Strategy(String word) {
      this.word = word;
    }

    /** As certificates name it. */
    String word() {
      return word;
    }
  }

  /** A scan of the candidates. */
  static Searched scan(long visited) {
    return new Searched(Strategy.SCAN, visited, 1, Optional.empty());
  }
}
