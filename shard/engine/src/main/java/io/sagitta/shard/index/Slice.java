// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import io.sagitta.shard.hnsw.GraphBuilder;
import io.sagitta.shard.hnsw.VectorIndex;
import io.sagitta.shard.segment.GrowingPrefix;
import io.sagitta.shard.segment.RowRun;
import io.sagitta.shard.segment.Segment;
import java.util.concurrent.Executor;

/** Brings the next rows of a segment into its graph. */
final class Slice {
  private final Segment segment;
  private final FieldIndex target;

  Slice(Segment segment, FieldIndex target) {
    this.segment = segment;
    this.target = target;
  }

  /**
   * Bytes of the memory that takes the present one's place for rows up to {@code to}; 0 for none.
   */
  long bytesNeeded(int to) {
    VectorIndex index = target.index();
    return to <= index.capacity() ? 0 : VectorIndex.bytes(index.parameters(), capacity(to));
  }

  /** Encodes and inserts rows up to {@code to}, then shows them to searches. */
  void insert(int to, int workers, Executor executor) {
    VectorIndex index = target.index();
    int from = index.size();
    if (to > index.capacity()) {
      index.reserve(capacity(to));
    }
    for (int row = from; row < to; ) {
      RowRun run = segment.runOf(row);
      int end = Math.min(to, run.start() + run.rows());
      encode(index, run, row, end);
      row = end;
    }
    ParallelRows.run(() -> new GraphBuilder(index)::insert, from, to, workers, executor);
    index.publish(to);
  }

  /** A sealed segment's rows are known; a growing one's double. */
  private int capacity(int to) {
    return segment instanceof GrowingPrefix
        ? Math.max(to, 2 * target.index().capacity())
        : segment.rows();
  }

  private void encode(VectorIndex index, RowRun run, int from, int to) {
    int fieldId = target.field().fieldId();
    int first = from - run.start();
    int last = to - run.start();
    long[] present = null;
    if (!run.allHaveVectors(fieldId)) {
      present = new long[(run.rows() + 63) >> 6];
      for (int row = first; row < last; row++) {
        if (run.hasVector(fieldId, row)) {
          present[row >> 6] |= 1L << row;
        }
      }
    }
    long[] hashes = run.ids().hashes(first, last);
    index.encode(from, run.vectors(fieldId), first, last, present, hashes);
  }
}
