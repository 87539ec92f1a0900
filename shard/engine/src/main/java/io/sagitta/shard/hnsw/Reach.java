// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.shard.distance.NativeMemory;
import java.util.Arrays;
import java.util.BitSet;

/**
 * The rows that links of level 0 lead to from those added, and for each the link by which it was
 * reached first: a tree, which holds together whatever happens to other links.
 */
final class Reach {
  private final GraphMemory memory;
  private final BitSet reached;

  /** By row: address of the link that reached it first; 0 for those added without one. */
  private final long[] via;

  private int[] open = new int[1024];

  Reach(GraphMemory memory, int size) {
    this.memory = memory;
    this.reached = new BitSet(size);
    this.via = new long[size];
  }

  boolean contains(int row) {
    return reached.get(row);
  }

  /** Whether a link, by its address, is the one that its row was reached by. */
  boolean holds(long link) {
    return via[NativeMemory.intAt(link)] == link;
  }

  /**
   * Adds a row and all that it leads to.
   *
   * @param link address of the link that leads to it; 0 for none
   */
  void add(int row, long link) {
    int count = 0;
    reached.set(row);
    via[row] = link;
    open[count++] = row;
    while (count > 0) {
      long list = memory.list(open[--count], 0);
      for (int i = 0; i < memory.width; i++) {
        long at = list + 4L * i;
        int next = NativeMemory.intAt(at);
        if (next < 0) {
          break;
        }
        if (!reached.get(next)) {
          reached.set(next);
          via[next] = at;
          if (count == open.length) {
            open = Arrays.copyOf(open, 2 * count);
          }
          open[count++] = next;
        }
      }
    }
  }
}
