// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/**
 * Decides by measurement whether an index's codes of neighbours pay: the same queries with and
 * without, in turn. They must be faster by more than the memory is worth, and find the same.
 */
public final class NeighbourTrial {
  /** Faster by less does not pay for the memory. */
  private static final double GAIN_MIN = 1.05;

  /**
   * Of the best rows, those that may be missed beyond what the walk without them misses; measured
   * to some 0.002, around 0 on word vectors.
   */
  private static final double LOSS_MAX = 0.006;

  private static final int QUERIES = 1_024;

  /** Until the compiler has seen to both ways. */
  private static final int WARM_UP_ROUNDS = 4;

  private static final int ROUNDS = 9;
  private static final int BEST = 10;
  private static final long SEED = 0x7e57ca5eL;

  private final VectorIndex index;
  private final Effort effort;
  private final LongSupplier nanoTime;
  private final StopCheck stop;
  private final CodeQuery[] queries = new CodeQuery[QUERIES];
  private final float[][] plain = new float[QUERIES][BEST];
  private final float[][] scanned = new float[QUERIES][BEST];

  /**
   * What came out.
   *
   * @param gain how much faster searches are with codes of neighbours, the median of the rounds
   * @param loss share of the ten best rows, by estimate, that they find less
   */
  public record Outcome(double gain, double loss) {
    /** Whether to keep them. */
    public boolean pays() {
      return gain >= GAIN_MIN && loss <= LOSS_MAX;
    }
  }

  /**
   * A trial of an index whose codes of neighbours are shown.
   *
   * @param effort at which searches are compared
   * @param nanoTime time by which they are: best that of the thread's processor, which does not run
   *     while others do
   */
  public NeighbourTrial(VectorIndex index, Effort effort, LongSupplier nanoTime, StopCheck stop) {
    this.index = index;
    this.effort = new Effort(effort.ef(), effort.rerank(), Traversal.FOUR);
    this.nanoTime = nanoTime;
    this.stop = stop;
  }

  /** Runs it: some tenths of a second. */
  public Outcome run() {
    drawQueries();
    GraphSearcher without = new GraphSearcher(false);
    GraphSearcher with = new GraphSearcher(true);
    double[] gains = new double[ROUNDS];
    for (int round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      long before = time(without, plain);
      long after = time(with, scanned);
      if (round >= 0) {
        gains[round] = (double) before / Math.max(1, after);
      }
    }
    Arrays.sort(gains);
    return new Outcome(gains[ROUNDS / 2], found(plain, scanned) - found(scanned, plain));
  }

  /** Points between two rows, which no row is at. */
  private void drawQueries() {
    SplittableRandom random = new SplittableRandom(SEED);
    GraphMemory memory = index.acquire();
    try {
      float[] other = new float[index.parameters().dimension()];
      for (int i = 0; i < QUERIES; i++) {
        queries[i] = new CodeQuery(index.parameters());
        index
            .space()
            .between(memory.rows, row(memory, random), row(memory, random), other, queries[i]);
      }
    } finally {
      memory.release();
    }
  }

  private int row(GraphMemory memory, SplittableRandom random) {
    int row = random.nextInt(index.size());
    while (memory.isAbsent(row)) {
      row = row + 1 < index.size() ? row + 1 : 0;
    }
    return row;
  }

  private long time(GraphSearcher searcher, float[][] best) {
    long start = nanoTime.getAsLong();
    for (int i = 0; i < QUERIES; i++) {
      stop.check();
      int count =
          searcher.search(
              index, queries[i], effort, BEST, null, index.size(), Long.MAX_VALUE, stop);
      Arrays.fill(best[i], Float.POSITIVE_INFINITY);
      System.arraycopy(searcher.estimates(), 0, best[i], 0, Math.min(count, BEST));
    }
    return nanoTime.getAsLong() - start;
  }

  /** Mean share of some best rows that are as good as the last of others. */
  private static double found(float[][] best, float[][] others) {
    int good = 0;
    for (int i = 0; i < QUERIES; i++) {
      for (float estimate : best[i]) {
        good += estimate <= others[i][BEST - 1] ? 1 : 0;
      }
    }
    return (double) good / (QUERIES * BEST);
  }
}
