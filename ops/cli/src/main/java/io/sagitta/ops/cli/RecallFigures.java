// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** What searches of one kind found of the true hits, query by query. */
final class RecallFigures {
  private static final double POOR = 0.8;

  private final String queries;
  private int count;
  private int poor;
  private double sum;
  private double worst = 1;
  private long tookUs;
  private long exactTookUs;

  RecallFigures(String queries) {
    this.queries = queries;
  }

  /** Of a batch of searches: how long they took in all, and the exact ones. */
  void took(long micros, long exactMicros) {
    tookUs += micros;
    exactTookUs += exactMicros;
  }

  /**
   * Adds a query: a hit counts where it is as good as the last true one, so that it does not matter
   * which of equals were shown.
   *
   * @param found scores, best first
   * @param truth those of the exact search; a query without true hits says nothing
   */
  void add(float[] found, float[] truth, boolean higherIsBetter) {
    if (truth.length == 0) {
      return;
    }
    float last = truth[truth.length - 1];
    int hits = 0;
    for (float score : found) {
      hits += (higherIsBetter ? score >= last : score <= last) ? 1 : 0;
    }
    double recall = (double) Math.min(hits, truth.length) / truth.length;
    count++;
    sum += recall;
    poor += recall < POOR ? 1 : 0;
    worst = Math.min(worst, recall);
  }

  int count() {
    return count;
  }

  /** The figures; null where no query was asked that has true hits. */
  ObjectNode json() {
    ObjectNode out =
        JsonNodeFactory.instance.objectNode().put("queries", queries).put("count", count);
    if (count == 0) {
      return out.putNull("recall")
          .putNull("below_0_8")
          .putNull("worst")
          .putNull("took_us")
          .putNull("exact_took_us");
    }
    return out.put("recall", sum / count)
        .put("below_0_8", (double) poor / count)
        .put("worst", worst)
        .put("took_us", tookUs / count)
        .put("exact_took_us", exactTookUs / count);
  }

  void addTo(Table table) {
    if (count == 0) {
      table.row(queries, "0", "-", "-", "-", "-", "-");
      return;
    }
    table.row(
        queries,
        Integer.toString(count),
        "%.4f".formatted(sum / count),
        "%.1f %%".formatted(100.0 * poor / count),
        "%.2f".formatted(worst),
        "%.2f".formatted(tookUs / 1e3 / count),
        "%.2f".formatted(exactTookUs / 1e3 / count));
  }
}
