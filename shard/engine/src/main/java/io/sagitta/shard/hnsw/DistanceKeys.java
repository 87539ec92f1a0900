// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import java.util.Arrays;

/** A distance and an int in one long, which is smaller where the distance is. */
final class DistanceKeys {
  /** Up to here moving keys one by one is faster than a general sort. */
  private static final int INSERTION_MAX = 32;

  private DistanceKeys() {}

  static long key(float distance, int low) {
    int bits = Float.floatToRawIntBits(distance);
    int ascending = bits ^ bits >> 31 & Integer.MAX_VALUE;
    return (long) ascending << 32 | low & 0xffffffffL;
  }

  static int low(long key) {
    return (int) key;
  }

  static float distance(long key) {
    int ascending = (int) (key >> 32);
    return Float.intBitsToFloat(ascending ^ ascending >> 31 & Integer.MAX_VALUE);
  }

  /** Sorts keys none of which is more than {@code reach} places from its own. */
  static void sort(long[] keys, int count, int reach) {
    if (reach > INSERTION_MAX) {
      Arrays.sort(keys, 0, count);
      return;
    }
    for (int i = 1; i < count; i++) {
      long key = keys[i];
      int hole = i;
      while (hole > 0 && keys[hole - 1] > key) {
        keys[hole] = keys[hole - 1];
        hole--;
      }
      keys[hole] = key;
    }
  }
}
