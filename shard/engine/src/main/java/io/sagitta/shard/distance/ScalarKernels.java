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
  private static final int FLOAT32 = 0;
  private static final int FLOAT16 = 1;
  private static final int BFLOAT16 = 2;
  private static final int INT8 = 3;
  private static final int UINT8 = 4;

  @Override
  String name() {
    return "scalar";
  }

  @Override
  void dotFloat32(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = dot(FLOAT32, a, query, dim);
    out[Math.min(at + 1, last)] = dot(FLOAT32, b, query, dim);
    out[Math.min(at + 2, last)] = dot(FLOAT32, c, query, dim);
    out[Math.min(at + 3, last)] = dot(FLOAT32, d, query, dim);
  }

  @Override
  void squareFloat32(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = square(FLOAT32, a, query, dim);
    out[Math.min(at + 1, last)] = square(FLOAT32, b, query, dim);
    out[Math.min(at + 2, last)] = square(FLOAT32, c, query, dim);
    out[Math.min(at + 3, last)] = square(FLOAT32, d, query, dim);
  }

  @Override
  void dotFloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = dot(FLOAT16, a, query, dim);
    out[Math.min(at + 1, last)] = dot(FLOAT16, b, query, dim);
    out[Math.min(at + 2, last)] = dot(FLOAT16, c, query, dim);
    out[Math.min(at + 3, last)] = dot(FLOAT16, d, query, dim);
  }

  @Override
  void squareFloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = square(FLOAT16, a, query, dim);
    out[Math.min(at + 1, last)] = square(FLOAT16, b, query, dim);
    out[Math.min(at + 2, last)] = square(FLOAT16, c, query, dim);
    out[Math.min(at + 3, last)] = square(FLOAT16, d, query, dim);
  }

  @Override
  void dotBfloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = dot(BFLOAT16, a, query, dim);
    out[Math.min(at + 1, last)] = dot(BFLOAT16, b, query, dim);
    out[Math.min(at + 2, last)] = dot(BFLOAT16, c, query, dim);
    out[Math.min(at + 3, last)] = dot(BFLOAT16, d, query, dim);
  }

  @Override
  void squareBfloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = square(BFLOAT16, a, query, dim);
    out[Math.min(at + 1, last)] = square(BFLOAT16, b, query, dim);
    out[Math.min(at + 2, last)] = square(BFLOAT16, c, query, dim);
    out[Math.min(at + 3, last)] = square(BFLOAT16, d, query, dim);
  }

  @Override
  void dotInt8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = dot(INT8, a, query, dim);
    out[Math.min(at + 1, last)] = dot(INT8, b, query, dim);
    out[Math.min(at + 2, last)] = dot(INT8, c, query, dim);
    out[Math.min(at + 3, last)] = dot(INT8, d, query, dim);
  }

  @Override
  void squareInt8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = square(INT8, a, query, dim);
    out[Math.min(at + 1, last)] = square(INT8, b, query, dim);
    out[Math.min(at + 2, last)] = square(INT8, c, query, dim);
    out[Math.min(at + 3, last)] = square(INT8, d, query, dim);
  }

  @Override
  void dotUint8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = dot(UINT8, a, query, dim);
    out[Math.min(at + 1, last)] = dot(UINT8, b, query, dim);
    out[Math.min(at + 2, last)] = dot(UINT8, c, query, dim);
    out[Math.min(at + 3, last)] = dot(UINT8, d, query, dim);
  }

  @Override
  void squareUint8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = square(UINT8, a, query, dim);
    out[Math.min(at + 1, last)] = square(UINT8, b, query, dim);
    out[Math.min(at + 2, last)] = square(UINT8, c, query, dim);
    out[Math.min(at + 3, last)] = square(UINT8, d, query, dim);
  }

  @Override
  void dotInt8(
      long a, long b, long c, long d, int[] query, int dim, float[] out, int at, int last) {
    out[at] = dotInt8(a, query, dim);
    out[Math.min(at + 1, last)] = dotInt8(b, query, dim);
    out[Math.min(at + 2, last)] = dotInt8(c, query, dim);
    out[Math.min(at + 3, last)] = dotInt8(d, query, dim);
  }

  @Override
  void squareInt8(
      long a, long b, long c, long d, int[] query, int dim, float[] out, int at, int last) {
    out[at] = squareInt8(a, query, dim);
    out[Math.min(at + 1, last)] = squareInt8(b, query, dim);
    out[Math.min(at + 2, last)] = squareInt8(c, query, dim);
    out[Math.min(at + 3, last)] = squareInt8(d, query, dim);
  }

  @Override
  void dotUint8(
      long a, long b, long c, long d, int[] query, int dim, float[] out, int at, int last) {
    out[at] = dotUint8(a, query, dim);
    out[Math.min(at + 1, last)] = dotUint8(b, query, dim);
    out[Math.min(at + 2, last)] = dotUint8(c, query, dim);
    out[Math.min(at + 3, last)] = dotUint8(d, query, dim);
  }

  @Override
  void squareUint8(
      long a, long b, long c, long d, int[] query, int dim, float[] out, int at, int last) {
    out[at] = squareUint8(a, query, dim);
    out[Math.min(at + 1, last)] = squareUint8(b, query, dim);
    out[Math.min(at + 2, last)] = squareUint8(c, query, dim);
    out[Math.min(at + 3, last)] = squareUint8(d, query, dim);
  }

  @Override
  void hamming(
      long a,
      long b,
      long c,
      long d,
      long[] query,
      long[] mask,
      int bytes,
      float[] out,
      int at,
      int last) {
    out[at] = hamming(a, query, mask, bytes);
    out[Math.min(at + 1, last)] = hamming(b, query, mask, bytes);
    out[Math.min(at + 2, last)] = hamming(c, query, mask, bytes);
    out[Math.min(at + 3, last)] = hamming(d, query, mask, bytes);
  }

  private static float dot(int type, long row, float[] query, int dim) {
    float r0 = dotPass(type, row, query, dim, 0);
    float r1 = dotPass(type, row, query, dim, 1);
    float r2 = dotPass(type, row, query, dim, 2);
    float r3 = dotPass(type, row, query, dim, 3);
    return ((r0 + r2) + (r1 + r3)) + 0.0f;
  }

  private static float square(int type, long row, float[] query, int dim) {
    float r0 = squarePass(type, row, query, dim, 0);
    float r1 = squarePass(type, row, query, dim, 1);
    float r2 = squarePass(type, row, query, dim, 2);
    float r3 = squarePass(type, row, query, dim, 3);
    return ((r0 + r2) + (r1 + r3)) + 0.0f;
  }

  /** {@code r4[lane]} of the dot product. */
  private static float dotPass(int type, long row, float[] query, int dim, int lane) {
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
        sum0 = Math.fma(query[i], component(type, row, i), sum0);
        sum4 = Math.fma(query[i + 4], component(type, row, i + 4), sum4);
        sum8 = Math.fma(query[i + 8], component(type, row, i + 8), sum8);
        sum12 = Math.fma(query[i + 12], component(type, row, i + 12), sum12);
      }
      if (i < end) {
        sum0 = Math.fma(query[i], component(type, row, i), sum0);
      }
      if (i + 4 < end) {
        sum4 = Math.fma(query[i + 4], component(type, row, i + 4), sum4);
      }
      if (i + 8 < end) {
        sum8 = Math.fma(query[i + 8], component(type, row, i + 8), sum8);
      }
      total0 += sum0;
      total4 += sum4;
      total8 += sum8;
      total12 += sum12;
    }
    return (total0 + total8) + (total4 + total12);
  }

  /** {@code r4[lane]} of the squared distance. */
  private static float squarePass(int type, long row, float[] query, int dim, int lane) {
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
        sum0 = addSquare(query[i] - component(type, row, i), sum0);
        sum4 = addSquare(query[i + 4] - component(type, row, i + 4), sum4);
        sum8 = addSquare(query[i + 8] - component(type, row, i + 8), sum8);
        sum12 = addSquare(query[i + 12] - component(type, row, i + 12), sum12);
      }
      if (i < end) {
        sum0 = addSquare(query[i] - component(type, row, i), sum0);
      }
      if (i + 4 < end) {
        sum4 = addSquare(query[i + 4] - component(type, row, i + 4), sum4);
      }
      if (i + 8 < end) {
        sum8 = addSquare(query[i + 8] - component(type, row, i + 8), sum8);
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

  private static float component(int type, long row, int i) {
    return switch (type) {
      case FLOAT32 -> NativeMemory.floatAt(row + 4L * i);
      case FLOAT16 -> NativeMemory.halfAt(row + 2L * i);
      case BFLOAT16 -> NativeMemory.brainAt(row + 2L * i);
      case INT8 -> NativeMemory.byteAt(row + i);
      case UINT8 -> NativeMemory.unsignedByteAt(row + i);
      default -> throw new AssertionError(type);
    };
  }

  private static int dotInt8(long row, int[] query, int dim) {
    int sum = 0;
    for (int i = 0; i < dim; i++) {
      sum += query[i] * NativeMemory.byteAt(row + i);
    }
    return sum;
  }

  private static int squareInt8(long row, int[] query, int dim) {
    int sum = 0;
    for (int i = 0; i < dim; i++) {
      int difference = query[i] - NativeMemory.byteAt(row + i);
      sum += difference * difference;
    }
    return sum;
  }

  private static int dotUint8(long row, int[] query, int dim) {
    int sum = 0;
    for (int i = 0; i < dim; i++) {
      sum += query[i] * NativeMemory.unsignedByteAt(row + i);
    }
    return sum;
  }

  private static int squareUint8(long row, int[] query, int dim) {
    int sum = 0;
    for (int i = 0; i < dim; i++) {
      int difference = query[i] - NativeMemory.unsignedByteAt(row + i);
      sum += difference * difference;
    }
    return sum;
  }

  private static int hamming(long row, long[] query, long[] mask, int bytes) {
    int bits = 0;
    int words = bytes / Long.BYTES;
    for (int i = 0; i < words; i++) {
      bits += Long.bitCount((query[i] ^ NativeMemory.longAt(row + 8L * i)) & mask[i]);
    }
    long tail = 0;
    for (int i = words * Long.BYTES; i < bytes; i++) {
      tail |= (long) NativeMemory.unsignedByteAt(row + i) << (8 * (i & 7));
    }
    if (bytes % Long.BYTES != 0) {
      bits += Long.bitCount((query[words] ^ tail) & mask[words]);
    }
    return bits;
  }
}
