// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.Arrays;

/**
 * Places in one vector to copy from, as runs of neighbours; a run at {@link #NOTHING} stands for
 * places without a value, which become zeros or empty.
 */
final class RowRuns {
  static final int NOTHING = -1;

  private int[] starts = new int[4];
  private int[] counts = new int[4];
  private int size;
  private long total;

  /** Places without a value only. */
  static RowRuns nothing(int count) {
    RowRuns runs = new RowRuns();
    runs.add(NOTHING, count);
    return runs;
  }

  /** Appends a run, joining it to the last one where it goes on. */
  void add(int start, int count) {
    if (count == 0) {
      return;
    }
    total += count;
    if (size > 0 && continues(start)) {
      counts[size - 1] += count;
      return;
    }
    if (size == starts.length) {
      starts = Arrays.copyOf(starts, size * 2);
      counts = Arrays.copyOf(counts, size * 2);
    }
    starts[size] = start;
    counts[size++] = count;
  }

  int size() {
    return size;
  }

  int start(int run) {
    return starts[run];
  }

  int count(int run) {
    return counts[run];
  }

  /** Places in all runs together. */
  long total() {
    return total;
  }

  /** Whether some place is without a value. */
  boolean hasNothing() {
    for (int run = 0; run < size; run++) {
      if (starts[run] == NOTHING) {
        return true;
      }
    }
    return false;
  }

  /** The runs of the children of fixed-size lists with {@code width} items each. */
  RowRuns times(int width) {
    RowRuns scaled = new RowRuns();
    for (int run = 0; run < size; run++) {
      scaled.add(
          starts[run] == NOTHING ? NOTHING : Math.multiplyExact(starts[run], width),
          Math.multiplyExact(counts[run], width));
    }
    return scaled;
  }

  private boolean continues(int start) {
    int last = starts[size - 1];
    return start == NOTHING ? last == NOTHING : last != NOTHING && last + counts[size - 1] == start;
  }
}
