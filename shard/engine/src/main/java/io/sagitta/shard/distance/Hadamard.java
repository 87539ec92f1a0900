// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

/** The Walsh-Hadamard transform by the kernels in use; the same bits from all of them. */
public final class Hadamard {
  private Hadamard() {}

  /**
   * Transforms {@code values[at..at + width)} in place; not scaled, so lengths grow by the root of
   * {@code width}, a power of two.
   */
  public static void transform(float[] values, int at, int width) {
    CodeScorer.KERNELS.hadamard(values, at, width);
  }
}
