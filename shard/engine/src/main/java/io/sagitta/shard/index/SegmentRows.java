// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.Scorer;
import io.sagitta.shard.distance.VectorRows;
import io.sagitta.shard.hnsw.ExactRows;
import io.sagitta.shard.segment.RowRun;
import io.sagitta.shard.segment.Segment;

/** The vectors of one field of a segment, scored by ordinal. One thread at a time. */
public final class SegmentRows implements ExactRows {
  private static final int BATCH = 64;

  private final Segment segment;
  private final int fieldId;
  private final int[] inRun = new int[BATCH];

  /** The segment must have the field, and stay while this is used. */
  public SegmentRows(Segment segment, int fieldId) {
    this.segment = segment;
    this.fieldId = fieldId;
  }

  @Override
  public void score(PreparedQuery query, int[] ordinals, int from, int to, float[] out, int at) {
    // Neighbouring ordinals of the argument that lie in one run are scored together.
    for (int i = from; i < to; ) {
      RowRun run = segment.runOf(ordinals[i]);
      int count = 0;
      while (i + count < to && count < BATCH && holds(run, ordinals[i + count])) {
        inRun[count] = ordinals[i + count] - run.start();
        count++;
      }
      Scorer.score(query, run.vectors(fieldId), inRun, 0, count, out, at + i - from);
      i += count;
    }
  }

  /** Whether a row has a vector. */
  boolean has(int ordinal) {
    RowRun run = segment.runOf(ordinal);
    return run.vectors(fieldId) != null && run.hasVector(fieldId, ordinal - run.start());
  }

  /** A row's components; it must have a vector. */
  float[] read(int ordinal, int dimension) {
    RowRun run = segment.runOf(ordinal);
    VectorRows rows = run.vectors(fieldId);
    float[] values = new float[dimension];
    rows.read(ordinal - run.start(), values);
    return values;
  }

  private static boolean holds(RowRun run, int ordinal) {
    return ordinal >= run.start() && ordinal < run.start() + run.rows();
  }
}
