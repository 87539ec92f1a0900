// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import io.sagitta.model.VectorType;

/**
 * Scores in double, for the rare row whose float sum overflowed or lost its precision near zero.
 * One accumulator, ascending components, fused multiply-add: no float vector over- or underflows a
 * double here, and the bits are the same on every machine.
 */
final class WideScore {
  private WideScore() {}

  static double dot(VectorRows rows, int row, float[] query) {
    long at = rows.address(row);
    double sum = 0;
    for (int i = 0; i < query.length; i++) {
      sum = Math.fma((double) query[i], component(rows.type(), at, i), sum);
    }
    return sum;
  }

  static double distance(VectorRows rows, int row, float[] query) {
    long at = rows.address(row);
    double sum = 0;
    for (int i = 0; i < query.length; i++) {
      double difference = query[i] - component(rows.type(), at, i);
      sum = Math.fma(difference, difference, sum);
    }
    return Math.sqrt(sum);
  }

  /** Length of a row; four accumulators, since every row of a cosine field passes here once. */
  static double norm(VectorRows rows, int row) {
    long at = rows.address(row);
    int dim = rows.dimension();
    VectorType type = rows.type();
    double sum0 = 0;
    double sum1 = 0;
    double sum2 = 0;
    double sum3 = 0;
    int i = 0;
    for (; i <= dim - 4; i += 4) {
      sum0 = addSquare(component(type, at, i), sum0);
      sum1 = addSquare(component(type, at, i + 1), sum1);
      sum2 = addSquare(component(type, at, i + 2), sum2);
      sum3 = addSquare(component(type, at, i + 3), sum3);
    }
    for (; i < dim; i++) {
      sum0 = addSquare(component(type, at, i), sum0);
    }
    return Math.sqrt((sum0 + sum2) + (sum1 + sum3));
  }

  private static double addSquare(double value, double sum) {
    return Math.fma(value, value, sum);
  }

  private static double component(VectorType type, long row, int i) {
    return switch (type) {
      case FLOAT32 -> NativeMemory.floatAt(row + 4L * i);
      case FLOAT16 -> NativeMemory.halfAt(row + 2L * i);
      case BFLOAT16 -> NativeMemory.brainAt(row + 2L * i);
      case INT8 -> NativeMemory.byteAt(row + i);
      case UINT8 -> NativeMemory.unsignedByteAt(row + i);
      case BINARY -> throw new AssertionError("bits have no length");
    };
  }
}
