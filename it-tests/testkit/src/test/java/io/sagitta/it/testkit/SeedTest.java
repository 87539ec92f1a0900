// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

@Seeded
class SeedTest {

  @Test
  void theSameSeedGivesTheSameNumbers(Seed seed) {
    assertThat(seed.random().nextLong()).isEqualTo(seed.random().nextLong());
  }

  @Test
  void branchesAreStableAndApart(Seed seed) {
    assertThat(seed.branch("a")).isEqualTo(seed.branch("a")).isNotEqualTo(seed.branch("b"));
  }

  @Test
  void allParametersOfATestShareOneSeed(Seed one, Seed same) {
    assertThat(one).isEqualTo(same);
  }
}
