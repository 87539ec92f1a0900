// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import java.util.random.RandomGenerator;

/** Vectors of length one. */
final class UnitVectors {
  private UnitVectors() {}

  /** The vector over its length; false where it has none. */
  static boolean normalise(float[] vector) {
    double squares = 0;
    for (float component : vector) {
      squares += (double) component * component;
    }
    if (squares == 0) {
      return false;
    }
    double inverse = 1 / Math.sqrt(squares);
    for (int d = 0; d < vector.length; d++) {
      vector[d] = (float) (vector[d] * inverse);
    }
    return true;
  }

  /** A random direction. */
  static float[] random(int dimension, RandomGenerator random) {
    return near(new float[dimension], 1, random);
  }

  /** The centre plus Gaussian noise whose length is about {@code noise}, then of length one. */
  static float[] near(float[] centre, double noise, RandomGenerator random) {
    float[] vector = new float[centre.length];
    double scale = noise / Math.sqrt(centre.length);
    for (int d = 0; d < vector.length; d++) {
      vector[d] = (float) (centre[d] + scale * random.nextGaussian());
    }
    if (!normalise(vector)) {
      throw new IllegalStateException("noise hit zero");
    }
    return vector;
  }
}
