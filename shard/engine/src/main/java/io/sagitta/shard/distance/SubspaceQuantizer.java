// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A product quantizer of 4 bits (Jegou, Douze and Schmid 2011): components are split into runs, and
 * each run of a vector is coded as the nearest of 16 centroids. What a product with a query comes
 * to is then a sum of table entries, one a run: see {@link ScanTable}. Immutable.
 *
 * <p>The codebook has 16 floats a component: {@code codebook[16 c + k]} is component {@code c} of
 * centroid {@code k} of the run that {@code c} belongs to. Runs follow from the dimension alone, so
 * the codebook is all that a file must keep.
 */
public final class SubspaceQuantizer {
  /** Centroids of a run: as many as a register of bytes looks up at once. */
  public static final int CENTROIDS = 16;

  /** Runs come in fours, so that 16 neighbours' codes are whole halves of a cache line. */
  private static final int RUNS_STEP = 4;

  /** Components of a run, at the most on average: of 100 components 24 runs. */
  private static final double RUN_COMPONENTS = 4.2;

  private static final int ITERATIONS = 12;
  private static final long SEED = 0x9a7e5ca1ab1eL;

  private final int dimension;
  private final int runs;
  private final float[] codebook;

  /** From a codebook that {@link #train} made; not copied. */
  public SubspaceQuantizer(int dimension, float[] codebook) {
    if (codebook.length != CENTROIDS * dimension) {
      throw new IllegalArgumentException(
          "codebook of " + codebook.length + " floats, expected " + CENTROIDS * dimension);
    }
    this.dimension = dimension;
    this.runs = runs(dimension);
    this.codebook = codebook;
  }

  /** Runs that vectors of a dimension are split into; a multiple of four. */
  public static int runs(int dimension) {
    return RUNS_STEP * (int) Math.ceil(dimension / (RUN_COMPONENTS * RUNS_STEP));
  }

  /** First component of a run; that of the run after the last is the dimension. */
  private static int start(int run, int runs, int dimension) {
    return (int) ((long) run * dimension / runs);
  }

  /**
   * Trains centroids by k-means, always the same for the same samples.
   *
   * @param samples {@code count * dimension} floats; at least one sample
   */
  public static SubspaceQuantizer train(int dimension, float[] samples, int count) {
    float[] codebook = new float[CENTROIDS * dimension];
    int runs = runs(dimension);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int run = 0; run < runs; run++) {
      int from = start(run, runs, dimension);
      int to = start(run + 1, runs, dimension);
      train(dimension, samples, count, from, to, codebook, random);
    }
    return new SubspaceQuantizer(dimension, codebook);
  }

  private static void train(
      int dimension,
      float[] samples,
      int count,
      int from,
      int to,
      float[] codebook,
      SplittableRandom random) {
    for (int k = 0; k < CENTROIDS; k++) {
      put(samples, random.nextInt(count) * dimension, codebook, from, to, k);
    }
    float[] distances = new float[CENTROIDS];
    double[] sums = new double[CENTROIDS * (to - from)];
    int[] members = new int[CENTROIDS];
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
      Arrays.fill(sums, 0);
      Arrays.fill(members, 0);
      for (int i = 0; i < count; i++) {
        int at = i * dimension;
        int nearest = nearest(codebook, samples, at, from, to, distances);
        members[nearest]++;
        for (int c = from; c < to; c++) {
          sums[CENTROIDS * (c - from) + nearest] += samples[at + c];
        }
      }
      for (int k = 0; k < CENTROIDS; k++) {
        if (members[k] == 0) {
          put(samples, random.nextInt(count) * dimension, codebook, from, to, k);
          continue;
        }
        for (int c = from; c < to; c++) {
          codebook[CENTROIDS * c + k] = (float) (sums[CENTROIDS * (c - from) + k] / members[k]);
        }
      }
    }
  }

  private static void put(float[] sample, int at, float[] codebook, int from, int to, int k) {
    for (int c = from; c < to; c++) {
      codebook[CENTROIDS * c + k] = sample[at + c];
    }
  }

  /** The nearest centroid of one run of {@code vector[at..]}; the first of equals. */
  private static int nearest(
      float[] codebook, float[] vector, int at, int from, int to, float[] distances) {
    Arrays.fill(distances, 0);
    for (int c = from; c < to; c++) {
      float value = vector[at + c];
      int row = CENTROIDS * c;
      for (int k = 0; k < CENTROIDS; k++) {
        float difference = codebook[row + k] - value;
        distances[k] += difference * difference;
      }
    }
    int nearest = 0;
    for (int k = 1; k < CENTROIDS; k++) {
      nearest = distances[k] < distances[nearest] ? k : nearest;
    }
    return nearest;
  }

  /**
   * Codes a vector.
   *
   * @param codes a code from 0 to 15 for each run
   * @param room for {@link #CENTROIDS} floats
   */
  public void encode(float[] vector, byte[] codes, float[] room) {
    for (int run = 0; run < runs; run++) {
      int from = start(run, runs, dimension);
      int to = start(run + 1, runs, dimension);
      codes[run] = (byte) nearest(codebook, vector, 0, from, to, room);
    }
  }

  /** The squared length of what a vector's code leaves out. */
  public double squaredError(float[] vector, byte[] codes) {
    double sum = 0;
    for (int run = 0; run < runs; run++) {
      int to = start(run + 1, runs, dimension);
      for (int c = start(run, runs, dimension); c < to; c++) {
        double difference = vector[c] - codebook[CENTROIDS * c + codes[run]];
        sum += difference * difference;
      }
    }
    return sum;
  }

  /** The products of a query with all centroids, {@code out[16 run + k]}. */
  void products(float[] query, float[] out) {
    Arrays.fill(out, 0, CENTROIDS * runs, 0);
    for (int run = 0; run < runs; run++) {
      int to = start(run + 1, runs, dimension);
      int at = CENTROIDS * run;
      for (int c = start(run, runs, dimension); c < to; c++) {
        float value = query[c];
        int row = CENTROIDS * c;
        for (int k = 0; k < CENTROIDS; k++) {
          out[at + k] += value * codebook[row + k];
        }
      }
    }
  }

  /** Components of a vector. */
  public int dimension() {
    return dimension;
  }

  public int runs() {
    return runs;
  }

  /** The floats that make it; not to be changed. */
  public float[] codebook() {
    return codebook;
  }
}
