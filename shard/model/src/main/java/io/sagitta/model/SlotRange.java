// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

/**
 * Slots {@code from} (inclusive) to {@code to} (exclusive).
 *
 * @param from first slot
 * @param to one past the last slot
 */
public record SlotRange(int from, int to) {
  public static final SlotRange ALL = new SlotRange(0, HashSlot.COUNT);

  public SlotRange {
    if (from < 0 || to > HashSlot.COUNT || from >= to) {
      throw new IllegalArgumentException("bad slot range " + from + ".." + to);
    }
  }

  public boolean contains(int slot) {
    return slot >= from && slot < to;
  }

  /** The {@code i}-th of {@code n} ranges that cover all slots as evenly as they divide. */
  public static SlotRange part(int i, int n) {
    return new SlotRange(
        (int) ((long) HashSlot.COUNT * i / n), (int) ((long) HashSlot.COUNT * (i + 1) / n));
  }
}
