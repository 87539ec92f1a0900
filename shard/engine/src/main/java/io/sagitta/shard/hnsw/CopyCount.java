// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import java.util.Arrays;

/**
 * How often a walk has met each distance, for telling that rows are copies of one vector. Kept for
 * a few hundred distances: one that recurs pushes out those that do not, so that some copies too
 * many may pass where there are very many knots of them, and none too few.
 */
final class CopyCount {
  /** A power of two; clearing it must not show in a short walk. */
  private static final int PLACES = 256;

  /** Fewer rows at one distance than this may be chance. */
  private static final int MIN = 4;

  private static final int SPREAD = 0x9e3779b1;
  private static final int SHIFT = Integer.numberOfLeadingZeros(PLACES - 1);

  private final int[] distances = new int[PLACES];
  private final int[] counts = new int[PLACES];
  private int max;
  private boolean zeroOnly;

  /**
   * Begins a walk.
   *
   * @param effort of whose square root as many copies of a vector pass
   * @param byChance whether distances other than 0 are often equal without copies
   */
  void start(int effort, boolean byChance) {
    Arrays.fill(counts, 0);
    max = Math.max(MIN, (int) Math.sqrt(effort));
    zeroOnly = byChance;
  }

  /** Lets every row pass from now on. */
  void stop() {
    max = Integer.MAX_VALUE;
  }

  /** Counts a row; whether there were enough at its distance before. */
  boolean isOneTooMany(float distance) {
    if (zeroOnly && distance != 0) {
      return false;
    }
    int bits = Float.floatToRawIntBits(distance);
    int place = bits * SPREAD >>> SHIFT;
    if (distances[place] == bits && counts[place] > 0) {
      return ++counts[place] > max;
    }
    if (--counts[place] <= 0) {
      distances[place] = bits;
      counts[place] = 1;
    }
    return false;
  }
}
