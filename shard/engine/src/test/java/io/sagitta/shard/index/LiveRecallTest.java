// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** The correction against searches whose misses are drawn. */
@Seeded
class LiveRecallTest {
  private static final int K = 10;
  private static final double WANTED = 0.95;

  /** A search that misses each of its hits with this chance. */
  private static double search(double chance, RandomGenerator random) {
    int found = 0;
    for (int i = 0; i < K; i++) {
      found += random.nextDouble() < chance ? 0 : 1;
    }
    return (double) found / K;
  }

  /**
   * Lets samples come in, for which the graph misses {@code worse} times what is planned; returns
   * the mean recall of the last half.
   */
  private static double run(LiveRecall live, double worse, int samples, RandomGenerator random) {
    double sum = 0;
    for (int i = 0; i < samples; i++) {
      double planned = 1 - live.toPlan(WANTED);
      double recall = search(Math.min(1, worse * planned), random);
      live.observed(WANTED, recall);
      sum += i >= samples / 2 ? recall : 0;
    }
    return sum / (samples - samples / 2);
  }

  @Test
  void aCalibrationThatHoldsIsLeftAlone(Seed seed) {
    LiveRecall live = new LiveRecall();
    assertThat(live.toPlan(WANTED)).isEqualTo(WANTED);
    assertThat(live.expected(0.97)).isEqualTo(0.97);
    run(live, 0.8, 1_000, seed.random());
    assertThat(live.samples()).isEqualTo(1_000);
    assertThat(live.factor()).isBetween(1.0, 1.6);
  }

  @Test
  void searchesThatMissMoreArePlannedForFewerUntilTheyMissAsManyAsTheyMay(Seed seed) {
    RandomGenerator random = seed.random();
    for (double worse : new double[] {2, 5, 20}) {
      LiveRecall live = new LiveRecall();
      assertThat(run(live, worse, 2_000, random))
          .as("%s times", worse)
          .isCloseTo(WANTED, within(0.01));
      assertThat(live.factor()).isBetween(worse / 2, worse * 2);
      assertThat(live.expected(live.toPlan(WANTED))).isCloseTo(WANTED, within(1e-9));
    }
  }

  @Test
  void itComesBackWhenTheQueriesDo(Seed seed) {
    RandomGenerator random = seed.random();
    LiveRecall live = new LiveRecall();
    run(live, 10, 500, random);
    assertThat(live.factor()).isGreaterThan(4);
    run(live, 0.5, 1_000, random);
    assertThat(live.factor()).isLessThan(1.3);
  }

  @Test
  void oneBadSearchIsNoReason() {
    LiveRecall live = new LiveRecall();
    live.observed(0.999, 0);
    assertThat(live.factor()).isLessThan(1.15);
    assertThat(live.toPlan(1)).isEqualTo(1);
  }

  @Test
  void searchesThatFindNothingAtAllCountAsMuchAsTheyMiss() {
    // Of every hundred, seven find nothing and five may: the plan must grow until fewer do.
    LiveRecall live = new LiveRecall();
    for (int i = 0; i < 1_000; i++) {
      live.observed(0.95, i % 100 < 7 ? 0 : 1);
    }
    assertThat(live.factor()).isGreaterThan(2);
    // With four it comes to rest.
    for (int i = 0; i < 10_000; i++) {
      live.observed(0.95, i % 100 < 4 ? 0 : 1);
    }
    for (int i = 0; i < 96; i++) {
      live.observed(0.95, 1);
    }
    assertThat(live.factor()).isLessThan(2);
  }
}
