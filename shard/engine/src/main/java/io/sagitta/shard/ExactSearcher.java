// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.VectorField;
import io.sagitta.shard.distance.BestRows;
import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.Scorer;
import io.sagitta.shard.distance.VectorRows;
import io.sagitta.shard.segment.RowRun;
import io.sagitta.shard.segment.Segment;

/**
 * Scores every candidate. Rows are read once for all queries, in blocks; a block of which few rows
 * are candidates is scored row by row.
 */
final class ExactSearcher {
  /** Rows of a block: a whole number of bitmap words, and few enough to notice a stop soon. */
  private static final int BLOCK_ROWS = 1_024;

  /** Below one candidate in this many rows, candidates are picked; above, all rows are scored. */
  private static final int SPARSE = 4;

  private final float[] scores;
  private final int[] picked = new int[BLOCK_ROWS];

  /** A searcher for one thread. */
  ExactSearcher(int queries) {
    scores = new float[Math.multiplyExact(BLOCK_ROWS, queries)];
  }

  /** Offers every candidate that has a vector; see {@link IndexedSearcher#search}. */
  Searched search(
      Segment segment,
      long firstRef,
      VectorField field,
      long[] candidates,
      PreparedQuery[] queries,
      BestRows[] heaps,
      StopSignal stop) {
    long scored = 0;
    for (RowRun run : segment.runs()) {
      VectorRows rows = run.vectors(field.fieldId());
      boolean all = run.allHaveVectors(field.fieldId());
      for (int from = 0; from < run.rows(); from += BLOCK_ROWS) {
        stop.check();
        int to = Math.min(run.rows(), from + BLOCK_ROWS);
        int count = pick(run, field.fieldId(), all, candidates, from, to);
        if (count == 0) {
          continue;
        }
        if (count == to - from) {
          scoreAll(rows, from, to, firstRef + run.start(), queries, heaps);
        } else if (count > (to - from) / SPARSE) {
          scoreMost(rows, from, to, count, firstRef + run.start(), queries, heaps);
        } else {
          scorePicked(rows, count, firstRef + run.start(), queries, heaps);
        }
        scored += count;
      }
    }
    return Searched.scan(scored * queries.length);
  }

  /** Collects the candidates among rows {@code [from, to)} of a run that have a vector. */
  private int pick(RowRun run, int fieldId, boolean all, long[] candidates, int from, int to) {
    int count = 0;
    int start = run.start();
    for (int word = (start + from) >> 6; word <= (start + to - 1) >> 6; word++) {
      for (long set = candidates[word]; set != 0; set &= set - 1) {
        int row = (word << 6) + Long.numberOfTrailingZeros(set) - start;
        if (row >= from && row < to && (all || run.hasVector(fieldId, row))) {
          picked[count++] = row;
        }
      }
    }
    return count;
  }

  private void scoreAll(
      VectorRows rows, int from, int to, long firstRef, PreparedQuery[] queries, BestRows[] heaps) {
    Scorer.score(queries, rows, from, to, scores);
    for (int q = 0; q < queries.length; q++) {
      heaps[q].offerAll(scores, q * (to - from), to - from, firstRef + from);
    }
  }

  private void scoreMost(
      VectorRows rows,
      int from,
      int to,
      int count,
      long firstRef,
      PreparedQuery[] queries,
      BestRows[] heaps) {
    Scorer.score(queries, rows, from, to, scores);
    for (int q = 0; q < queries.length; q++) {
      int at = q * (to - from);
      for (int i = 0; i < count; i++) {
        scores[at + i] = scores[at + picked[i] - from]; // picked[i] >= from + i
      }
      heaps[q].offerAll(scores, at, picked, count, firstRef);
    }
  }

  private void scorePicked(
      VectorRows rows, int count, long firstRef, PreparedQuery[] queries, BestRows[] heaps) {
    Scorer.score(queries, rows, picked, count, scores);
    for (int q = 0; q < queries.length; q++) {
      heaps[q].offerAll(scores, q * count, picked, count, firstRef);
    }
  }
}
