// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import java.util.Arrays;

/** One figure over several launches. */
record Spread(double median, double min, double max) {

  /** Of at least one value. */
  static Spread of(double... values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int half = sorted.length / 2;
    double median = sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    return new Spread(median, sorted[0], sorted[sorted.length - 1]);
  }
}
