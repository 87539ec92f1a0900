// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.shard.distance.NativeMemory;
import io.sagitta.shard.distance.QueryPlanes;

/**
 * Makes every row reachable. Choosing links drops some, and now and then the last that led to a
 * row: among copies of one vector, or far outliers. This finds such rows, by going wherever links
 * lead from the entry, and links each from a near row. Some milliseconds for 100,000 rows; to be
 * run before an index is sealed, while nothing is inserted.
 */
public final class GraphConnector {
  /**
   * A row whose near rows are themselves not reachable waits for the next pass; more than two are
   * hardly ever needed.
   */
  private static final int PASSES_MAX = 8;

  /** Lists of which a link is given up where none has a free place. */
  private static final int FULL_LISTS = 16;

  private final VectorIndex index;
  private final GraphWalk walk = new GraphWalk();
  private final QueryPlanes query;
  private final float[] values;
  private final int[] near;
  private final float[] estimates;

  private GraphConnector(VectorIndex index) {
    this.index = index;
    this.query = new QueryPlanes(GraphMemory.layout(index.parameters()));
    this.values = new float[index.parameters().dimension()];
    this.near = new int[index.parameters().efConstruction()];
    this.estimates = new float[near.length];
  }

  /**
   * Links what was not reachable.
   *
   * @return links added
   */
  public static int connect(VectorIndex index) {
    GraphMemory memory = index.acquire();
    try {
      return new GraphConnector(index).connect(memory, index.size());
    } finally {
      memory.release();
    }
  }

  private int connect(GraphMemory memory, int size) {
    int[] leadingTo = linksLeadingTo(memory, size);
    int entry = GraphMemory.entryOrdinal(memory.entry());
    int added = 0;
    for (int pass = 0; entry >= 0 && pass < PASSES_MAX; pass++) {
      Reach reach = new Reach(memory, size);
      reach.add(entry, 0);
      int before = added;
      for (int row = 0; row < size; row++) {
        if (!memory.isAbsent(row) && !reach.contains(row)) {
          long link = link(memory, row, reach, leadingTo);
          if (link != 0) {
            reach.add(row, link);
            added++;
          }
        }
      }
      if (added == before) {
        break;
      }
    }
    return added;
  }

  /** Links a row from a near one that is reachable; returns the link's address, 0 for none. */
  private long link(GraphMemory memory, int row, Reach reach, int[] leadingTo) {
    index.space().planes(memory.rows, row, values, query);
    long entry = memory.entry();
    walk.begin(memory, query, Traversal.FOUR);
    int from = walk.descend(GraphMemory.entryOrdinal(entry), GraphMemory.entryLevel(entry), 0);
    walk.walk(from, 0, near.length, null, memory.capacity, Long.MAX_VALUE, StopCheck.NEVER);
    int count = walk.best(near.length, near, estimates);
    walk.end();
    int reachable = 0;
    for (int i = 0; i < count; i++) {
      if (reach.contains(near[i])) {
        near[reachable++] = near[i];
      }
    }
    int width = memory.width(0);
    for (int i = 0; i < reachable; i++) {
      long list = memory.list(near[i], 0);
      int length = GraphMemory.length(list, width);
      if (length < width) {
        GraphMemory.putLink(list, length, row);
        leadingTo[row]++;
        return list + 4L * length;
      }
    }
    return replace(memory, row, Math.min(reachable, FULL_LISTS), reach, leadingTo);
  }

  /**
   * Takes the place of the link whose row most others lead to, of those by which nothing hangs:
   * what has been reached stays so.
   */
  private long replace(GraphMemory memory, int row, int lists, Reach reach, int[] leadingTo) {
    long best = 0;
    int most = -1;
    for (int i = 0; i < lists; i++) {
      for (int slot = 0; slot < memory.width; slot++) {
        long at = memory.list(near[i], 0) + 4L * slot;
        int to = NativeMemory.intAt(at);
        if (leadingTo[to] > most && !reach.holds(at)) {
          most = leadingTo[to];
          best = at;
        }
      }
    }
    if (best != 0) {
      leadingTo[NativeMemory.intAt(best)]--;
      leadingTo[row]++;
      GraphMemory.putLink(best, 0, row);
    }
    return best;
  }

  private static int[] linksLeadingTo(GraphMemory memory, int size) {
    int[] count = new int[size];
    for (int row = 0; row < size; row++) {
      long list = memory.list(row, 0);
      int length = GraphMemory.length(list, memory.width);
      for (int i = 0; i < length; i++) {
        count[NativeMemory.intAt(list + 4L * i)]++;
      }
    }
    return count;
  }
}
