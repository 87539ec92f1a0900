// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class NearestRowsTest {
  private static final int ROWS = 300;
  private static final int K = 10;
  private static final long SEED = Long.getLong("sagitta.seed", 5);

  private final Rows rows = new ClusteredRows(24, 3, SEED);

  @Test
  void recallIsTheShareOfTheTrueNearestThatAnAnswerHas() {
    SplittableRandom draw = new SplittableRandom(SEED);
    float[][] queries = {rows.query(draw), rows.query(draw), rows.query(draw)};
    NearestRows nearest = NearestRows.of(rows, ROWS, queries, K);
    for (int q = 0; q < queries.length; q++) {
      List<Long> sorted = sorted(queries[q]);
      List<Long> answer = new ArrayList<>(sorted.subList(0, K));
      assertThat(nearest.recall(q, answer)).as("-Dsagitta.seed=" + SEED).isEqualTo(1);
      answer.set(3, sorted.getLast());
      assertThat(nearest.recall(q, answer)).as("-Dsagitta.seed=" + SEED).isEqualTo(0.9);
      answer.set(3, answer.getFirst()); // the same row twice is one row
      assertThat(nearest.recall(q, answer)).as("-Dsagitta.seed=" + SEED).isEqualTo(0.9);
    }
  }

  /** All ids, nearest by cosine first. */
  private List<Long> sorted(float[] query) {
    return LongStream.range(0, ROWS)
        .boxed()
        .sorted(Comparator.comparingDouble((Long id) -> -cosine(query, rows.vector(id))))
        .toList();
  }

  private static double cosine(float[] a, float[] b) {
    double dot = 0;
    double aa = 0;
    double bb = 0;
    for (int d = 0; d < a.length; d++) {
      dot += (double) a[d] * b[d];
      aa += (double) a[d] * a[d];
      bb += (double) b[d] * b[d];
    }
    return dot / Math.sqrt(aa * bb);
  }
}
