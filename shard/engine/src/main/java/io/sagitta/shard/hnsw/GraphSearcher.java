// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.QueryPlanes;
import io.sagitta.shard.distance.ScanTable;
import io.sagitta.shard.distance.SubspaceQuantizer;
import io.sagitta.shard.distance.TopK;

/**
 * Searches indexes, one at a time; several searchers may search one index, also while rows are
 * inserted. Keeps its room, so that a search allocates nothing once it has grown. One thread at a
 * time.
 */
public final class GraphSearcher {
  private final GraphWalk walk = new GraphWalk();
  private final ScanTable table = new ScanTable();
  private final boolean byNeighbours;
  private QueryPlanes planes;
  private float[] weights = new float[0];
  private float[] values = new float[0];
  private int[] hits = new int[0];
  private float[] estimates = new float[0];
  private float[] scores = new float[0];
  private long visited;

  /** A searcher with no room yet. */
  public GraphSearcher() {
    this(true);
  }

  /** As above; with false, it looks at every neighbour though there are codes of neighbours. */
  GraphSearcher(boolean byNeighbours) {
    this.byNeighbours = byNeighbours;
  }

  /**
   * Collects the best rows by estimate, best first: see {@link #hits} and {@link #estimates}. Of
   * many rows at exactly one distance, copies of one vector, all but a few stand in every other
   * place at most, between rows that may turn out better; and where there are such, as many more
   * places are given as they may take, so that they do not crowd each other out either.
   *
   * @param query on the index's field
   * @param depth rows wanted
   * @param acceptOrNull which rows may be collected, row {@code r} as bit {@code r & 63} of word
   *     {@code r >> 6}; null where all may. Rows refused are still walked over.
   * @param limit no ordinal from this on is collected
   * @param visitedMax rows scored after which the search gives up: the caller then scans
   * @return rows found, at most {@code 2 depth}; fewer than {@code depth} where it gave up, or no
   *     more were met
   */
  public int search(
      VectorIndex index,
      CodeQuery query,
      Effort effort,
      int depth,
      long[] acceptOrNull,
      int limit,
      long visitedMax,
      StopCheck stop) {
    if (!query.parameters().equals(index.parameters())) {
      throw new IllegalArgumentException(
          "query on " + query.parameters() + ", index of " + index.parameters());
    }
    GraphMemory memory = index.acquire();
    try {
      return search(
          index.space(), memory, query, effort, depth, acceptOrNull, limit, visitedMax, stop);
    } finally {
      visited = walk.scored();
      walk.end();
      memory.release();
    }
  }

  private int search(
      GraphSpace space,
      GraphMemory memory,
      CodeQuery query,
      Effort effort,
      int depth,
      long[] acceptOrNull,
      int limit,
      long visitedMax,
      StopCheck stop) {
    if (planes == null || !planes.layout().equals(memory.rows.layout())) {
      planes = new QueryPlanes(memory.rows.layout());
      values = new float[memory.parameters.dimension()];
    }
    if (hits.length < 2 * depth) {
      hits = new int[2 * depth];
      estimates = new float[2 * depth];
    }
    walk.begin(memory, planes, effort.traversal());
    long entry = memory.entry();
    if (GraphMemory.entryOrdinal(entry) < 0) {
      return 0;
    }
    space.planes(query, values, planes);
    if (byNeighbours && memory.neighbours != null && effort.traversal() == Traversal.FOUR) {
      SubspaceQuantizer quantizer = memory.neighbours.quantizer;
      if (weights.length != quantizer.dimension()) {
        weights = new float[quantizer.dimension()];
      }
      float weight = space.weights(query, weights);
      table.set(quantizer, weights);
      walk.scanNeighbours(table, weight);
    }
    int from = walk.descend(GraphMemory.entryOrdinal(entry), GraphMemory.entryLevel(entry), 0);
    int ef = Math.max(effort.ef(), depth);
    int count;
    do {
      walk.walk(from, 0, ef, acceptOrNull, limit, visitedMax, stop);
      count = walk.best(depth + Math.min(depth, walk.aside()), hits, estimates);
      // Rows beyond the limit may have been linked since the walk began; the next one knows.
    } while (anyBeyond(limit, count));
    return count;
  }

  private boolean anyBeyond(int limit, int count) {
    for (int i = 0; i < count; i++) {
      if (hits[i] >= limit) {
        return true;
      }
    }
    return false;
  }

  /**
   * Searches as a calibration chose, once more where the query turns out to be far from all rows,
   * scores the best {@link Effort#rerank} rows exactly and offers them to a heap as {@code firstRef
   * + ordinal}.
   *
   * @return rows scored exactly
   */
  public int search(
      VectorIndex index,
      ExactRows rows,
      PreparedQuery exact,
      CodeQuery query,
      Calibration.Choice choice,
      long[] acceptOrNull,
      int limit,
      long visitedMax,
      StopCheck stop,
      TopK heap,
      long firstRef) {
    Effort effort = choice.effort();
    int count =
        search(index, query, effort, effort.rerank(), acceptOrNull, limit, visitedMax, stop);
    long before = 0;
    if (choice.farEffort().isPresent()
        && count > 0
        && estimates[0] > choice.far()
        && !walk.gaveUp()) {
      before = visited;
      Effort more = choice.farEffort().get();
      count =
          search(index, query, more, more.rerank(), acceptOrNull, limit, visitedMax - before, stop);
    }
    visited += before;
    offer(rows, exact, count, heap, firstRef);
    return count;
  }

  /** As above with one effort for all queries. */
  public int search(
      VectorIndex index,
      ExactRows rows,
      PreparedQuery exact,
      CodeQuery query,
      Effort effort,
      long[] acceptOrNull,
      int limit,
      long visitedMax,
      StopCheck stop,
      TopK heap,
      long firstRef) {
    int count =
        search(index, query, effort, effort.rerank(), acceptOrNull, limit, visitedMax, stop);
    offer(rows, exact, count, heap, firstRef);
    return count;
  }

  private void offer(ExactRows rows, PreparedQuery exact, int count, TopK heap, long firstRef) {
    if (scores.length < count) {
      scores = new float[hits.length];
    }
    rows.score(exact, hits, 0, count, scores, 0);
    for (int i = 0; i < count; i++) {
      heap.offer(scores[i], firstRef + hits[i]);
    }
  }

  /** Ordinals that the last search found, best first; as many as it returned are valid. */
  public int[] hits() {
    return hits;
  }

  /**
   * Their estimated distances: lower is better whatever the metric, comparable between indexes of
   * one field.
   */
  public float[] estimates() {
    return estimates;
  }

  /** Rows that the last search scored by their codes. */
  public long visited() {
    return visited;
  }

  /** Whether it ended at {@code visitedMax}: rows may be missing that a scan would find. */
  public boolean gaveUp() {
    return walk.gaveUp();
  }
}
