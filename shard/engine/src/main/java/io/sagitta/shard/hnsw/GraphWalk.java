// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.shard.distance.CodeScorer;
import io.sagitta.shard.distance.Lines;
import io.sagitta.shard.distance.NativeMemory;
import io.sagitta.shard.distance.QueryPlanes;
import io.sagitta.shard.distance.ScanTable;
import java.util.Arrays;

/**
 * Walks over one graph towards a query, reading codes only. Keeps its room between walks, so that a
 * walk allocates nothing; one thread at a time.
 *
 * <p>A step follows the {@link #BEAM} best open rows at once: their new neighbours' codes are
 * fetched together, which hides most of what memory takes. The few rows that a stricter order would
 * have spared cost less.
 */
final class GraphWalk {
  private static final int BEAM = 4;

  /** Likewise where {@link NeighbourCodes} spare most of the neighbours. */
  private static final int NEIGHBOUR_BEAM = 8;

  /** Ints of a cache line. */
  private static final int LINKS_A_LINE = 16;

  /** Steps between two questions whether to stop. */
  private static final int STEPS_PER_CHECK = 32;

  private final BucketQueue queue = new BucketQueue();
  private final VisitedSet visited = new VisitedSet();
  private final long[] lists = new long[NEIGHBOUR_BEAM];
  private final int[] followed = new int[NEIGHBOUR_BEAM];
  private final int[] wanted = new int[NEIGHBOUR_BEAM];
  private final float[] reached = new float[NEIGHBOUR_BEAM];
  private int[] ordinals = new int[0];
  private float[] distances = new float[0];

  private GraphMemory memory;
  private QueryPlanes query;
  private Traversal traversal;

  /** What neighbours are like, and the query as their scan reads it; null to look at each row. */
  private NeighbourCodes neighbours;

  private ScanTable table;
  private float slack;

  private long scored;
  private boolean gaveUp;

  /** What touching read; kept so that it is read. */
  @SuppressWarnings("UnusedVariable") // a place to store to is its use
  private int touched;

  /** Begins a search: sets what is walked, and the count of rows scored to 0. */
  void begin(GraphMemory newMemory, QueryPlanes newQuery, Traversal newTraversal) {
    memory = newMemory;
    query = newQuery;
    traversal = newMemory.parameters.bits() ? Traversal.BITS : newTraversal;
    if (traversal == Traversal.BITS && !newMemory.parameters.bits()) {
      throw new IllegalArgumentException("walk by bits over " + newMemory.parameters.type());
    }
    if (traversal == Traversal.EIGHT && !newMemory.rows.hasLow()) {
      throw new IllegalStateException("the low nibbles were dropped");
    }
    scored = 0;
    gaveUp = false;
    neighbours = null;
    int batch = (NEIGHBOUR_BEAM + 1) * newMemory.width;
    if (ordinals.length < batch) {
      ordinals = new int[batch];
      distances = new float[batch];
    }
  }

  /**
   * Has level 0 walked by what is known of neighbours.
   *
   * @param newTable the query's weights, see {@link GraphSpace#weights}
   * @param weight their length
   */
  void scanNeighbours(ScanTable newTable, float weight) {
    neighbours = memory.neighbours;
    table = newTable;
    slack = neighbours.slack(weight);
  }

  /** Ends a search; the memory may go. */
  void end() {
    memory = null;
    neighbours = null;
    table = null;
    query = null;
  }

  /** Rows scored since {@link #begin}. */
  long scored() {
    return scored;
  }

  /** Whether the last walk ended because it had scored as many rows as it was allowed. */
  boolean gaveUp() {
    return gaveUp;
  }

  /** From a row down to {@code toLevel}, on each level to the nearest row; returns that. */
  int descend(int from, int fromLevel, int toLevel) {
    int best = from;
    ordinals[0] = from;
    score(1);
    float bestDistance = distances[0];
    for (int level = fromLevel; level > toLevel; level--) {
      boolean better = true;
      while (better) {
        better = false;
        int count = links(memory.list(best, level), memory.width(level));
        score(count);
        for (int i = 0; i < count; i++) {
          if (distances[i] < bestDistance) {
            bestDistance = distances[i];
            best = ordinals[i];
            better = true;
          }
        }
      }
    }
    return best;
  }

  private int links(long list, int width) {
    int count = 0;
    for (; count < width; count++) {
      int link = NativeMemory.intAt(list + 4L * count);
      if (link < 0) {
        break;
      }
      ordinals[count] = link;
    }
    return count;
  }

  /**
   * Walks a level until nothing open is among the best {@code effort} rows that are accepted.
   *
   * @param accept null where all rows below {@code limit} are
   * @param scoredMax rows since {@link #begin} after which it gives up
   */
  void walk(
      int from, int level, int effort, long[] accept, int limit, long scoredMax, StopCheck stop) {
    boolean all = accept == null && limit >= memory.linkedEnd();
    int width = memory.width(level);
    queue.start(effort, traversal == Traversal.BITS);
    visited.start(memory.capacity);
    visited.add(from);
    ordinals[0] = from;
    int count = 1;
    for (int step = 1; ; step++) {
      if (count > 0) {
        score(count);
        if (all) {
          queue.push(ordinals, distances, count);
        } else {
          queue.push(ordinals, distances, count, accept, limit);
        }
      }
      if (scored >= scoredMax) {
        gaveUp = true;
        return;
      }
      if (step % STEPS_PER_CHECK == 0) {
        stop.check();
      }
      count = neighbours != null && level == 0 ? followWanted(width) : follow(level, width);
      if (count < 0) {
        return;
      }
    }
  }

  /** The new neighbours of the best open rows; -1 where no row is open. */
  private int follow(int level, int width) {
    int rows = 0;
    for (int row = queue.pop(); row >= 0; row = rows < BEAM ? queue.pop() : -1) {
      lists[rows++] = memory.list(row, level);
    }
    if (rows == 0) {
      return -1;
    }
    touchLists(rows, width);
    int count = 0;
    for (int i = 0; i < rows; i++) {
      count = visited.addAll(lists[i], width, ordinals, count);
    }
    return count;
  }

  /** As {@link #follow}, but only those neighbours that may be near enough to be wanted. */
  private int followWanted(int width) {
    float worst = queue.worstWanted();
    int rows = 0;
    for (int row = queue.pop(); row >= 0; row = rows < NEIGHBOUR_BEAM ? queue.pop() : -1) {
      followed[rows] = row;
      reached[rows] = queue.poppedDistance();
      lists[rows++] = memory.list(row, 0);
    }
    if (rows == 0) {
      return -1;
    }
    touchLists(rows, width);
    if (worst < Float.POSITIVE_INFINITY) {
      touched += Lines.touch(neighbours.address(0), neighbours.stride(), followed, rows);
      for (int i = 0; i < rows; i++) {
        float product = reached[i] - worst - slack;
        wanted[i] = table.atLeast(neighbours.address(followed[i]), product);
      }
    } else {
      Arrays.fill(wanted, 0, rows, -1);
    }
    int count = 0;
    for (int i = 0; i < rows; i++) {
      count = visited.addWanted(lists[i], width, wanted[i], ordinals, count);
    }
    return count;
  }

  /**
   * Reads an int of each line of the lists. They end at places that no processor predicts, and what
   * it guessed wrong it learns only when a list has come from memory: one list at a time took a
   * fifth of a search more.
   */
  private void touchLists(int rows, int width) {
    int seen = 0;
    for (int line = 0; line < width; line += LINKS_A_LINE) {
      for (int i = 0; i < rows; i++) {
        seen += NativeMemory.intAt(lists[i] + 4L * line);
      }
    }
    touched += seen;
  }

  /** See {@link VisitedSet#addAll}. Static, over arrays in hand, for the compiler's sake. */
  static int freshLinks(
      long list, int width, long[] bits, int[] log, int logged, int[] out, int count) {
    for (int i = 0; i < width; i++) {
      int link = NativeMemory.intAt(list + 4L * i);
      if (link < 0) {
        break;
      }
      int word = link >>> 6;
      long seen = bits[word];
      int fresh = (int) (~seen >>> link) & 1;
      bits[word] = seen | 1L << link;
      out[count] = link;
      log[logged] = link;
      count += fresh;
      logged += fresh;
    }
    return count;
  }

  /** As {@link #freshLinks} of those links whose bits are set. */
  static int freshWanted(
      long list, int wanted, long[] bits, int[] log, int logged, int[] out, int count) {
    for (int left = wanted; left != 0; left &= left - 1) {
      int link = NativeMemory.intAt(list + 4L * Integer.numberOfTrailingZeros(left));
      if (link < 0) {
        break;
      }
      int word = link >>> 6;
      long seen = bits[word];
      int fresh = (int) (~seen >>> link) & 1;
      bits[word] = seen | 1L << link;
      out[count] = link;
      log[logged] = link;
      count += fresh;
      logged += fresh;
    }
    return count;
  }

  private void score(int count) {
    touched += CodeScorer.touch(memory.rows, ordinals, count);
    switch (traversal) {
      case FOUR -> CodeScorer.four(memory.rows, query, ordinals, count, distances);
      case EIGHT -> CodeScorer.eight(memory.rows, query, ordinals, count, distances);
      case BITS -> CodeScorer.bits(memory.rows, query, ordinals, count, distances);
    }
    scored += count;
  }

  /** Rows of the last walk that stand aside, copies of others. */
  int aside() {
    return queue.aside();
  }

  /** See {@link BucketQueue#best}; once after a walk. */
  int best(int depth, int[] outOrdinals, float[] outDistances) {
    return queue.best(depth, outOrdinals, outDistances);
  }
}
