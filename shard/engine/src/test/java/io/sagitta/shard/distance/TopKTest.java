// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.Metric;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

@Seeded
class TopKTest {

  @Test
  void keeps_what_a_full_sort_by_score_then_id_puts_first(Seed seed) {
    RandomGenerator random = seed.random();
    for (int round = 0; round < 300; round++) {
      int n = random.nextInt(1, 200);
      int k = random.nextInt(1, 60);
      int distinct = random.nextInt(1, 30);
      Metric metric = random.nextBoolean() ? Metric.DOT : Metric.L2;
      float[] scores = new float[n];
      long[] ids = random.longs(n).toArray();
      for (int i = 0; i < n; i++) {
        scores[i] = (random.nextInt(distinct) - (metric == Metric.DOT ? distinct / 2 : 0)) / 3f;
      }
      Comparator<Integer> byScore = Comparator.comparing(i -> scores[i]);
      List<Long> expected =
          IntStream.range(0, n)
              .boxed()
              .sorted(
                  (metric.higherIsBetter() ? byScore.reversed() : byScore)
                      .thenComparing(i -> ids[i]))
              .limit(k)
              .map(i -> 100L + i)
              .toList();

      TopK top =
          new TopK(k, metric, (l, r) -> Long.compare(ids[(int) l - 100], ids[(int) r - 100]));
      top.offerAll(scores, 0, n, 100);
      assertDrains(top, expected, scores);

      long[] bits = new long[(n + 70 + 63) / 64];
      for (int i = 0; i < n; i++) {
        bits[(i + 70) / 64] |= 1L << (i + 70);
      }
      top.offerAll(scores, 0, n, 100, bits, 70);
      assertDrains(top, expected, scores);
    }
  }

  private static void assertDrains(TopK top, List<Long> expected, float[] scores) {
    float[] outScores = new float[top.size()];
    long[] outRefs = new long[top.size()];
    float floor = top.floor();
    boolean full = top.isFull();
    int count = top.drain(outScores, outRefs);
    assertThat(outRefs)
        .hasSize(count)
        .containsExactly(expected.stream().mapToLong(x -> x).toArray());
    for (int i = 0; i < count; i++) {
      assertThat(outScores[i]).isEqualTo(scores[(int) outRefs[i] - 100]);
    }
    assertThat(top.size()).isZero();
    if (full) {
      assertThat(floor).isEqualTo(outScores[count - 1]);
    } else {
      assertThat(floor).isInfinite();
    }
  }

  @Test
  void a_bound_refuses_what_is_strictly_worse() {
    TopK top = new TopK(3, Metric.L2, Long::compare);
    top.bound(2);
    top.bound(5);
    assertThat(top.floor()).isEqualTo(2);
    assertThat(top.offer(2.5f, 1)).isFalse();
    assertThat(top.offer(2, 2)).isTrue();
    assertThat(top.offer(0, 3)).isTrue();
    assertThat(top.size()).isEqualTo(2);
    top.clear();
    assertThat(top.offer(2.5f, 1)).isTrue();
  }

  @Test
  void minus_zero_and_zero_tie() {
    TopK top = new TopK(1, Metric.DOT, Long::compare);
    top.offer(0.0f, 2);
    assertThat(top.offer(-0.0f, 1)).isTrue();
    long[] refs = new long[1];
    top.drain(new float[1], refs);
    assertThat(refs).containsExactly(1);
  }

  @Test
  void the_result_does_not_depend_on_the_order_of_offers(Seed seed) {
    RandomGenerator random = seed.random();
    long[] refs = random.longs(500, 0, 1_000_000).distinct().toArray();
    long[] first = null;
    for (int round = 0; round < 20; round++) {
      TopK top = new TopK(10, Metric.COSINE, Long::compare);
      for (int i = refs.length - 1; i > 0; i--) {
        int j = random.nextInt(i + 1);
        long swap = refs[i];
        refs[i] = refs[j];
        refs[j] = swap;
      }
      for (long ref : refs) {
        top.offer(1, ref);
      }
      long[] out = new long[10];
      top.drain(new float[10], out);
      assertThat(out)
          .isEqualTo(first == null ? Arrays.stream(refs).sorted().limit(10).toArray() : first);
      first = out;
    }
  }
}
