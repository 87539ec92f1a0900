// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model.filter;

import io.sagitta.model.filter.Filter.Op;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/** Turns {@code x op number} into inclusive bounds of x, exactly. */
final class Bounds {
  /** Inclusive; low above high where nothing fits. */
  record Range(long low, long high) {
    static final Range EMPTY = new Range(1, 0);
  }

  private Bounds() {}

  /** Integers of a type that holds {@code min} to {@code max}. */
  static Range integers(Op op, BigDecimal number, long min, long max) {
    return range(op, number, BigInteger.valueOf(min), BigInteger.valueOf(max));
  }

  /** Unsigned 64-bit integers; the range's ends are to be read as unsigned. */
  static Range unsigned(Op op, BigDecimal number) {
    return range(
        op, number, BigInteger.ZERO, BigInteger.ONE.shiftLeft(Long.SIZE).subtract(BigInteger.ONE));
  }

  private static Range range(Op op, BigDecimal number, BigInteger min, BigInteger max) {
    BigInteger floor = number.setScale(0, RoundingMode.FLOOR).unscaledValue();
    BigInteger ceiling = number.setScale(0, RoundingMode.CEILING).unscaledValue();
    BigInteger low = min;
    BigInteger high = max;
    switch (op) {
      case EQ -> {
        low = ceiling;
        high = floor;
      }
      case LT -> high = ceiling.subtract(BigInteger.ONE);
      case LE -> high = floor;
      case GT -> low = floor.add(BigInteger.ONE);
      case GE -> low = ceiling;
    }
    low = low.max(min);
    high = high.min(max);
    // An empty range must stay empty in unsigned order too.
    return low.compareTo(high) > 0 ? Range.EMPTY : new Range(low.longValue(), high.longValue());
  }
}
