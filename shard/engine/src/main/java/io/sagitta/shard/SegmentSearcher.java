// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.VectorField;
import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.TopK;
import io.sagitta.shard.hnsw.Effort;
import io.sagitta.shard.segment.Segment;
import java.util.Optional;

/** Finds the best rows of one segment: by scanning it, or by whatever index it has. */
interface SegmentSearcher {
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

  /**
   * What a search of one segment did.
   *
   * @param visited vectors scored, by codes or exactly
   * @param recall mean recall it was planned for; 1 where every candidate was scored exactly
   * @param effort how the graph was searched; empty for a scan
   */
  record Searched(Strategy strategy, long visited, double recall, Optional<Effort> effort) {
    /** A scan of the candidates. */
    static Searched scan(long visited) {
      return new Searched(Strategy.SCAN, visited, 1, Optional.empty());
    }
  }

  /**
   * Offers rows to the heaps, one heap for each query.
   *
   * @param segment the segment
   * @param firstRef reference of its row 0; a row's reference is this plus its ordinal
   * @param field the field searched; the segment has it
   * @param candidates one bit a row: the rows that may be offered, some of them without a vector
   */
  Searched search(
      Segment segment,
      long firstRef,
      VectorField field,
      long[] candidates,
      PreparedQuery[] queries,
      TopK[] heaps,
      StopSignal stop);
}
