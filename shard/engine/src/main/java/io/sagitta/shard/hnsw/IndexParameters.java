// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;

/**
 * How an index is built.
 *
 * @param links M of the HNSW paper: links that a new row chooses on each level, and the most a row
 *     has on an upper level; twice as many on level 0
 * @param efConstruction how many of the best rows a new row's links are chosen from
 */
public record IndexParameters(
    VectorType type, Metric metric, int dimension, int links, int efConstruction) {
  private static final int LINKS_MIN = 4;
  private static final int LINKS_MAX = 64;

  /** Checks the ranges. */
  public IndexParameters {
    if ((type == VectorType.BINARY) != (metric == Metric.HAMMING)) {
      throw new IllegalArgumentException(metric + " over " + type);
    }
    if (dimension < 1) {
      throw new IllegalArgumentException("dimension " + dimension);
    }
    if (links < LINKS_MIN || links > LINKS_MAX) {
      throw new IllegalArgumentException(
          links + " links, expected " + LINKS_MIN + " to " + LINKS_MAX);
    }
    if (efConstruction < links) {
      throw new IllegalArgumentException(
          "efConstruction " + efConstruction + " below " + links + " links");
    }
  }

  /** With the usual M = 16 and efConstruction = 200. */
  public static IndexParameters of(VectorType type, Metric metric, int dimension) {
    return new IndexParameters(type, metric, dimension, 16, 200);
  }

  /** Whether rows are bits, scored as they are. */
  boolean bits() {
    return type == VectorType.BINARY;
  }

  /** Whether distances are squared lengths of differences. */
  boolean squared() {
    return metric == Metric.COSINE || metric == Metric.L2;
  }
}
