// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import java.util.Arrays;

/**
 * Which rows a walk has met: a bit each, and a log of those set, since clearing a few hundred beats
 * clearing all.
 */
final class VisitedSet {
  /** Beyond this many rows clearing all bits costs no more. */
  private static final int LOG_MAX = 1 << 16;

  private long[] bits = new long[0];
  private int[] log = new int[1 << 10];
  private int logged;
  private boolean logFull;

  /** Forgets all, and makes room for ordinals below {@code capacity}. */
  void start(int capacity) {
    int words = (capacity + 63) >> 6;
    if (bits.length < words) {
      bits = new long[Math.max(words, 2 * bits.length)];
    } else if (logFull) {
      Arrays.fill(bits, 0);
    } else {
      for (int i = 0; i < logged; i++) {
        bits[log[i] >>> 6] = 0;
      }
    }
    logged = 0;
    logFull = false;
  }

  void add(int ordinal) {
    reserve(1);
    bits[ordinal >>> 6] |= 1L << ordinal;
    log[logged++] = ordinal;
  }

  boolean contains(int ordinal) {
    return (bits[ordinal >>> 6] >>> ordinal & 1) != 0;
  }

  private void reserve(int more) {
    if (logged + more > log.length) {
      if (log.length < LOG_MAX) {
        log = Arrays.copyOf(log, 2 * log.length);
      } else {
        logFull = true;
        logged = 0;
      }
    }
  }

  /**
   * Adds the ordinals of a list and writes those that are new to {@code out[count..]}. Without a
   * branch on what is new, which no processor predicts.
   *
   * @return the new count
   */
  int addAll(long list, int width, int[] out, int count) {
    reserve(width);
    int end = GraphWalk.freshLinks(list, width, bits, log, logged, out, count);
    logged += end - count;
    return end;
  }

  /** As {@link #addAll}, of the links whose bits are set in {@code wanted} alone. */
  int addWanted(long list, int width, int wanted, int[] out, int count) {
    reserve(width);
    int end = GraphWalk.freshWanted(list, wanted, bits, log, logged, out, count);
    logged += end - count;
    return end;
  }
}
