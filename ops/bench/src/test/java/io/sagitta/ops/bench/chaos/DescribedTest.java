// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

@Seeded
class DescribedTest {
  private static final long LARGEST = (1L << 40) - 1;

  private static String flawOf(Described point, float[] vector) {
    return Described.flaw(point.id(), point.edition(), point.writer(), point.checksum(), vector);
  }

  @Test
  void aWholePointHasNoFlaw(Seed seed) {
    RandomGenerator random = seed.random();
    for (int i = 0; i < 1_000; i++) {
      Described point =
          new Described(random.nextLong(LARGEST), random.nextLong(1, LARGEST), random.nextInt(99));
      assertThat(flawOf(point, point.vector())).isEmpty();
    }
    Described largest = new Described(LARGEST, LARGEST, 1);
    assertThat(flawOf(largest, largest.vector())).isEmpty();
  }

  @Test
  void anyMixtureShows(Seed seed) {
    RandomGenerator random = seed.random();
    for (int i = 0; i < 1_000; i++) {
      Described point = new Described(random.nextLong(1_000), random.nextLong(1, 1_000), 1);
      Described next = new Described(point.id(), point.edition() + 1, 1);
      assertThat(flawOf(point, next.vector())).contains("its vector");
      assertThat(Described.flaw(point.id(), point.edition(), 1, next.checksum(), point.vector()))
          .contains("its checksum");
      assertThat(Described.flaw(point.id(), point.edition(), 2, point.checksum(), point.vector()))
          .contains("its checksum");
      float[] vector = point.vector();
      int d = random.nextInt(vector.length);
      vector[d] = Math.nextUp(vector[d]);
      assertThat(flawOf(point, vector)).isNotEmpty();
    }
  }
}
