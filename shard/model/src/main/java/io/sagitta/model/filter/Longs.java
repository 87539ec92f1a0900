// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model.filter;

import java.util.Arrays;
import java.util.stream.LongStream;

/** A sorted set of numbers. */
public final class Longs {
  private final long[] sorted;

  private Longs(long[] sorted) {
    this.sorted = sorted;
  }

  public static Longs of(LongStream values) {
    return new Longs(values.sorted().distinct().toArray());
  }

  public boolean contains(long value) {
    return Arrays.binarySearch(sorted, value) >= 0;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Longs that && Arrays.equals(sorted, that.sorted);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(sorted);
  }

  @Override
  public String toString() {
    return Arrays.toString(sorted);
  }
}
