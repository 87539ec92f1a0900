// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import java.util.Arrays;

/**
 * The rows of a walk by estimated distance: those still to follow, and how many of the best are
 * wanted. Distances fall into buckets of equal width, so that neither a push nor a pop compares or
 * moves anything; the order within a bucket is arbitrary, but for the final answer.
 *
 * <p>No more than {@code effort} rows count, give or take the last bucket: once there are as many,
 * later and worse buckets are closed, and the walk ends when no open row is left in the others.
 * Rows that a filter refuses are followed like any, but do not count.
 *
 * <p>Nothing is known of the distances beforehand, so the buckets are laid anew when they do not
 * fit: when the first neighbours are known, when several rows are better than the first bucket,
 * when those that matter share few buckets.
 *
 * <p>Rows at exactly one distance are copies of one vector, or might as well be. The effort is for
 * different ones: of rows at one distance only the square root of the effort count and are
 * followed, so that a knot of copies neither uses up the effort nor hides what lies behind it, and
 * costs little; with a greater effort both more vectors and more copies of each are found. The
 * others wait aside. They are followed, and count, where a walk would end below its effort; what is
 * still aside at the end shares the answer with what counts. Distances that are small integers are
 * equal by chance: there only 0 means a copy.
 */
final class BucketQueue {
  private static final int BUCKETS = 1024;

  /** Fewer buckets in use than this order rows too coarsely. */
  private static final int FEW = BUCKETS / 16;

  private static final int BELOW_MAX = 16;

  /** Rows that may exceed the effort within the last bucket. */
  private static final int EXCESS_MAX = 256;

  /** Layings of a walk; later ones no longer pay. */
  private static final int FITS_MAX = 16;

  private static final int POPPED = -1;
  private static final int ASIDE = -2;

  /** By entry; an ordinal that does not count is stored as its complement. */
  private int[] ordinals = new int[1024];

  private float[] distances = new float[1024];

  /** The entry after this in its bucket, plus one; 0 at the end; or POPPED, or ASIDE. */
  private int[] next = new int[1024];

  private int entries;

  /** First open entry of a bucket, plus one. */
  private final int[] heads = new int[BUCKETS];

  /** Counting entries of a bucket, popped or not. */
  private final int[] counts = new int[BUCKETS];

  /** Which buckets have open entries. */
  private final long[] open = new long[BUCKETS / Long.SIZE];

  private int firstWord;

  private float lowest;
  private float perUnit;

  /** Last bucket that takes entries, and how many count up to it. */
  private int last;

  private int total;
  private int effort;

  /** Only distances below this enter. */
  private float bound;

  private final CopyCount copies = new CopyCount();

  /** Entries that wait because there are enough at their distance. */
  private int aside;

  private float poppedDistance;
  private int below;
  private int fits;
  private int excessMark;

  private long[] keys = new long[1024];
  private long[] asideKeys = new long[0];
  private float[] tied = new float[512];

  /**
   * Begins a walk.
   *
   * @param byChance whether distances are often equal without being copies: small integers
   */
  void start(int newEffort, boolean byChance) {
    effort = newEffort;
    copies.start(newEffort, byChance);
    entries = 0;
    aside = 0;
    lowest = 0;
    perUnit = 0;
    bound = Float.POSITIVE_INFINITY;
    fits = 0;
    excessMark = newEffort + EXCESS_MAX;
    clearBuckets();
  }

  private void clearBuckets() {
    Arrays.fill(heads, 0);
    Arrays.fill(counts, 0);
    Arrays.fill(open, 0);
    firstWord = open.length;
    last = BUCKETS - 1;
    total = 0;
    below = 0;
  }

  /** Pushes rows that all count. */
  void push(int[] rows, float[] estimates, int count) {
    reserve(count);
    int entry = entries;
    int end = last;
    int worse = 0;
    int waiting = 0;
    for (int i = 0; i < count; i++) {
      float distance = estimates[i];
      int bucket = Math.max(0, Math.min((int) ((distance - lowest) * perUnit), BUCKETS - 1));
      if (bucket <= end && distance < bound) {
        worse += distance < lowest ? 1 : 0;
        ordinals[entry] = rows[i];
        distances[entry] = distance;
        if (copies.isOneTooMany(distance)) {
          next[entry++] = ASIDE;
          waiting++;
        } else {
          next[entry] = heads[bucket];
          heads[bucket] = ++entry;
          counts[bucket]++;
          open[bucket >> 6] |= 1L << bucket;
          firstWord = Math.min(firstWord, bucket >> 6);
        }
      }
    }
    total += entry - entries - waiting;
    aside += waiting;
    entries = entry;
    below += worse;
    settle();
  }

  /** Pushes rows of which those below {@code limit} that are set in {@code accept} count. */
  void push(int[] rows, float[] estimates, int count, long[] accept, int limit) {
    reserve(count);
    for (int i = 0; i < count; i++) {
      float distance = estimates[i];
      int bucket = Math.max(0, Math.min((int) ((distance - lowest) * perUnit), BUCKETS - 1));
      if (bucket <= last && distance < bound) {
        int row = rows[i];
        int counting =
            row < limit && (accept == null || (accept[row >> 6] >>> row & 1) != 0) ? 1 : 0;
        below += distance < lowest ? 1 : 0;
        ordinals[entries] = counting == 1 ? row : ~row;
        distances[entries] = distance;
        if (copies.isOneTooMany(distance)) {
          next[entries++] = ASIDE;
          aside++;
        } else {
          open(entries++, bucket, counting);
        }
      }
    }
    settle();
  }

  private void open(int entry, int bucket, int counting) {
    next[entry] = heads[bucket];
    heads[bucket] = entry + 1;
    counts[bucket] += counting;
    total += counting;
    open[bucket >> 6] |= 1L << bucket;
    firstWord = Math.min(firstWord, bucket >> 6);
  }

  private void reserve(int more) {
    if (entries + more > ordinals.length) {
      int length = Math.max(2 * ordinals.length, entries + more);
      ordinals = Arrays.copyOf(ordinals, length);
      distances = Arrays.copyOf(distances, length);
      next = Arrays.copyOf(next, length);
    }
  }

  /** Closes the buckets that are not needed for the effort. */
  private void settle() {
    closeWorst();
    if (fits < FITS_MAX
        && (perUnit == 0 && entries > 1 || below > BELOW_MAX || last < FEW || total > excessMark)) {
      fit();
    }
    if (total > excessMark) {
      refuseTies();
    }
  }

  private void closeWorst() {
    while (total - counts[last] >= effort) {
      total -= counts[last--];
    }
  }

  /** Lays the buckets anew over the entries that matter. */
  private void fit() {
    fits++;
    boolean full = total >= effort;
    int kept = 0;
    float min = Float.POSITIVE_INFINITY;
    float max = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < entries; i++) {
      float distance = distances[i];
      if (bucket(distance) <= last) {
        ordinals[kept] = ordinals[i];
        distances[kept] = distance;
        next[kept++] = next[i];
        min = Math.min(min, distance);
        max = Math.max(max, distance);
      }
    }
    entries = kept;
    float span = Math.max(max - min, Math.max(Math.abs(max) * 0x1p-20f, Float.MIN_NORMAL));
    // A walk still on its way finds better rows than any yet; later hardly.
    lowest = min - (full ? span / 4 : span);
    float highest = full ? max : max + span / 2;
    perUnit = Math.min(BUCKETS / (highest - lowest), 0x1p100f);
    clearBuckets();
    aside = 0;
    for (int i = 0; i < kept; i++) {
      int bucket = bucket(distances[i]);
      int counting = ordinals[i] >= 0 ? 1 : 0;
      if (next[i] == ASIDE) {
        aside++;
      } else if (next[i] == POPPED) {
        counts[bucket] += counting;
        total += counting;
      } else {
        open(i, bucket, counting);
      }
    }
    closeWorst();
  }

  private int bucket(float distance) {
    return Math.max(0, Math.min((int) ((distance - lowest) * perUnit), BUCKETS - 1));
  }

  /** Finds the effort's last distance exactly: what is not better is not needed. */
  private void refuseTies() {
    if (tied.length < counts[last]) {
      tied = new float[2 * counts[last]];
    }
    int count = 0;
    for (int i = 0; i < entries; i++) {
      if (ordinals[i] >= 0 && next[i] != ASIDE && bucket(distances[i]) == last) {
        tied[count++] = distances[i];
      }
    }
    Arrays.sort(tied, 0, count);
    bound = tied[effort - (total - counts[last]) - 1];
    excessMark = total + EXCESS_MAX;
  }

  /** The best open row, which is not open any more; -1 where there is none. */
  int pop() {
    int row = popOpen();
    if (row < 0 && total < effort && aside > 0) {
      openAside();
      return popOpen();
    }
    return row;
  }

  /** All else was followed and is not enough: now copies count like any row. */
  private void openAside() {
    copies.stop();
    aside = 0;
    for (int i = 0; i < entries; i++) {
      if (next[i] == ASIDE) {
        open(i, bucket(distances[i]), ordinals[i] >= 0 ? 1 : 0);
      }
    }
    settle();
  }

  private int popOpen() {
    int word = firstWord;
    while (word <= last >> 6) {
      long set = open[word];
      if (set == 0) {
        word++;
        continue;
      }
      int bucket = (word << 6) + Long.numberOfTrailingZeros(set);
      if (bucket > last) {
        break;
      }
      int entry = heads[bucket] - 1;
      int after = next[entry];
      heads[bucket] = after;
      if (after == 0) {
        open[word] = set & set - 1;
      }
      next[entry] = POPPED;
      if (distances[entry] <= bound) {
        firstWord = word;
        poppedDistance = distances[entry];
        int ordinal = ordinals[entry];
        return ordinal ^ ordinal >> 31;
      }
    }
    firstWord = word;
    return -1;
  }

  /** Distance of the row popped last. */
  float poppedDistance() {
    return poppedDistance;
  }

  /** What is farther than this would not enter; infinite until there are as many as wanted. */
  float worstWanted() {
    if (total < effort || last == BUCKETS - 1) {
      return bound;
    }
    return Math.min(bound, lowest + (last + 1) / perUnit);
  }

  /** Entries that stand aside. */
  int aside() {
    return aside;
  }

  /**
   * Writes the best {@code depth} of the rows to {@code outOrdinals} and {@code outDistances}, best
   * first and equal ones by ordinal. Rows that were left aside take every other place until there
   * are none that are better than what counts. So the first rows of an answer are those of a
   * shorter one.
   *
   * @return how many
   */
  int best(int depth, int[] outOrdinals, float[] outDistances) {
    int cut = 0;
    int wanted = counts[0];
    while (wanted < depth && cut < last) {
      wanted += counts[++cut];
    }
    sortCounting(cut, wanted);
    int waiting = aside == 0 ? 0 : sortAside(cut);
    int count = Math.min(depth, wanted + waiting);
    int fromAside = 0;
    for (int i = 0; i < count; i++) {
      int at = i - fromAside;
      boolean takeAside =
          fromAside < waiting
              && (at >= wanted || fromAside < at && asideKeys[fromAside] < keys[at]);
      long key = takeAside ? asideKeys[fromAside++] : keys[at];
      outOrdinals[i] = DistanceKeys.low(key);
      outDistances[i] = DistanceKeys.distance(key);
    }
    return count;
  }

  /** Keys of the {@code wanted} entries that count, up to a bucket. */
  private void sortCounting(int cut, int wanted) {
    if (keys.length < wanted) {
      keys = new long[2 * wanted];
    }
    // Where each bucket's keys go; the heads are done with.
    int at = 0;
    int widest = 0;
    for (int bucket = 0; bucket <= cut; bucket++) {
      heads[bucket] = at;
      at += counts[bucket];
      widest = Math.max(widest, counts[bucket]);
    }
    for (int i = 0; i < entries; i++) {
      int bucket = bucket(distances[i]);
      if (bucket <= cut && ordinals[i] >= 0 && next[i] != ASIDE) {
        keys[heads[bucket]++] = DistanceKeys.key(distances[i], ordinals[i]);
      }
    }
    DistanceKeys.sort(keys, wanted, widest);
  }

  /** Keys of the entries left aside, up to a bucket; how many. */
  private int sortAside(int cut) {
    if (asideKeys.length < aside) {
      asideKeys = new long[2 * aside];
    }
    int count = 0;
    for (int i = 0; i < entries; i++) {
      if (next[i] == ASIDE && ordinals[i] >= 0 && bucket(distances[i]) <= cut) {
        asideKeys[count++] = DistanceKeys.key(distances[i], ordinals[i]);
      }
    }
    Arrays.sort(asideKeys, 0, count);
    return count;
  }
}
