// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

/** How two vectors are scored. */
public enum Metric {
  /** Cosine similarity in [-1, 1]; higher is better; length never matters. */
  COSINE(true),
  /** Dot product; higher is better. */
  DOT(true),
  /** Euclidean distance; lower is better. */
  L2(false),
  /** Number of differing bits; lower is better; binary vectors only. */
  HAMMING(false);

  private final boolean higherIsBetter;

  Metric(boolean higherIsBetter) {
    this.higherIsBetter = higherIsBetter;
  }

  public boolean higherIsBetter() {
    return higherIsBetter;
  }
}
