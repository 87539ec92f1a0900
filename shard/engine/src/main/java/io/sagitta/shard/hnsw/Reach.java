// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.shard.distance.NativeMemory;
import java.util.Arrays;
import java.util.BitSet;

/** The rows that links of level 0 lead to from those added. */
final class Reach {
  private final GraphMemory memory;
  private final BitSet reached;
  private int[] open = new int[1024];

  Reach(GraphMemory memory, int size) {
    this.memory = memory;
    this.reached = new BitSet(size);
  }

  boolean contains(int row) {
    return reached.get(row);
  }

  /** Adds a row and all that it leads to. */
  void add(int row) {
    int count = 0;
    reached.set(row);
    open[count++] = row;
    while (count > 0) {
      long list = memory.list(open[--count], 0);
      for (int i = 0; i < memory.width; i++) {
        int link = NativeMemory.intAt(list + 4L * i);
        if (link < 0) {
          break;
        }
        if (!reached.get(link)) {
          reached.set(link);
          if (count == open.length) {
            open = Arrays.copyOf(open, 2 * count);
          }
          open[count++] = link;
        }
      }
    }
  }
}
