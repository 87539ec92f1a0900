// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import java.util.SplittableRandom;

/**
 * Rows whose vectors are drawn from (seed, id).
 *
 * @param dimension of the vectors
 */
record RandomRows(int dimension, long seed) implements Rows {
  private static final long QUERIES = 1 << 20;

  @Override
  public float[] vector(long id) {
    SplittableRandom random = new SplittableRandom(seed * 0x9E3779B97F4A7C15L + id);
    float[] vector = new float[dimension];
    for (int d = 0; d < dimension; d++) {
      vector[d] = (float) random.nextDouble(-1, 1);
    }
    return vector;
  }

  @Override
  public float[] query(SplittableRandom draw) {
    return vector(-1 - draw.nextLong(QUERIES));
  }
}
