// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.ops.bench.engine.RecallCurve.Point;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class SweepTest {
  private static final int QUERIES = 1_000;
  private static final List<Double> RECALLS = List.of(0.90, 0.95);

  /** A contender whose recall is {@code 1 - 1 / ef} and whose queries take {@code ef} units. */
  private static final class Made implements Sweep.Asker {
    final List<Integer> asked = new ArrayList<>();
    final double loss;

    Made(double loss) {
      this.loss = loss;
    }

    @Override
    public Point pass(int ef) {
      asked.add(ef);
      return new Point(ef, 1 - loss / ef, 1e5 / ef, ef, 0, 0);
    }
  }

  private static Sweep.Launch sweep(Made made, TreeSet<Integer> hints) throws IOException {
    return new Sweep(made, QUERIES, RECALLS).run(hints);
  }

  @Test
  void theFirstLaunchClimbsUntilTheHighestRecallAndTimesTheNeighboursOfEach() throws IOException {
    Made made = new Made(2);
    Sweep.Launch launch = sweep(made, new TreeSet<>());
    // 0.90 needs ef 20, 0.95 needs 40.
    assertThat(made.asked).startsWith(10, 14, 20, 28, 40).doesNotContain(56);
    assertThat(launch.efforts()).containsExactly(14, 20, 28, 40);
    assertThat(launch.timed().at(0.95).orElseThrow().qps()).isBetween(2_500.0, 2_501.0);
  }

  @Test
  void aLaterLaunchLooksWhereTheEarlierFound() throws IOException {
    Made first = new Made(2);
    TreeSet<Integer> hints = new TreeSet<>(sweep(first, new TreeSet<>()).efforts());
    Made later = new Made(2);
    assertThat(sweep(later, hints).efforts()).isEqualTo(hints);
    assertThat(later.asked).doesNotContain(10);
  }

  @Test
  void aLaterLaunchSearchesAnewWhereTheEarlierNeighboursDoNotFit() throws IOException {
    TreeSet<Integer> hints = new TreeSet<>(List.of(14, 20, 28, 40));
    assertThat(sweep(new Made(1), hints).efforts()).containsExactly(10, 14, 20);
    assertThat(sweep(new Made(4), hints).efforts()).containsExactly(28, 40, 56, 80);
  }

  @Test
  void aRecallOutOfReachLeavesTheOthersTimedAndTheBestKnown() throws IOException {
    Sweep.Launch launch =
        new Sweep(new Made(2), QUERIES, List.of(0.90, 0.9999)).run(new TreeSet<>());
    assertThat(launch.efforts()).containsExactly(14, 20);
    assertThat(launch.timed().at(0.9999)).isEmpty();
    assertThat(launch.bestRecall()).isEqualTo(1 - 2.0 / Sweep.EFFORTS.getLast());
  }

  @Test
  void aFastContenderIsWarmedUpForSecondsNotForPasses() throws IOException {
    List<Integer> asked = new ArrayList<>();
    Sweep.Asker fast =
        ef -> {
          asked.add(ef);
          return new Point(ef, 1 - 2.0 / ef, 1e5, ef, 0, 0);
        };
    new Sweep(fast, QUERIES, RECALLS).run(new TreeSet<>());
    // A pass takes a hundredth of a second; 4 efforts are timed 7 times each.
    assertThat(asked).hasSizeBetween(400 + 28, 400 + 28 + 4);
  }

  @Test
  void everyEffortIsTimedEquallyOften() throws IOException {
    Made made = new Made(2);
    sweep(made, new TreeSet<>());
    List<Integer> timed = made.asked.subList(5, made.asked.size());
    assertThat(timed).hasSizeGreaterThan(8);
    for (int ef : List.of(14, 20, 28, 40)) {
      assertThat(timed.stream().filter(asked -> asked == ef)).hasSize(timed.size() / 4);
    }
  }
}
