// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** The map that files depend on. */
@Seeded
class RotationTest {
  private static final float[] GOLDEN = {
    -7.8380737f, 1.7097092f, 2.200713f, 1.7717813f, 2.9661024f,
    0.85734445f, 13.148081f, 2.9682572f, 3.6352959f, -10.403286f
  };

  @Test
  void lengths_and_products_stay(Seed seed) {
    RandomGenerator random = seed.random();
    for (int dimension : new int[] {1, 2, 3, 7, 8, 9, 16, 100, 128, 384, 768, 1000}) {
      Rotation rotation = new Rotation(dimension);
      float[] left = TestData.gaussian(dimension, 1, random);
      float[] right = TestData.gaussian(dimension, 1, random);
      double before = dot(left, right);
      double length = dot(left, left);
      rotation.apply(left);
      rotation.apply(right);
      assertThat(dot(left, right)).isCloseTo(before, within(1e-4 * dimension));
      assertThat(dot(left, left)).isCloseTo(length, within(1e-4 * dimension));
    }
  }

  @Test
  void one_component_spreads_over_all() {
    float[] vector = new float[384];
    vector[17] = 1;
    new Rotation(384).apply(vector);
    float largest = 0;
    for (float component : vector) {
      largest = Math.max(largest, Math.abs(component));
    }
    assertThat(largest).isLessThan(0.3f);
  }

  @Test
  void never_changes() {
    float[] vector = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    new Rotation(10).apply(vector);
    assertThat(vector).containsExactly(GOLDEN, within(1e-5f));
  }

  private static double dot(float[] left, float[] right) {
    double sum = 0;
    for (int i = 0; i < left.length; i++) {
      sum += (double) left[i] * right[i];
    }
    return sum;
  }
}
