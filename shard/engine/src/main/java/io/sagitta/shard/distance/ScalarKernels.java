// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

/**
 * The canonical arithmetic in plain Java: the reference that the vector kernels are held to, the
 * fallback where the Vector API is absent, and the one that scores the last rows of a segment,
 * behind which too few bytes are readable for whole blocks. It reads no byte outside its rows.
 *
 * <p>Sixteen accumulators in four passes of four: pass {@code j} owns lanes {@code j, j+4, j+8,
 * j+12}, which are exactly those that the tree folds into {@code r4[j]}, and four independent
 * chains keep the multiply-add units busy.
 */
final class ScalarKernels extends RowKernels {
  /** How a component is read. */
  private static final int FLOAT32 = 0;

  private static final int FLOAT16 = 1;
  private static final int INT8 = 2;

  @Override
  String name() {
    return "scalar";
  }

  @Override
  CodeKernels codes() {
    return new ScalarCodeKernels();
  }

  @Override
  void dotFloat32(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = dot(FLOAT32, a, query);
    out[Math.min(at + step, max)] = dot(FLOAT32, b, query);
    out[Math.min(at + 2 * step, max)] = dot(FLOAT32, c, query);
    out[Math.min(at + 3 * step, max)] = dot(FLOAT32, d, query);
  }

  @Override
  void dotFloat16(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = dot(FLOAT16, a, query);
    out[Math.min(at + step, max)] = dot(FLOAT16, b, query);
    out[Math.min(at + 2 * step, max)] = dot(FLOAT16, c, query);
    out[Math.min(at + 3 * step, max)] = dot(FLOAT16, d, query);
  }

  @Override
  void dotInt8Float(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = dot(INT8, a, query);
    out[Math.min(at + step, max)] = dot(INT8, b, query);
    out[Math.min(at + 2 * step, max)] = dot(INT8, c, query);
    out[Math.min(at + 3 * step, max)] = dot(INT8, d, query);
  }

  @Override
  void dotInt8(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = dotInt8(a, query);
    out[Math.min(at + step, max)] = dotInt8(b, query);
    out[Math.min(at + 2 * step, max)] = dotInt8(c, query);
    out[Math.min(at + 3 * step, max)] = dotInt8(d, query);
  }

  @Override
  void squareFloat32(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = square(FLOAT32, a, query);
    out[Math.min(at + step, max)] = square(FLOAT32, b, query);
    out[Math.min(at + 2 * step, max)] = square(FLOAT32, c, query);
    out[Math.min(at + 3 * step, max)] = square(FLOAT32, d, query);
  }

  @Override
  void squareFloat16(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = square(FLOAT16, a, query);
    out[Math.min(at + step, max)] = square(FLOAT16, b, query);
    out[Math.min(at + 2 * step, max)] = square(FLOAT16, c, query);
    out[Math.min(at + 3 * step, max)] = square(FLOAT16, d, query);
  }

  @Override
  void squareInt8Float(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = square(INT8, a, query);
    out[Math.min(at + step, max)] = square(INT8, b, query);
    out[Math.min(at + 2 * step, max)] = square(INT8, c, query);
    out[Math.min(at + 3 * step, max)] = square(INT8, d, query);
  }

  @Override
  void squareInt8(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = squareInt8(a, query);
    out[Math.min(at + step, max)] = squareInt8(b, query);
    out[Math.min(at + 2 * step, max)] = squareInt8(c, query);
    out[Math.min(at + 3 * step, max)] = squareInt8(d, query);
  }

  @Override
  void hamming(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = hamming(a, query);
    out[Math.min(at + step, max)] = hamming(b, query);
    out[Math.min(at + 2 * step, max)] = hamming(c, query);
    out[Math.min(at + 3 * step, max)] = hamming(d, query);
  }

  private static float dot(int type, long row, PreparedQuery query) {
    float r0 = dotPass(type, row, query, 0);
    float r1 = dotPass(type, row, query, 1);
    float r2 = dotPass(type, row, query, 2);
    float r3 = dotPass(type, row, query, 3);
    return ((r0 + r2) + (r1 + r3)) + 0.0f;
  }

  private static float square(int type, long row, PreparedQuery query) {
    float r0 = squarePass(type, row, query, 0);
    float r1 = squarePass(type, row, query, 1);
    float r2 = squarePass(type, row, query, 2);
    float r3 = squarePass(type, row, query, 3);
    return ((r0 + r2) + (r1 + r3)) + 0.0f;
  }

  /** {@code r4[lane]} of the dot product. */
  private static float dotPass(int type, long row, PreparedQuery query, int lane) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int shift = query.shift;
    float scale = query.scale;
    int dim = query.dimension();
    float total0 = 0;
    float total4 = 0;
    float total8 = 0;
    float total12 = 0;
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      float sum0 = 0;
      float sum4 = 0;
      float sum8 = 0;
      float sum12 = 0;
      int i = chunk + lane;
      for (; i + 12 < end; i += LANES) {
        sum0 = Math.fma(components[i], component(type, row, i, keep, shift, scale), sum0);
        sum4 = Math.fma(components[i + 4], component(type, row, i + 4, keep, shift, scale), sum4);
        sum8 = Math.fma(components[i + 8], component(type, row, i + 8, keep, shift, scale), sum8);
        sum12 =
            Math.fma(components[i + 12], component(type, row, i + 12, keep, shift, scale), sum12);
      }
      if (i < end) {
        sum0 = Math.fma(components[i], component(type, row, i, keep, shift, scale), sum0);
      }
      if (i + 4 < end) {
        sum4 = Math.fma(components[i + 4], component(type, row, i + 4, keep, shift, scale), sum4);
      }
      if (i + 8 < end) {
        sum8 = Math.fma(components[i + 8], component(type, row, i + 8, keep, shift, scale), sum8);
      }
      total0 += sum0;
      total4 += sum4;
      total8 += sum8;
      total12 += sum12;
    }
    return (total0 + total8) + (total4 + total12);
  }

  /** {@code r4[lane]} of the squared distance. */
  private static float squarePass(int type, long row, PreparedQuery query, int lane) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int shift = query.shift;
    float scale = query.scale;
    int dim = query.dimension();
    float total0 = 0;
    float total4 = 0;
    float total8 = 0;
    float total12 = 0;
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      float sum0 = 0;
      float sum4 = 0;
      float sum8 = 0;
      float sum12 = 0;
      int i = chunk + lane;
      for (; i + 12 < end; i += LANES) {
        sum0 = addSquare(components[i] - component(type, row, i, keep, shift, scale), sum0);
        sum4 = addSquare(components[i + 4] - component(type, row, i + 4, keep, shift, scale), sum4);
        sum8 = addSquare(components[i + 8] - component(type, row, i + 8, keep, shift, scale), sum8);
        sum12 =
            addSquare(components[i + 12] - component(type, row, i + 12, keep, shift, scale), sum12);
      }
      if (i < end) {
        sum0 = addSquare(components[i] - component(type, row, i, keep, shift, scale), sum0);
      }
      if (i + 4 < end) {
        sum4 = addSquare(components[i + 4] - component(type, row, i + 4, keep, shift, scale), sum4);
      }
      if (i + 8 < end) {
        sum8 = addSquare(components[i + 8] - component(type, row, i + 8, keep, shift, scale), sum8);
      }
      total0 += sum0;
      total4 += sum4;
      total8 += sum8;
      total12 += sum12;
    }
    return (total0 + total8) + (total4 + total12);
  }

  private static float addSquare(float difference, float sum) {
    return Math.fma(difference, difference, sum);
  }

  private static float component(int type, long row, int i, int[] keep, int shift, float scale) {
    if (type == FLOAT32) {
      return NativeMemory.floatAt(row + 4L * i);
    }
    if (type == FLOAT16) {
      return Float.intBitsToFloat((NativeMemory.shortAt(row + 2L * i) << shift) & keep[i]) * scale;
    }
    return NativeMemory.byteAt(row + i) & keep[i];
  }

  private static int dotInt8(long row, PreparedQuery query) {
    int[] components = query.ints;
    int[] keep = query.keep;
    int dim = query.dimension();
    int sum = 0;
    for (int i = 0; i < dim; i++) {
      sum += components[i] * (NativeMemory.byteAt(row + i) & keep[i]);
    }
    return sum;
  }

  private static int squareInt8(long row, PreparedQuery query) {
    int[] components = query.ints;
    int[] keep = query.keep;
    int dim = query.dimension();
    int sum = 0;
    for (int i = 0; i < dim; i++) {
      int difference = components[i] - (NativeMemory.byteAt(row + i) & keep[i]);
      sum += difference * difference;
    }
    return sum;
  }

  private static int hamming(long row, PreparedQuery query) {
    long[] asked = query.bits;
    long[] keep = query.keepBits;
    int bytes = query.type().bytes(query.dimension());
    int bits = 0;
    int words = bytes / Long.BYTES;
    for (int i = 0; i < words; i++) {
      bits += Long.bitCount((asked[i] ^ NativeMemory.longAt(row + 8L * i)) & keep[i]);
    }
    long tail = 0;
    for (int i = words * Long.BYTES; i < bytes; i++) {
      tail |= (NativeMemory.byteAt(row + i) & 0xffL) << (8 * (i & 7));
    }
    if (bytes % Long.BYTES != 0) {
      bits += Long.bitCount((asked[words] ^ tail) & keep[words]);
    }
    return bits;
  }
}
