// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import io.sagitta.model.Metric;

/**
 * The best k candidates seen, a bounded heap whose root is the worst of them. A candidate is a
 * score and a {@code long} that says where the point is (its meaning is the caller's); equal scores
 * are ordered by {@link TieBreak}, that is by id, so the result does not depend on the order of
 * offers. Allocates at construction only. One thread at a time.
 */
public final class TopK implements BestRows {
  private final int k;
  private final boolean higherIsBetter;
  private final TieBreak ties;

  /** Heap by (rank, id): {@code ranks[0]} is the worst kept. A higher rank is a better score. */
  private final int[] ranks;

  private final long[] refs;
  private int size;

  /** Ranks below this are refused, from a bound of the request or a floor shared between heaps. */
  private int rankMin = Integer.MIN_VALUE;

  /**
   * An empty heap.
   *
   * @param k candidates to keep, at least 1; the arrays are allocated for all of them
   */
  public TopK(int k, Metric metric, TieBreak ties) {
    if (k < 1) {
      throw new IllegalArgumentException("k = " + k);
    }
    this.k = k;
    this.higherIsBetter = metric.higherIsBetter();
    this.ties = ties;
    this.ranks = new int[k];
    this.refs = new long[k];
  }

  /** Refuses from now on every score strictly worse than {@code score}. Only ever tightens. */
  public void bound(float score) {
    rankMin = Math.max(rankMin, rank(score));
  }

  /** Offers one candidate; whether it was kept (for now). The score must not be NaN. */
  public boolean offer(float score, long ref) {
    int rank = rank(score);
    if (rank < rankMin) {
      return false;
    }
    if (size < k) {
      siftUp(size++, rank, ref);
    } else if (isWorse(rank, ref, ranks[0], refs[0])) {
      return false;
    } else {
      siftDown(size, rank, ref);
    }
    return true;
  }

  @Override
  public void offerAll(float[] scores, int at, int count, long firstRef) {
    for (int i = 0; i < count; i++) {
      offer(scores[at + i], firstRef + i);
    }
  }

  @Override
  public void offerAll(float[] scores, int at, int[] ordinals, int count, long firstRef) {
    for (int i = 0; i < count; i++) {
      offer(scores[at + i], firstRef + ordinals[i]);
    }
  }

  /**
   * As above for those {@code i} whose bit {@code firstBit + i} is set, bit 0 the lowest of word 0.
   */
  public void offerAll(
      float[] scores, int at, int count, long firstRef, long[] bits, int firstBit) {
    int end = firstBit + count;
    for (int word = firstBit >> 6; word << 6 < end; word++) {
      long set = bits[word];
      while (set != 0) {
        int i = (word << 6) + Long.numberOfTrailingZeros(set) - firstBit;
        set &= set - 1;
        if (i >= 0 && i < count) {
          offer(scores[at + i], firstRef + i);
        }
      }
    }
  }

  public int size() {
    return size;
  }

  public boolean isFull() {
    return size == k;
  }

  /**
   * The worst score that can still enter (ties permitting): the k-th best so far, or the bound.
   * Other heaps of the same search may take it as theirs.
   */
  public float floor() {
    int rank = isFull() ? Math.max(rankMin, ranks[0]) : rankMin;
    if (rank == Integer.MIN_VALUE) {
      return higherIsBetter ? Float.NEGATIVE_INFINITY : Float.POSITIVE_INFINITY;
    }
    return score(rank);
  }

  /**
   * Writes the candidates, best first, and empties the heap; its bound stays.
   *
   * @return how many; at most k
   */
  public int drain(float[] scores, long[] out) {
    int count = size;
    while (size > 0) {
      int rank = ranks[0];
      long ref = refs[0];
      size--;
      if (size > 0) {
        siftDown(size, ranks[size], refs[size]);
      }
      scores[size] = score(rank);
      out[size] = ref;
    }
    return count;
  }

  /** Drops the candidates in {@code [from, to)}, so that they may be offered again. */
  public void forget(long from, long to) {
    int kept = 0;
    int count = size;
    for (int i = 0; i < count; i++) {
      if (refs[i] < from || refs[i] >= to) {
        ranks[kept] = ranks[i];
        refs[kept] = refs[i];
        kept++;
      }
    }
    size = 0;
    for (int i = 0; i < kept; i++) {
      siftUp(size++, ranks[i], refs[i]);
    }
  }

  /** Empties the heap and lifts its bound, for reuse. */
  public void clear() {
    size = 0;
    rankMin = Integer.MIN_VALUE;
  }

  /** Order-preserving: a better score has a higher rank; ranks are equal where scores are. */
  private int rank(float score) {
    assert !Float.isNaN(score) : "NaN score";
    int bits = Float.floatToRawIntBits(score + 0.0f);
    int ascending = bits ^ ((bits >> 31) & Integer.MAX_VALUE);
    return higherIsBetter ? ascending : ~ascending;
  }

  private float score(int rank) {
    int ascending = higherIsBetter ? rank : ~rank;
    return Float.intBitsToFloat(ascending ^ ((ascending >> 31) & Integer.MAX_VALUE));
  }

  private boolean isWorse(int rank, long ref, int otherRank, long otherRef) {
    if (rank != otherRank) {
      return rank < otherRank;
    }
    return ties.compare(ref, otherRef) >= 0;
  }

  private void siftUp(int hole, int rank, long ref) {
    while (hole > 0) {
      int parent = (hole - 1) >> 1;
      if (!isWorse(rank, ref, ranks[parent], refs[parent])) {
        break;
      }
      ranks[hole] = ranks[parent];
      refs[hole] = refs[parent];
      hole = parent;
    }
    ranks[hole] = rank;
    refs[hole] = ref;
  }

  /** Puts a candidate in the root's place among the first {@code count}. */
  private void siftDown(int count, int rank, long ref) {
    int hole = 0;
    for (int child = 1; child < count; child = 2 * hole + 1) {
      if (child + 1 < count
          && isWorse(ranks[child + 1], refs[child + 1], ranks[child], refs[child])) {
        child++;
      }
      if (!isWorse(ranks[child], refs[child], rank, ref)) {
        break;
      }
      ranks[hole] = ranks[child];
      refs[hole] = refs[child];
      hole = child;
    }
    ranks[hole] = rank;
    refs[hole] = ref;
  }
}
