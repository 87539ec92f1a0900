// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import static io.sagitta.shard.distance.NativeMemory.ALL;
import static io.sagitta.shard.distance.NativeMemory.LE;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/**
 * The canonical arithmetic with four 128-bit registers a row (Neon, old x86). Differs from its
 * siblings in width only.
 */
final class Kernels128 extends RowKernels {
  private static final VectorSpecies<Float> F = FloatVector.SPECIES_128;
  private static final VectorSpecies<Integer> I = IntVector.SPECIES_128;
  private static final VectorSpecies<Short> S = ShortVector.SPECIES_64;
  private static final VectorSpecies<Byte> B = ByteVector.SPECIES_64;
  private static final VectorSpecies<Long> L = LongVector.SPECIES_128;
  private static final VectorShuffle<Float> ROTATE_1 = VectorShuffle.iota(F, 1, 1, true);
  private static final VectorShuffle<Float> ROTATE_2 = VectorShuffle.iota(F, 2, 1, true);

  @Override
  String name() {
    return "vector-128";
  }

  @Override
  void dotFloat32(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = dotFloat32(a, query, dim);
    out[Math.min(at + 1, last)] = dotFloat32(b, query, dim);
    out[Math.min(at + 2, last)] = dotFloat32(c, query, dim);
    out[Math.min(at + 3, last)] = dotFloat32(d, query, dim);
  }

  @Override
  void squareFloat32(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = squareFloat32(a, query, dim);
    out[Math.min(at + 1, last)] = squareFloat32(b, query, dim);
    out[Math.min(at + 2, last)] = squareFloat32(c, query, dim);
    out[Math.min(at + 3, last)] = squareFloat32(d, query, dim);
  }

  @Override
  void dotFloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = dotFloat16(a, query, dim);
    out[Math.min(at + 1, last)] = dotFloat16(b, query, dim);
    out[Math.min(at + 2, last)] = dotFloat16(c, query, dim);
    out[Math.min(at + 3, last)] = dotFloat16(d, query, dim);
  }

  @Override
  void squareFloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = squareFloat16(a, query, dim);
    out[Math.min(at + 1, last)] = squareFloat16(b, query, dim);
    out[Math.min(at + 2, last)] = squareFloat16(c, query, dim);
    out[Math.min(at + 3, last)] = squareFloat16(d, query, dim);
  }

  @Override
  void dotBfloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = dotBfloat16(a, query, dim);
    out[Math.min(at + 1, last)] = dotBfloat16(b, query, dim);
    out[Math.min(at + 2, last)] = dotBfloat16(c, query, dim);
    out[Math.min(at + 3, last)] = dotBfloat16(d, query, dim);
  }

  @Override
  void squareBfloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = squareBfloat16(a, query, dim);
    out[Math.min(at + 1, last)] = squareBfloat16(b, query, dim);
    out[Math.min(at + 2, last)] = squareBfloat16(c, query, dim);
    out[Math.min(at + 3, last)] = squareBfloat16(d, query, dim);
  }

  @Override
  void dotInt8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = dotInt8Float(a, query, dim);
    out[Math.min(at + 1, last)] = dotInt8Float(b, query, dim);
    out[Math.min(at + 2, last)] = dotInt8Float(c, query, dim);
    out[Math.min(at + 3, last)] = dotInt8Float(d, query, dim);
  }

  @Override
  void squareInt8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = squareInt8Float(a, query, dim);
    out[Math.min(at + 1, last)] = squareInt8Float(b, query, dim);
    out[Math.min(at + 2, last)] = squareInt8Float(c, query, dim);
    out[Math.min(at + 3, last)] = squareInt8Float(d, query, dim);
  }

  @Override
  void dotUint8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = dotUint8Float(a, query, dim);
    out[Math.min(at + 1, last)] = dotUint8Float(b, query, dim);
    out[Math.min(at + 2, last)] = dotUint8Float(c, query, dim);
    out[Math.min(at + 3, last)] = dotUint8Float(d, query, dim);
  }

  @Override
  void squareUint8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    out[at] = squareUint8Float(a, query, dim);
    out[Math.min(at + 1, last)] = squareUint8Float(b, query, dim);
    out[Math.min(at + 2, last)] = squareUint8Float(c, query, dim);
    out[Math.min(at + 3, last)] = squareUint8Float(d, query, dim);
  }

  @Override
  void dotInt8(
      long a, long b, long c, long d, int[] query, int dim, float[] out, int at, int last) {
    IntVector sumA = IntVector.zero(I);
    IntVector sumB = IntVector.zero(I);
    IntVector sumC = IntVector.zero(I);
    IntVector sumD = IntVector.zero(I);
    for (int i = 0; i < dim; i += 4) {
      IntVector q = IntVector.fromArray(I, query, i);
      sumA = sumA.add(q.mul(int8(a + i)));
      sumB = sumB.add(q.mul(int8(b + i)));
      sumC = sumC.add(q.mul(int8(c + i)));
      sumD = sumD.add(q.mul(int8(d + i)));
    }
    out[at] = sumA.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 1, last)] = sumB.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 2, last)] = sumC.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 3, last)] = sumD.reduceLanes(VectorOperators.ADD);
  }

  @Override
  void squareInt8(
      long a, long b, long c, long d, int[] query, int dim, float[] out, int at, int last) {
    IntVector sumA = IntVector.zero(I);
    IntVector sumB = IntVector.zero(I);
    IntVector sumC = IntVector.zero(I);
    IntVector sumD = IntVector.zero(I);
    int i = 0;
    for (; i <= dim - 4; i += 4) {
      IntVector q = IntVector.fromArray(I, query, i);
      sumA = addSquare(q.sub(int8(a + i)), sumA);
      sumB = addSquare(q.sub(int8(b + i)), sumB);
      sumC = addSquare(q.sub(int8(c + i)), sumC);
      sumD = addSquare(q.sub(int8(d + i)), sumD);
    }
    if (i < dim) {
      IntVector q = IntVector.fromArray(I, query, i);
      VectorMask<Integer> in = I.indexInRange(i, dim);
      sumA = addSquare(q.sub(orZero(int8(a + i), in)), sumA);
      sumB = addSquare(q.sub(orZero(int8(b + i), in)), sumB);
      sumC = addSquare(q.sub(orZero(int8(c + i), in)), sumC);
      sumD = addSquare(q.sub(orZero(int8(d + i), in)), sumD);
    }
    out[at] = sumA.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 1, last)] = sumB.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 2, last)] = sumC.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 3, last)] = sumD.reduceLanes(VectorOperators.ADD);
  }

  @Override
  void dotUint8(
      long a, long b, long c, long d, int[] query, int dim, float[] out, int at, int last) {
    IntVector sumA = IntVector.zero(I);
    IntVector sumB = IntVector.zero(I);
    IntVector sumC = IntVector.zero(I);
    IntVector sumD = IntVector.zero(I);
    for (int i = 0; i < dim; i += 4) {
      IntVector q = IntVector.fromArray(I, query, i);
      sumA = sumA.add(q.mul(uint8(a + i)));
      sumB = sumB.add(q.mul(uint8(b + i)));
      sumC = sumC.add(q.mul(uint8(c + i)));
      sumD = sumD.add(q.mul(uint8(d + i)));
    }
    out[at] = sumA.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 1, last)] = sumB.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 2, last)] = sumC.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 3, last)] = sumD.reduceLanes(VectorOperators.ADD);
  }

  @Override
  void squareUint8(
      long a, long b, long c, long d, int[] query, int dim, float[] out, int at, int last) {
    IntVector sumA = IntVector.zero(I);
    IntVector sumB = IntVector.zero(I);
    IntVector sumC = IntVector.zero(I);
    IntVector sumD = IntVector.zero(I);
    int i = 0;
    for (; i <= dim - 4; i += 4) {
      IntVector q = IntVector.fromArray(I, query, i);
      sumA = addSquare(q.sub(uint8(a + i)), sumA);
      sumB = addSquare(q.sub(uint8(b + i)), sumB);
      sumC = addSquare(q.sub(uint8(c + i)), sumC);
      sumD = addSquare(q.sub(uint8(d + i)), sumD);
    }
    if (i < dim) {
      IntVector q = IntVector.fromArray(I, query, i);
      VectorMask<Integer> in = I.indexInRange(i, dim);
      sumA = addSquare(q.sub(orZero(uint8(a + i), in)), sumA);
      sumB = addSquare(q.sub(orZero(uint8(b + i), in)), sumB);
      sumC = addSquare(q.sub(orZero(uint8(c + i), in)), sumC);
      sumD = addSquare(q.sub(orZero(uint8(d + i), in)), sumD);
    }
    out[at] = sumA.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 1, last)] = sumB.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 2, last)] = sumC.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 3, last)] = sumD.reduceLanes(VectorOperators.ADD);
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
    LongVector sumA = LongVector.zero(L);
    LongVector sumB = LongVector.zero(L);
    LongVector sumC = LongVector.zero(L);
    LongVector sumD = LongVector.zero(L);
    for (int i = 0; i < (bytes + 7) / 8; i += 2) {
      LongVector q = LongVector.fromArray(L, query, i);
      LongVector in = LongVector.fromArray(L, mask, i);
      sumA = sumA.add(differingBits(a + 8L * i, q, in));
      sumB = sumB.add(differingBits(b + 8L * i, q, in));
      sumC = sumC.add(differingBits(c + 8L * i, q, in));
      sumD = sumD.add(differingBits(d + 8L * i, q, in));
    }
    out[at] = sumA.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 1, last)] = sumB.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 2, last)] = sumC.reduceLanes(VectorOperators.ADD);
    out[Math.min(at + 3, last)] = sumD.reduceLanes(VectorOperators.ADD);
  }

  private static float dotFloat32(long row, float[] query, int dim) {
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total1 = FloatVector.zero(F);
    FloatVector total2 = FloatVector.zero(F);
    FloatVector total3 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum1 = FloatVector.zero(F);
      FloatVector sum2 = FloatVector.zero(F);
      FloatVector sum3 = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        sum0 = FloatVector.fromArray(F, query, i).fma(float32(row + 4L * i), sum0);
        sum1 = FloatVector.fromArray(F, query, i + 4).fma(float32(row + 4L * (i + 4)), sum1);
        sum2 = FloatVector.fromArray(F, query, i + 8).fma(float32(row + 4L * (i + 8)), sum2);
        sum3 = FloatVector.fromArray(F, query, i + 12).fma(float32(row + 4L * (i + 12)), sum3);
      }
      if (i < end) {
        sum0 =
            FloatVector.fromArray(F, query, i)
                .fma(orZero(float32(row + 4L * i), F.indexInRange(i, end)), sum0);
        sum1 =
            FloatVector.fromArray(F, query, i + 4)
                .fma(orZero(float32(row + 4L * (i + 4)), F.indexInRange(i + 4, end)), sum1);
        sum2 =
            FloatVector.fromArray(F, query, i + 8)
                .fma(orZero(float32(row + 4L * (i + 8)), F.indexInRange(i + 8, end)), sum2);
        sum3 =
            FloatVector.fromArray(F, query, i + 12)
                .fma(orZero(float32(row + 4L * (i + 12)), F.indexInRange(i + 12, end)), sum3);
      }
      total0 = total0.add(sum0);
      total1 = total1.add(sum1);
      total2 = total2.add(sum2);
      total3 = total3.add(sum3);
    }
    return sum(total0, total1, total2, total3);
  }

  private static float squareFloat32(long row, float[] query, int dim) {
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total1 = FloatVector.zero(F);
    FloatVector total2 = FloatVector.zero(F);
    FloatVector total3 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum1 = FloatVector.zero(F);
      FloatVector sum2 = FloatVector.zero(F);
      FloatVector sum3 = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        sum0 = addSquare(FloatVector.fromArray(F, query, i).sub(float32(row + 4L * i)), sum0);
        sum1 =
            addSquare(
                FloatVector.fromArray(F, query, i + 4).sub(float32(row + 4L * (i + 4))), sum1);
        sum2 =
            addSquare(
                FloatVector.fromArray(F, query, i + 8).sub(float32(row + 4L * (i + 8))), sum2);
        sum3 =
            addSquare(
                FloatVector.fromArray(F, query, i + 12).sub(float32(row + 4L * (i + 12))), sum3);
      }
      if (i < end) {
        sum0 =
            addSquare(
                FloatVector.fromArray(F, query, i)
                    .sub(orZero(float32(row + 4L * i), F.indexInRange(i, end))),
                sum0);
        sum1 =
            addSquare(
                FloatVector.fromArray(F, query, i + 4)
                    .sub(orZero(float32(row + 4L * (i + 4)), F.indexInRange(i + 4, end))),
                sum1);
        sum2 =
            addSquare(
                FloatVector.fromArray(F, query, i + 8)
                    .sub(orZero(float32(row + 4L * (i + 8)), F.indexInRange(i + 8, end))),
                sum2);
        sum3 =
            addSquare(
                FloatVector.fromArray(F, query, i + 12)
                    .sub(orZero(float32(row + 4L * (i + 12)), F.indexInRange(i + 12, end))),
                sum3);
      }
      total0 = total0.add(sum0);
      total1 = total1.add(sum1);
      total2 = total2.add(sum2);
      total3 = total3.add(sum3);
    }
    return sum(total0, total1, total2, total3);
  }

  private static float dotFloat16(long row, float[] query, int dim) {
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total1 = FloatVector.zero(F);
    FloatVector total2 = FloatVector.zero(F);
    FloatVector total3 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum1 = FloatVector.zero(F);
      FloatVector sum2 = FloatVector.zero(F);
      FloatVector sum3 = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        sum0 = FloatVector.fromArray(F, query, i).fma(float16(row + 2L * i), sum0);
        sum1 = FloatVector.fromArray(F, query, i + 4).fma(float16(row + 2L * (i + 4)), sum1);
        sum2 = FloatVector.fromArray(F, query, i + 8).fma(float16(row + 2L * (i + 8)), sum2);
        sum3 = FloatVector.fromArray(F, query, i + 12).fma(float16(row + 2L * (i + 12)), sum3);
      }
      if (i < end) {
        sum0 =
            FloatVector.fromArray(F, query, i)
                .fma(orZero(float16(row + 2L * i), F.indexInRange(i, end)), sum0);
        sum1 =
            FloatVector.fromArray(F, query, i + 4)
                .fma(orZero(float16(row + 2L * (i + 4)), F.indexInRange(i + 4, end)), sum1);
        sum2 =
            FloatVector.fromArray(F, query, i + 8)
                .fma(orZero(float16(row + 2L * (i + 8)), F.indexInRange(i + 8, end)), sum2);
        sum3 =
            FloatVector.fromArray(F, query, i + 12)
                .fma(orZero(float16(row + 2L * (i + 12)), F.indexInRange(i + 12, end)), sum3);
      }
      total0 = total0.add(sum0);
      total1 = total1.add(sum1);
      total2 = total2.add(sum2);
      total3 = total3.add(sum3);
    }
    return sum(total0, total1, total2, total3);
  }

  private static float squareFloat16(long row, float[] query, int dim) {
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total1 = FloatVector.zero(F);
    FloatVector total2 = FloatVector.zero(F);
    FloatVector total3 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum1 = FloatVector.zero(F);
      FloatVector sum2 = FloatVector.zero(F);
      FloatVector sum3 = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        sum0 = addSquare(FloatVector.fromArray(F, query, i).sub(float16(row + 2L * i)), sum0);
        sum1 =
            addSquare(
                FloatVector.fromArray(F, query, i + 4).sub(float16(row + 2L * (i + 4))), sum1);
        sum2 =
            addSquare(
                FloatVector.fromArray(F, query, i + 8).sub(float16(row + 2L * (i + 8))), sum2);
        sum3 =
            addSquare(
                FloatVector.fromArray(F, query, i + 12).sub(float16(row + 2L * (i + 12))), sum3);
      }
      if (i < end) {
        sum0 =
            addSquare(
                FloatVector.fromArray(F, query, i)
                    .sub(orZero(float16(row + 2L * i), F.indexInRange(i, end))),
                sum0);
        sum1 =
            addSquare(
                FloatVector.fromArray(F, query, i + 4)
                    .sub(orZero(float16(row + 2L * (i + 4)), F.indexInRange(i + 4, end))),
                sum1);
        sum2 =
            addSquare(
                FloatVector.fromArray(F, query, i + 8)
                    .sub(orZero(float16(row + 2L * (i + 8)), F.indexInRange(i + 8, end))),
                sum2);
        sum3 =
            addSquare(
                FloatVector.fromArray(F, query, i + 12)
                    .sub(orZero(float16(row + 2L * (i + 12)), F.indexInRange(i + 12, end))),
                sum3);
      }
      total0 = total0.add(sum0);
      total1 = total1.add(sum1);
      total2 = total2.add(sum2);
      total3 = total3.add(sum3);
    }
    return sum(total0, total1, total2, total3);
  }

  private static float dotBfloat16(long row, float[] query, int dim) {
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total1 = FloatVector.zero(F);
    FloatVector total2 = FloatVector.zero(F);
    FloatVector total3 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum1 = FloatVector.zero(F);
      FloatVector sum2 = FloatVector.zero(F);
      FloatVector sum3 = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        sum0 = FloatVector.fromArray(F, query, i).fma(bfloat16(row + 2L * i), sum0);
        sum1 = FloatVector.fromArray(F, query, i + 4).fma(bfloat16(row + 2L * (i + 4)), sum1);
        sum2 = FloatVector.fromArray(F, query, i + 8).fma(bfloat16(row + 2L * (i + 8)), sum2);
        sum3 = FloatVector.fromArray(F, query, i + 12).fma(bfloat16(row + 2L * (i + 12)), sum3);
      }
      if (i < end) {
        sum0 =
            FloatVector.fromArray(F, query, i)
                .fma(orZero(bfloat16(row + 2L * i), F.indexInRange(i, end)), sum0);
        sum1 =
            FloatVector.fromArray(F, query, i + 4)
                .fma(orZero(bfloat16(row + 2L * (i + 4)), F.indexInRange(i + 4, end)), sum1);
        sum2 =
            FloatVector.fromArray(F, query, i + 8)
                .fma(orZero(bfloat16(row + 2L * (i + 8)), F.indexInRange(i + 8, end)), sum2);
        sum3 =
            FloatVector.fromArray(F, query, i + 12)
                .fma(orZero(bfloat16(row + 2L * (i + 12)), F.indexInRange(i + 12, end)), sum3);
      }
      total0 = total0.add(sum0);
      total1 = total1.add(sum1);
      total2 = total2.add(sum2);
      total3 = total3.add(sum3);
    }
    return sum(total0, total1, total2, total3);
  }

  private static float squareBfloat16(long row, float[] query, int dim) {
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total1 = FloatVector.zero(F);
    FloatVector total2 = FloatVector.zero(F);
    FloatVector total3 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum1 = FloatVector.zero(F);
      FloatVector sum2 = FloatVector.zero(F);
      FloatVector sum3 = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        sum0 = addSquare(FloatVector.fromArray(F, query, i).sub(bfloat16(row + 2L * i)), sum0);
        sum1 =
            addSquare(
                FloatVector.fromArray(F, query, i + 4).sub(bfloat16(row + 2L * (i + 4))), sum1);
        sum2 =
            addSquare(
                FloatVector.fromArray(F, query, i + 8).sub(bfloat16(row + 2L * (i + 8))), sum2);
        sum3 =
            addSquare(
                FloatVector.fromArray(F, query, i + 12).sub(bfloat16(row + 2L * (i + 12))), sum3);
      }
      if (i < end) {
        sum0 =
            addSquare(
                FloatVector.fromArray(F, query, i)
                    .sub(orZero(bfloat16(row + 2L * i), F.indexInRange(i, end))),
                sum0);
        sum1 =
            addSquare(
                FloatVector.fromArray(F, query, i + 4)
                    .sub(orZero(bfloat16(row + 2L * (i + 4)), F.indexInRange(i + 4, end))),
                sum1);
        sum2 =
            addSquare(
                FloatVector.fromArray(F, query, i + 8)
                    .sub(orZero(bfloat16(row + 2L * (i + 8)), F.indexInRange(i + 8, end))),
                sum2);
        sum3 =
            addSquare(
                FloatVector.fromArray(F, query, i + 12)
                    .sub(orZero(bfloat16(row + 2L * (i + 12)), F.indexInRange(i + 12, end))),
                sum3);
      }
      total0 = total0.add(sum0);
      total1 = total1.add(sum1);
      total2 = total2.add(sum2);
      total3 = total3.add(sum3);
    }
    return sum(total0, total1, total2, total3);
  }

  private static float dotInt8Float(long row, float[] query, int dim) {
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total1 = FloatVector.zero(F);
    FloatVector total2 = FloatVector.zero(F);
    FloatVector total3 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum1 = FloatVector.zero(F);
      FloatVector sum2 = FloatVector.zero(F);
      FloatVector sum3 = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        sum0 = FloatVector.fromArray(F, query, i).fma(int8Float(row + i), sum0);
        sum1 = FloatVector.fromArray(F, query, i + 4).fma(int8Float(row + i + 4), sum1);
        sum2 = FloatVector.fromArray(F, query, i + 8).fma(int8Float(row + i + 8), sum2);
        sum3 = FloatVector.fromArray(F, query, i + 12).fma(int8Float(row + i + 12), sum3);
      }
      if (i < end) {
        sum0 =
            FloatVector.fromArray(F, query, i)
                .fma(orZero(int8Float(row + i), F.indexInRange(i, end)), sum0);
        sum1 =
            FloatVector.fromArray(F, query, i + 4)
                .fma(orZero(int8Float(row + i + 4), F.indexInRange(i + 4, end)), sum1);
        sum2 =
            FloatVector.fromArray(F, query, i + 8)
                .fma(orZero(int8Float(row + i + 8), F.indexInRange(i + 8, end)), sum2);
        sum3 =
            FloatVector.fromArray(F, query, i + 12)
                .fma(orZero(int8Float(row + i + 12), F.indexInRange(i + 12, end)), sum3);
      }
      total0 = total0.add(sum0);
      total1 = total1.add(sum1);
      total2 = total2.add(sum2);
      total3 = total3.add(sum3);
    }
    return sum(total0, total1, total2, total3);
  }

  private static float squareInt8Float(long row, float[] query, int dim) {
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total1 = FloatVector.zero(F);
    FloatVector total2 = FloatVector.zero(F);
    FloatVector total3 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum1 = FloatVector.zero(F);
      FloatVector sum2 = FloatVector.zero(F);
      FloatVector sum3 = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        sum0 = addSquare(FloatVector.fromArray(F, query, i).sub(int8Float(row + i)), sum0);
        sum1 = addSquare(FloatVector.fromArray(F, query, i + 4).sub(int8Float(row + i + 4)), sum1);
        sum2 = addSquare(FloatVector.fromArray(F, query, i + 8).sub(int8Float(row + i + 8)), sum2);
        sum3 =
            addSquare(FloatVector.fromArray(F, query, i + 12).sub(int8Float(row + i + 12)), sum3);
      }
      if (i < end) {
        sum0 =
            addSquare(
                FloatVector.fromArray(F, query, i)
                    .sub(orZero(int8Float(row + i), F.indexInRange(i, end))),
                sum0);
        sum1 =
            addSquare(
                FloatVector.fromArray(F, query, i + 4)
                    .sub(orZero(int8Float(row + i + 4), F.indexInRange(i + 4, end))),
                sum1);
        sum2 =
            addSquare(
                FloatVector.fromArray(F, query, i + 8)
                    .sub(orZero(int8Float(row + i + 8), F.indexInRange(i + 8, end))),
                sum2);
        sum3 =
            addSquare(
                FloatVector.fromArray(F, query, i + 12)
                    .sub(orZero(int8Float(row + i + 12), F.indexInRange(i + 12, end))),
                sum3);
      }
      total0 = total0.add(sum0);
      total1 = total1.add(sum1);
      total2 = total2.add(sum2);
      total3 = total3.add(sum3);
    }
    return sum(total0, total1, total2, total3);
  }

  private static float dotUint8Float(long row, float[] query, int dim) {
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total1 = FloatVector.zero(F);
    FloatVector total2 = FloatVector.zero(F);
    FloatVector total3 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum1 = FloatVector.zero(F);
      FloatVector sum2 = FloatVector.zero(F);
      FloatVector sum3 = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        sum0 = FloatVector.fromArray(F, query, i).fma(uint8Float(row + i), sum0);
        sum1 = FloatVector.fromArray(F, query, i + 4).fma(uint8Float(row + i + 4), sum1);
        sum2 = FloatVector.fromArray(F, query, i + 8).fma(uint8Float(row + i + 8), sum2);
        sum3 = FloatVector.fromArray(F, query, i + 12).fma(uint8Float(row + i + 12), sum3);
      }
      if (i < end) {
        sum0 =
            FloatVector.fromArray(F, query, i)
                .fma(orZero(uint8Float(row + i), F.indexInRange(i, end)), sum0);
        sum1 =
            FloatVector.fromArray(F, query, i + 4)
                .fma(orZero(uint8Float(row + i + 4), F.indexInRange(i + 4, end)), sum1);
        sum2 =
            FloatVector.fromArray(F, query, i + 8)
                .fma(orZero(uint8Float(row + i + 8), F.indexInRange(i + 8, end)), sum2);
        sum3 =
            FloatVector.fromArray(F, query, i + 12)
                .fma(orZero(uint8Float(row + i + 12), F.indexInRange(i + 12, end)), sum3);
      }
      total0 = total0.add(sum0);
      total1 = total1.add(sum1);
      total2 = total2.add(sum2);
      total3 = total3.add(sum3);
    }
    return sum(total0, total1, total2, total3);
  }

  private static float squareUint8Float(long row, float[] query, int dim) {
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total1 = FloatVector.zero(F);
    FloatVector total2 = FloatVector.zero(F);
    FloatVector total3 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum1 = FloatVector.zero(F);
      FloatVector sum2 = FloatVector.zero(F);
      FloatVector sum3 = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        sum0 = addSquare(FloatVector.fromArray(F, query, i).sub(uint8Float(row + i)), sum0);
        sum1 = addSquare(FloatVector.fromArray(F, query, i + 4).sub(uint8Float(row + i + 4)), sum1);
        sum2 = addSquare(FloatVector.fromArray(F, query, i + 8).sub(uint8Float(row + i + 8)), sum2);
        sum3 =
            addSquare(FloatVector.fromArray(F, query, i + 12).sub(uint8Float(row + i + 12)), sum3);
      }
      if (i < end) {
        sum0 =
            addSquare(
                FloatVector.fromArray(F, query, i)
                    .sub(orZero(uint8Float(row + i), F.indexInRange(i, end))),
                sum0);
        sum1 =
            addSquare(
                FloatVector.fromArray(F, query, i + 4)
                    .sub(orZero(uint8Float(row + i + 4), F.indexInRange(i + 4, end))),
                sum1);
        sum2 =
            addSquare(
                FloatVector.fromArray(F, query, i + 8)
                    .sub(orZero(uint8Float(row + i + 8), F.indexInRange(i + 8, end))),
                sum2);
        sum3 =
            addSquare(
                FloatVector.fromArray(F, query, i + 12)
                    .sub(orZero(uint8Float(row + i + 12), F.indexInRange(i + 12, end))),
                sum3);
      }
      total0 = total0.add(sum0);
      total1 = total1.add(sum1);
      total2 = total2.add(sum2);
      total3 = total3.add(sum3);
    }
    return sum(total0, total1, total2, total3);
  }

  private static LongVector differingBits(long at, LongVector query, LongVector mask) {
    return LongVector.fromMemorySegment(L, ALL, at, LE)
        .lanewise(VectorOperators.XOR, query)
        .lanewise(VectorOperators.AND, mask)
        .lanewise(VectorOperators.BIT_COUNT);
  }

  private static FloatVector addSquare(FloatVector difference, FloatVector sum) {
    return difference.fma(difference, sum);
  }

  private static IntVector addSquare(IntVector difference, IntVector sum) {
    return difference.mul(difference).add(sum);
  }

  private static FloatVector orZero(FloatVector v, VectorMask<Float> in) {
    return FloatVector.zero(F).blend(v, in);
  }

  private static IntVector orZero(IntVector v, VectorMask<Integer> in) {
    return IntVector.zero(I).blend(v, in);
  }

  private static FloatVector float32(long at) {
    return FloatVector.fromMemorySegment(F, ALL, at, LE);
  }

  private static FloatVector bfloat16(long at) {
    return unsignedShorts(at).lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
  }

  /**
   * Exact for every finite half: its exponent and fraction moved into a float's place stand for the
   * value times 2^-112, subnormals included, and the multiplication by 2^112 is exact.
   */
  private static FloatVector float16(long at) {
    IntVector half = unsignedShorts(at);
    FloatVector magnitude =
        half.lanewise(VectorOperators.AND, 0x7fff)
            .lanewise(VectorOperators.LSHL, 13)
            .reinterpretAsFloats()
            .mul(0x1p112f);
    return magnitude
        .reinterpretAsInts()
        .lanewise(
            VectorOperators.OR,
            half.lanewise(VectorOperators.AND, 0x8000).lanewise(VectorOperators.LSHL, 16))
        .reinterpretAsFloats();
  }

  private static IntVector unsignedShorts(long at) {
    return (IntVector)
        ShortVector.fromMemorySegment(S, ALL, at, LE)
            .convertShape(VectorOperators.ZERO_EXTEND_S2I, I, 0);
  }

  private static FloatVector int8Float(long at) {
    return (FloatVector) int8(at).convertShape(VectorOperators.I2F, F, 0);
  }

  private static FloatVector uint8Float(long at) {
    return (FloatVector) uint8(at).convertShape(VectorOperators.I2F, F, 0);
  }

  private static IntVector int8(long at) {
    return (IntVector)
        ByteVector.fromMemorySegment(B, ALL, at, LE).convertShape(VectorOperators.B2I, I, 0);
  }

  private static IntVector uint8(long at) {
    return (IntVector)
        ByteVector.fromMemorySegment(B, ALL, at, LE)
            .convertShape(VectorOperators.ZERO_EXTEND_B2I, I, 0);
  }

  /** The written tree: lanes 8 apart, 4 apart, 2 apart, neighbours. */
  private static float sum(FloatVector v0, FloatVector v4, FloatVector v8, FloatVector v12) {
    FloatVector r4 = v0.add(v8).add(v4.add(v12));
    FloatVector r2 = r4.add(r4.rearrange(ROTATE_2));
    return r2.add(r2.rearrange(ROTATE_1)).lane(0) + 0.0f;
  }
}
