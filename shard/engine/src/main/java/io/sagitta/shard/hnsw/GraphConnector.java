// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.shard.distance.QueryPlanes;

/**
 * Makes every row reachable. Choosing links drops some, and now and then the last that led to a
 * row: among copies of one vector, or far outliers. This finds such rows, by going wherever links
 * lead from the entry, and links each from a near row. Some milliseconds for 100,000 rows; to be
 * run before an index is sealed, while nothing is inserted.
 */
public final class GraphConnector {
  /** Each pass may cut off a row when it finds no free place; more than one is hardly ever seen. */
  private static final int PASSES_MAX = 4;

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
    int entry = GraphMemory.entryOrdinal(memory.entry());
    int added = 0;
    for (int pass = 0; entry >= 0 && pass < PASSES_MAX; pass++) {
      Reach reach = new Reach(memory, size);
      reach.add(entry);
      int before = added;
      for (int row = 0; row < size; row++) {
        if (!memory.isAbsent(row) && !reach.contains(row)) {
          link(memory, row);
          reach.add(row);
          added++;
        }
      }
      if (added == before) {
        break;
      }
    }
    return added;
  }

  private void link(GraphMemory memory, int row) {
    index.space().planes(memory.rows, row, values, query);
    long entry = memory.entry();
    walk.begin(memory, query, Traversal.FOUR);
    int from = walk.descend(GraphMemory.entryOrdinal(entry), GraphMemory.entryLevel(entry), 0);
    walk.walk(from, 0, near.length, null, memory.capacity, Long.MAX_VALUE, StopCheck.NEVER);
    int count = walk.best(near.length, near, estimates);
    walk.end();
    int width = memory.width(0);
    for (int i = 0; i < count; i++) {
      long list = memory.list(near[i], 0);
      int length = near[i] == row ? width : GraphMemory.length(list, width);
      if (length < width) {
        GraphMemory.putLink(list, length, row);
        return;
      }
    }
    GraphMemory.putLink(memory.list(near[0], 0), width - 1, row);
  }
}
