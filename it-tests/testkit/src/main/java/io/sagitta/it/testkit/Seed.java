// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.testkit;

import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * The one source of randomness of a test. Asked for twice it gives the same numbers twice, so a
 * test draws its generator once, or {@linkplain #branch branches} for parts that must not disturb
 * each other.
 *
 * @param value what {@code -Dsagitta.seed} replays
 */
public record Seed(long value) {

  /** A generator that starts from this seed. */
  public RandomGenerator random() {
    return new SplittableRandom(value);
  }

  /** An independent seed for the part of the test with this name; the same name, the same seed. */
  public Seed branch(String part) {
    return new Seed(
        new SplittableRandom(value ^ (0x9E3779B97F4A7C15L * part.hashCode())).nextLong());
  }
}
