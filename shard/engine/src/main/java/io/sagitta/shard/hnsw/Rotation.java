// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

/**
 * An orthogonal map that spreads every vector's energy over all components, so that the few levels
 * of a code fit any data: three rounds of random signs and a Walsh-Hadamard transform of the first
 * and then of the last 2^p components, 2^p being the largest that fits. Depends on the dimension
 * alone, so a query is rotated once for all indexes. Part of the file format: never change it.
 *
 * <p>A dense random matrix does no better and took 13 to 20 % of a search at 384 components.
 */
final class Rotation {
  private static final int ROUNDS = 3;
  private static final long SEED = 0x5a9177a5a9177aL;

  private final int dimension;
  private final int width;
  private final float[][] signs;

  Rotation(int dimension) {
    this.dimension = dimension;
    this.width = Integer.highestOneBit(dimension);
    this.signs = new float[ROUNDS][dimension];
    long state = SEED;
    for (float[] round : signs) {
      for (int i = 0; i < dimension; i++) {
        state += 0x9e3779b97f4a7c15L;
        round[i] = splitMix(state) < 0 ? -1 : 1;
      }
    }
  }

  /** Of SplitMix64 (Steele, Lea, Flood 2014), written out because its bits must stay. */
  private static long splitMix(long state) {
    long z = (state ^ state >>> 30) * 0xbf58476d1ce4e5b9L;
    z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
    return z ^ z >>> 31;
  }

  /** Rotates {@code values[0..dimension)} in place. */
  void apply(float[] values) {
    for (float[] round : signs) {
      for (int i = 0; i < dimension; i++) {
        values[i] *= round[i];
      }
      transform(values, 0, width);
      if (width < dimension) {
        transform(values, dimension - width, width);
      }
    }
  }

  private static void transform(float[] values, int at, int width) {
    int half = 1;
    if (width >= 8) {
      eights(values, at, at + width);
      half = 8;
    }
    for (; half < width; half *= 2) {
      for (int pair = at; pair < at + width; pair += 2 * half) {
        butterflies(values, pair, half);
      }
    }
    float scale = (float) (1 / Math.sqrt(width));
    for (int i = at; i < at + width; i++) {
      values[i] *= scale;
    }
  }

  private static void butterflies(float[] values, int at, int half) {
    for (int i = at; i < at + half; i++) {
      float first = values[i];
      float second = values[i + half];
      values[i] = first + second;
      values[i + half] = first - second;
    }
  }

  /** The three smallest steps at once, for each eight components: in registers. */
  private static void eights(float[] values, int from, int to) {
    for (int i = from; i < to; i += 8) {
      float a0 = values[i] + values[i + 1];
      float a1 = values[i] - values[i + 1];
      float a2 = values[i + 2] + values[i + 3];
      float a3 = values[i + 2] - values[i + 3];
      float a4 = values[i + 4] + values[i + 5];
      float a5 = values[i + 4] - values[i + 5];
      float a6 = values[i + 6] + values[i + 7];
      float a7 = values[i + 6] - values[i + 7];
      float b0 = a0 + a2;
      float b1 = a1 + a3;
      float b2 = a0 - a2;
      float b3 = a1 - a3;
      float b4 = a4 + a6;
      float b5 = a5 + a7;
      float b6 = a4 - a6;
      float b7 = a5 - a7;
      values[i] = b0 + b4;
      values[i + 1] = b1 + b5;
      values[i + 2] = b2 + b6;
      values[i + 3] = b3 + b7;
      values[i + 4] = b0 - b4;
      values[i + 5] = b1 - b5;
      values[i + 6] = b2 - b6;
      values[i + 7] = b3 - b7;
    }
  }
}
