// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import java.io.IOException;
import java.io.PrintStream;
import java.util.SplittableRandom;

/**
 * Made data that is hard for quantisers: tight clusters whose members differ by little. A row is a
 * random unit centre plus Gaussian noise of {@code 0.6 / sqrt(d)} a component, scaled to length
 * one; the clusters are drawn evenly. Foreign queries are random directions, near no cluster.
 */
record ClusterData(int rows, int dimension, int clusters) implements DataSet.Source {
  static final ClusterData HARD_384 = new ClusterData(100_000, 384, 200);

  private static final double NOISE = 0.6;
  private static final int QUERIES = 10_000;
  private static final long SEED = 384;

  @Override
  public String name() {
    return "clusters-" + rows + "x" + dimension + "-" + clusters;
  }

  @Override
  public void write(DataSet.Outputs files, PrintStream log) throws IOException {
    SplittableRandom random = new SplittableRandom(SEED);
    float[][] centres = new float[clusters][];
    for (int c = 0; c < clusters; c++) {
      centres[c] = UnitVectors.random(dimension, random);
    }
    for (int row = 0; row < rows; row++) {
      files.base().add(UnitVectors.near(centres[random.nextInt(clusters)], NOISE, random));
    }
    for (int query = 0; query < QUERIES; query++) {
      files.heldOut().add(UnitVectors.near(centres[random.nextInt(clusters)], NOISE, random));
      files.foreign().add(UnitVectors.random(dimension, random));
    }
  }
}
