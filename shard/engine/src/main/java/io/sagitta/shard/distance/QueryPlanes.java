// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import java.util.Arrays;

/**
 * One query as the code kernels read it: integers, in four planes beside the four nibbles of a
 * short, and the factors that turn a sum of products into a distance. Filled anew for every search
 * and graph; one thread at a time.
 *
 * <p>With {@code x} the query and {@code v} a row, both rotated and less the graph's centre, the
 * distance estimated is
 *
 * <pre>
 * constant + ofBias * bias(v) - ofProduct * (x . v)
 * </pre>
 *
 * <p>and lower is better. A row's code means {@code v_i = low + step * code_i}, the query's
 * integers mean {@code x_i = offset + unit * q_i}, so
 *
 * <pre>
 * x . v = low * sum(x - offset) + step * unit * sum(q_i code_i) + offset * sum(v)
 * </pre>
 *
 * <p>A query made of floats has offset 0. Its unit is the smallest with which no 16-bit lane of a
 * kernel overflows: every kernel has the same 32 lanes, and adds them up in wider integers after
 * {@link CodeKernels#CHUNK_BLOCKS} blocks, so the integers, and with them the distances, are the
 * same bits whatever the width. A query made of a row's 8-bit code is that code less 128, exactly.
 */
public final class QueryPlanes {
  private static final int NIBBLE_MAX = 15;

  /** Added before truncation, it makes that a rounding to the nearest, halves up. */
  private static final float ROUNDER = 32768.5f;

  /** What rounding the components of a lane to integers may add to its sum. */
  private static final int ROUNDING_MAX = NIBBLE_MAX * 4 * CodeKernels.CHUNK_BLOCKS / 2;

  /** For what rounding may take from a lane's sum. */
  private static final float LANE_SLACK = 1 + 0x1p-16f;

  private static final int CHUNK_COMPONENTS =
      CodeKernels.CHUNK_BLOCKS * CodeLayout.BLOCK_COMPONENTS;

  final CodeLayout layout;

  /** By block of 128 components, plane, lane; zero beyond the dimension. Null for bits. */
  final short[] planes;

  /** Words as they lie in memory, zero beyond the dimension. Null for nibbles. */
  final long[] bits;

  /** Sums of products, high nibbles and low, of the rows scored last. */
  int[] sums = new int[512];

  int[] lowSums = new int[0];

  float constant;
  float ofBias;
  float ofLow;
  float ofStep;
  float ofSum;

  private final short[] keep;

  /** The query in hand, with zeros up to whole blocks. Null for bits. */
  private final float[] padded;

  private float netSum;

  /** Room for queries against rows of one layout. */
  public QueryPlanes(CodeLayout layout) {
    this.layout = layout;
    int blocks = layout.blocks();
    if (layout.bits()) {
      this.planes = null;
      this.padded = null;
      this.keep = null;
      this.bits = new long[blocks * CodeLayout.BLOCK_BYTES / Long.BYTES];
    } else {
      this.planes = new short[blocks * CodeLayout.BLOCK_COMPONENTS];
      this.padded = new float[planes.length];
      this.keep = new short[planes.length];
      for (int i = 0; i < layout.dimension(); i++) {
        keep[CodeLayout.plane(i)] = -1;
      }
      this.bits = null;
    }
  }

  /** The layout of the rows it is for. */
  public CodeLayout layout() {
    return layout;
  }

  /**
   * A query of floats.
   *
   * @param values rotated and less the centre; finite, below 2^51 in size
   */
  public void set(float[] values, float constant, float ofBias, float ofProduct) {
    System.arraycopy(values, 0, padded, 0, layout.dimension());
    float lane = largestLane();
    float perUnit = lane > 0 ? (Short.MAX_VALUE - ROUNDING_MAX) / (NIBBLE_MAX * lane) : 1;
    for (int block = 0; block < padded.length; block += CodeLayout.BLOCK_COMPONENTS) {
      for (int i = 0; i < CodeLayout.LANES; i++) {
        int plane = block + i;
        int at = block + 4 * i;
        planes[plane] = rounded(padded[at] * perUnit);
        planes[plane + CodeLayout.LANES] = rounded(padded[at + 1] * perUnit);
        planes[plane + 2 * CodeLayout.LANES] = rounded(padded[at + 2] * perUnit);
        planes[plane + 3 * CodeLayout.LANES] = rounded(padded[at + 3] * perUnit);
      }
    }
    this.constant = constant;
    this.ofBias = ofBias;
    this.ofLow = ofProduct * netSum;
    this.ofStep = ofProduct / perUnit;
    this.ofSum = 0;
  }

  private static short rounded(float value) {
    return (short) ((int) (value + ROUNDER) - (int) ROUNDER);
  }

  /**
   * The largest sum of components of one sign that meet in one lane: times 15 it bounds what the
   * lane can come to, since no nibble is negative. Of two numbers' sum and difference, half the sum
   * of absolutes is the larger: so without a branch on signs. Leaves the sum of all components.
   */
  private float largestLane() {
    float largest = 0;
    netSum = 0;
    for (int chunk = 0; chunk < padded.length; chunk += CHUNK_COMPONENTS) {
      int end = Math.min(padded.length, chunk + CHUNK_COMPONENTS);
      for (int lane = 0; lane < CodeLayout.LANES; lane++) {
        float net = 0;
        float absolute = 0;
        for (int i = chunk + 4 * lane; i < end; i += CodeLayout.BLOCK_COMPONENTS) {
          float a = padded[i];
          float b = padded[i + 1];
          float c = padded[i + 2];
          float d = padded[i + 3];
          net += a + b + (c + d);
          absolute += Math.abs(a) + Math.abs(b) + (Math.abs(c) + Math.abs(d));
        }
        largest = Math.max(largest, absolute + Math.abs(net));
        netSum += net;
      }
    }
    return largest / 2 * LANE_SLACK;
  }

  /**
   * A row's own 8-bit code as the query; scores 8-bit rows only.
   *
   * @param ofRowBias what of this row's bias is added to {@code constant}
   */
  public void setRow(
      CodeRows rows, int row, float constant, float ofRowBias, float ofBias, float ofProduct) {
    long highRow = rows.high + row * rows.stride;
    long lowRow = rows.low + row * rows.stride;
    CodeScorer.KERNELS.unpack(highRow, lowRow, keep, planes, rows.blocks);
    float step = NativeMemory.floatAt(lowRow + rows.factorsAt + 4);
    float offset = NativeMemory.floatAt(lowRow + rows.factorsAt) + 128 * step;
    float sum = NativeMemory.floatAt(lowRow + rows.factorsAt + 8);
    this.constant = constant + ofRowBias * rows.bias(row);
    this.ofBias = ofBias;
    this.ofLow = ofProduct * (sum - layout.dimension() * offset);
    this.ofStep = ofProduct * step;
    this.ofSum = ofProduct * offset;
  }

  /** A query of bits, given as zeros and ones. */
  public void setBits(float[] values) {
    Arrays.fill(bits, 0);
    for (int i = 0; i < layout.dimension(); i++) {
      if (values[i] != 0) {
        bits[i >> 6] |= 1L << ((i & 56) + 7 - (i & 7));
      }
    }
  }

  /** A row's own bits as the query. */
  public void setBitRow(CodeRows rows, int row) {
    for (int i = 0; i < bits.length; i++) {
      bits[i] = NativeMemory.longAt(rows.high + row * rows.stride + 8L * i);
    }
  }

  void reserve(int count, boolean low) {
    if (sums.length < count) {
      sums = new int[2 * count];
    }
    if (low && lowSums.length < count) {
      lowSums = new int[sums.length];
    }
  }
}
