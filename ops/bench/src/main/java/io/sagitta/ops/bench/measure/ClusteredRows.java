// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import java.util.SplittableRandom;

/**
 * Rows in clusters, as what a model embeds lies: the cluster of an id and what sets it apart there
 * are drawn from (seed, id). Queries are further members of the same clusters.
 */
final class ClusteredRows implements Rows {
  private static final long QUERIES = 1 << 20;

  /** Length of what sets a row apart, over that of its cluster's centre. */
  private static final double SPREAD = 0.6;

  private final int dimension;
  private final long seed;
  private final float[][] centres;

  /**
   * Rows of so many clusters.
   *
   * @param dimension of the vectors
   */
  ClusteredRows(int dimension, int clusters, long seed) {
    this.dimension = dimension;
    this.seed = seed;
    this.centres = new float[clusters][];
    SplittableRandom random = new SplittableRandom(seed);
    for (int c = 0; c < clusters; c++) {
      centres[c] = new float[dimension];
      for (int d = 0; d < dimension; d++) {
        centres[c][d] = (float) random.nextDouble(-1, 1);
      }
    }
  }

  @Override
  public int dimension() {
    return dimension;
  }

  @Override
  public float[] vector(long id) {
    SplittableRandom random = new SplittableRandom(seed * 0x9E3779B97F4A7C15L + id);
    float[] centre = centres[random.nextInt(centres.length)];
    float[] vector = new float[dimension];
    for (int d = 0; d < dimension; d++) {
      vector[d] = centre[d] + (float) random.nextDouble(-SPREAD, SPREAD);
    }
    return vector;
  }

  @Override
  public float[] query(SplittableRandom draw) {
    return vector(-1 - draw.nextLong(QUERIES));
  }
}
