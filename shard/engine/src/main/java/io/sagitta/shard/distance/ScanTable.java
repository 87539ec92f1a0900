// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

/**
 * A query as the scan of {@linkplain SubspaceQuantizer quantized} vectors reads it: for each run a
 * table of 16 small integers, what the product with each centroid comes to. Filled anew for every
 * search; one thread at a time. Integers, so that every kernel passes the same vectors.
 */
public final class ScanTable {
  /** Two entries are added as signed bytes. */
  static final int ENTRY_MAX = 63;

  private static final int CENTROIDS = SubspaceQuantizer.CENTROIDS;

  /** Vectors of a group: their codes for two runs are one register of bytes. */
  public static final int GROUP = 16;

  private int runs;
  private float[] products = new float[0];
  private byte[] entries = new byte[0];
  private float bias;
  private float perUnit;

  /** Takes a query of the quantizer's dimension. */
  public void set(SubspaceQuantizer quantizer, float[] query) {
    runs = quantizer.runs();
    if (products.length < CENTROIDS * runs) {
      products = new float[CENTROIDS * runs];
      entries = new byte[CENTROIDS * runs];
    }
    quantizer.products(query, products);
    float widest = 0;
    bias = 0;
    for (int run = 0; run < runs; run++) {
      float least = least(run);
      for (int i = CENTROIDS * run; i < CENTROIDS * (run + 1); i++) {
        products[i] -= least;
        widest = Math.max(widest, products[i]);
      }
      bias += least;
    }
    perUnit = widest > 0 ? ENTRY_MAX / widest : 0;
    for (int i = 0; i < CENTROIDS * runs; i++) {
      entries[i] = (byte) (int) (products[i] * perUnit + 0.5f);
    }
  }

  private float least(int run) {
    float least = products[CENTROIDS * run];
    for (int k = 1; k < CENTROIDS; k++) {
      least = Math.min(least, products[CENTROIDS * run + k]);
    }
    return least;
  }

  /** Bytes of the codes of one group. */
  public static int groupBytes(int runs) {
    return GROUP * runs / 2;
  }

  /**
   * Stores a vector's codes at its place of a group, whose bytes were zero: a nibble a run, runs
   * {@code 2 r} and {@code 2 r + 1} in one byte. Vectors 0 to 7 have the even bytes and 8 to 15 the
   * odd ones, so that the sums of either half are shorts as they lie.
   */
  public static void putCodes(long group, int place, byte[] codes, int runs) {
    int at = place < GROUP / 2 ? 2 * place : 2 * (place - GROUP / 2) + 1;
    for (int run = 0; run < runs; run += 2) {
      NativeMemory.putByte(group + 8L * run + at, (byte) (codes[run] | codes[run + 1] << 4));
    }
  }

  /**
   * Which of two groups' vectors have, by their codes, at least a product with the query, as a bit
   * each.
   *
   * @param groups address of the first group; the second follows
   */
  public int atLeast(long groups, float product) {
    float threshold = (product - bias) * perUnit;
    return CodeScorer.KERNELS.sumsAtLeast(
        groups, entries, runs, (short) Math.clamp(threshold, 0f, Short.MAX_VALUE));
  }
}
