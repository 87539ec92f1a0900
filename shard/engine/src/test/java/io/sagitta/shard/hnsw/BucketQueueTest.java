// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Against lists that are sorted anew for each question. */
@Seeded
class BucketQueueTest {
  /** The rule as it reads, over plain lists. */
  private static final class Plain {
    private final int effort;
    private final int copiesMax;
    private final Map<Float, Integer> met = new HashMap<>();
    private final List<Float> counting = new ArrayList<>();
    private final List<Float> aside = new ArrayList<>();
    private boolean copiesCount;
    private int open;

    /** Whether any row was put aside, accepted or not. */
    private boolean waiting;

    Plain(int effort) {
      this.effort = effort;
      this.copiesMax = Math.max(4, (int) Math.sqrt(effort));
    }

    void push(float distance, boolean accepted) {
      boolean tooMany = !copiesCount && met.merge(distance, 1, Integer::sum) > copiesMax;
      open += tooMany ? 0 : 1;
      waiting |= tooMany;
      if (accepted) {
        (tooMany ? aside : counting).add(distance);
      }
    }

    void pop() {
      if (open == 0 && counting.size() < effort && waiting) {
        copiesCount = true;
        open = Integer.MAX_VALUE / 2;
        counting.addAll(aside);
        aside.clear();
      }
      open = Math.max(0, open - 1);
    }

    /** Distances, best first, but those aside only every other time. */
    List<Float> answer() {
      Collections.sort(counting);
      Collections.sort(aside);
      List<Float> answer = new ArrayList<>();
      int at = 0;
      int from = 0;
      while (at < counting.size() || from < aside.size()) {
        boolean better =
            from < aside.size()
                && (at == counting.size() || from < at && aside.get(from) < counting.get(at));
        answer.add(better ? aside.get(from++) : counting.get(at++));
      }
      return answer;
    }
  }

  @Test
  void the_best_are_kept_whatever_the_distances_are(Seed seed) {
    RandomGenerator random = seed.random();
    for (int round = 0; round < 300; round++) {
      int effort = random.nextInt(1, 300);
      int style = random.nextInt(6);
      boolean masked = random.nextBoolean();
      long[] accept = new long[200];
      Arrays.setAll(accept, i -> masked ? random.nextLong() : -1);
      BucketQueue queue = new BucketQueue();
      queue.start(effort, false);
      Plain plain = new Plain(effort);
      int ordinal = 0;
      int pops = 0;
      while (ordinal < 12_000) {
        int count = ordinal == 0 ? 1 : random.nextInt(1, 130);
        int[] ordinals = new int[count];
        float[] distances = new float[count];
        for (int i = 0; i < count; i++) {
          ordinals[i] = ordinal++;
          distances[i] = distance(style, ordinal, random);
          plain.push(distances[i], (accept[ordinals[i] >> 6] >>> ordinals[i] & 1) != 0);
        }
        if (masked) {
          queue.push(ordinals, distances, count, accept, Integer.MAX_VALUE);
        } else {
          queue.push(ordinals, distances, count);
        }
        for (int i = random.nextInt(5); i > 0; i--) {
          plain.pop();
          pops += queue.pop() >= 0 ? 1 : 0;
        }
      }
      assertThat(pops).isPositive();
      List<Float> expected = plain.answer();
      int depth = random.nextInt(1, effort + 1);
      int[] best = new int[depth];
      float[] distances = new float[depth];
      int count = queue.best(depth, best, distances);
      assertThat(count).isEqualTo(Math.min(depth, expected.size()));
      for (int i = 0; i < count; i++) {
        assertThat(distances[i])
            .as("place %d of %d, effort %d, style %d", i, count, effort, style)
            .isEqualTo(expected.get(i));
      }
      assertThat(Arrays.copyOf(best, count)).doesNotHaveDuplicates();
    }
  }

  private static float distance(int style, int ordinal, RandomGenerator random) {
    double unit = random.nextGaussian();
    return (float)
        switch (style) {
          case 0 -> unit;
          // Ever better, as on the way to a query.
          case 1 -> 1000.0 / ordinal + Math.abs(unit) / 100;
          case 2 -> random.nextInt(3);
          case 3 -> 5;
          // A few far beyond the rest, on both sides.
          case 4 -> random.nextInt(100) == 0 ? 1e12 * unit : unit;
          default -> -1e20 * Math.exp(unit * 10);
        };
  }

  @Test
  void rows_come_out_nearest_first_but_for_the_width_of_a_bucket(Seed seed) {
    RandomGenerator random = seed.random();
    BucketQueue queue = new BucketQueue();
    queue.start(200, false);
    int[] ordinals = new int[100];
    float[] distances = new float[100];
    float[] all = new float[1000];
    for (int i = 0; i < 1000; i += 100) {
      for (int j = 0; j < 100; j++) {
        ordinals[j] = i + j;
        all[i + j] = distances[j] = (float) random.nextGaussian();
      }
      queue.push(ordinals, distances, 100);
    }
    float before = Float.NEGATIVE_INFINITY;
    int popped = 0;
    for (int row = queue.pop(); row >= 0; row = queue.pop()) {
      assertThat(all[row]).isGreaterThan(before - 0.1f);
      before = all[row];
      popped++;
    }
    assertThat(popped).isBetween(200, 300);
  }

  @Test
  void copies_do_not_use_up_the_effort(Seed seed) {
    RandomGenerator random = seed.random();
    BucketQueue queue = new BucketQueue();
    queue.start(100, false);
    int[] ordinals = new int[100];
    float[] distances = new float[100];
    List<Float> others = new ArrayList<>();
    for (int i = 0; i < 1000; i += 100) {
      for (int j = 0; j < 100; j++) {
        ordinals[j] = i + j;
        distances[j] = j % 2 == 0 ? 1 : 2 + random.nextFloat();
        if (j % 2 != 0) {
          others.add(distances[j]);
        }
      }
      queue.push(ordinals, distances, 100);
    }
    Collections.sort(others);
    int copies = 0;
    int different = 0;
    for (int row = queue.pop(); row >= 0; row = queue.pop()) {
      copies += row % 2 == 0 ? 1 : 0;
      different += row % 2;
    }
    // Another distance that falls into their place of the count lets one more pass.
    assertThat(copies).isBetween(10, 14);
    assertThat(different).isGreaterThanOrEqualTo(90);
    float[] best = new float[100];
    assertThat(queue.best(100, new int[100], best)).isEqualTo(100);
    // Those that count, as many again, and then every other.
    for (int i = 0; i < 100; i++) {
      assertThat(best[i])
          .isEqualTo(i < 2 * copies || i % 2 == 1 ? 1 : others.get((i - 2 * copies) / 2));
    }
  }
}
