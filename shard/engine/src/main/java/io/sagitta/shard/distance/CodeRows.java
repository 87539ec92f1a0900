// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import java.lang.foreign.MemorySegment;

/**
 * Where the codes of a graph's rows lie, row {@code i} at {@code i * layout.stride()} of each
 * region. Immutable. Bounds are checked here; ordinals given later are the caller's to check, and
 * so is that the memory lives.
 */
public final class CodeRows {
  /** Levels of a component's code, and of its high nibble. */
  private static final int LEVELS = 256;

  private static final int HIGH_LEVELS = 16;

  /**
   * After the rotation components are close to normally distributed. Beyond three deviations a code
   * would spend its levels on components that hardly occur: 10 % more error of 4 bits at 384
   * components, against 1 % that clipping adds to 8 bits.
   */
  private static final double CLIP_DEVIATIONS = 3;

  final CodeLayout layout;
  final long high;
  final long stride;
  final int blocks;
  final int factorsAt;

  /** 0 where there is no second region. */
  final long low;

  /**
   * Codes of {@code count} rows.
   *
   * @param low null for bits, and where only 4-bit searches are wanted
   */
  public CodeRows(CodeLayout layout, int count, MemorySegment high, MemorySegment low) {
    long needed = (long) count * layout.stride();
    if (!high.isNative() || high.byteSize() < needed) {
      throw new IllegalArgumentException(
          count + " rows of codes need " + needed + " native bytes, got " + high.byteSize());
    }
    if (low != null && (!low.isNative() || low.byteSize() < needed)) {
      throw new IllegalArgumentException(
          count + " rows of low nibbles need " + needed + " native bytes, got " + low.byteSize());
    }
    this.layout = layout;
    this.high = high.address();
    this.low = low == null ? 0 : low.address();
    this.stride = layout.stride();
    this.blocks = layout.blocks();
    this.factorsAt = layout.bits() ? 0 : layout.factorsAt();
  }

  /** The layout. */
  public CodeLayout layout() {
    return layout;
  }

  /** Whether all 8 bits are here. */
  public boolean hasLow() {
    return low != 0;
  }

  /**
   * Encodes a row: each component into one of 256 equal steps, whose middles are what codes mean,
   * stretched so that the row's product with itself is right.
   *
   * @param values the rotated components; finite, below 2^51 in size
   * @param bias what {@link QueryPlanes} adds for this row
   */
  public void encode(int row, float[] values, float bias) {
    int dimension = layout.dimension();
    double sum = 0;
    double squares = 0;
    float min = Float.POSITIVE_INFINITY;
    float max = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < dimension; i++) {
      float value = values[i];
      sum += value;
      squares += (double) value * value;
      min = Math.min(min, value);
      max = Math.max(max, value);
    }
    double mean = sum / dimension;
    double reach = CLIP_DEVIATIONS * Math.sqrt(Math.max(0, squares / dimension - mean * mean));
    double from = Math.max(min, mean - reach);
    double step = (Math.min(max, mean + reach) - from) / LEVELS;
    byte[] codes = new byte[dimension];
    double lowProduct = 0;
    double highProduct = 0;
    double codeSum = 0;
    for (int i = 0; i < dimension; i++) {
      int code = step > 0 ? (int) Math.clamp((values[i] - from) / step, 0, LEVELS - 1) : 0;
      codes[i] = (byte) code;
      codeSum += code;
      lowProduct += values[i] * (from + step * (code + 0.5));
      highProduct += values[i] * (from + step * HIGH_LEVELS * ((code >> 4) + 0.5));
    }
    writeNibbles(high + row * stride, codes, 4);
    double stretch = stretch(squares, highProduct);
    double highStep = step * HIGH_LEVELS * stretch;
    writeFactors(high + row * stride, from * stretch + highStep / 2, highStep, bias);
    if (low != 0) {
      writeNibbles(low + row * stride, codes, 0);
      stretch = stretch(squares, lowProduct);
      double first = (from + step / 2) * stretch;
      writeFactors(
          low + row * stride, first, step * stretch, dimension * first + step * stretch * codeSum);
    }
  }

  private static double stretch(double squares, double product) {
    double stretch = squares / product;
    return product > 0 && stretch > 0.5 && stretch < 2 ? stretch : 1;
  }

  private void writeNibbles(long at, byte[] codes, int shift) {
    NativeMemory.fill(at, stride, (byte) 0);
    for (int i = 0; i < codes.length; i += 2) {
      int first = codes[i] >> shift & 15;
      int second = i + 1 < codes.length ? codes[i + 1] >> shift & 15 : 0;
      NativeMemory.putByte(at + i / 2, (byte) (first | second << 4));
    }
  }

  private void writeFactors(long at, double lowest, double step, double last) {
    NativeMemory.putFloat(at + factorsAt, (float) lowest);
    NativeMemory.putFloat(at + factorsAt + 4, (float) step);
    NativeMemory.putFloat(at + factorsAt + 8, (float) last);
  }

  /** Takes over a row of bits. */
  public void encodeBits(int row, VectorRows rows, int from) {
    byte[] bits = new byte[(int) stride];
    MemorySegment source = rows.bytes(from);
    MemorySegment.copy(source, 0, MemorySegment.ofArray(bits), 0, source.byteSize());
    int unused = 8 * (int) source.byteSize() - layout.dimension();
    bits[(int) source.byteSize() - 1] &= (byte) (-1 << unused);
    NativeMemory.copy(bits, high + row * stride);
  }

  /** Writes what a row's 8-bit code means, still rotated, to {@code out[0..dimension)}. */
  public void decode(int row, float[] out) {
    long highRow = high + row * stride;
    long lowRow = low + row * stride;
    float lowest = NativeMemory.floatAt(lowRow + factorsAt);
    float step = NativeMemory.floatAt(lowRow + factorsAt + 4);
    for (int i = 0; i < layout.dimension(); i++) {
      int shift = 4 * (i & 1);
      int highNibble = NativeMemory.byteAt(highRow + i / 2) >> shift & 15;
      int lowNibble = NativeMemory.byteAt(lowRow + i / 2) >> shift & 15;
      out[i] = lowest + step * (16 * highNibble + lowNibble);
    }
  }

  float bias(int row) {
    return NativeMemory.floatAt(high + row * stride + factorsAt + 8);
  }
}
