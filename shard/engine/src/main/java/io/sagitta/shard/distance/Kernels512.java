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
 * The canonical arithmetic with one 512-bit register a row. Differs from its siblings in width
 * only.
 */
final class Kernels512 extends RowKernels {
  private static final VectorSpecies<Float> F = FloatVector.SPECIES_512;
  private static final VectorSpecies<Integer> I = IntVector.SPECIES_512;
  private static final VectorSpecies<Short> S = ShortVector.SPECIES_256;
  private static final VectorSpecies<Byte> B = ByteVector.SPECIES_128;
  private static final VectorSpecies<Long> L = LongVector.SPECIES_512;
  private static final VectorShuffle<Float> ROTATE_1 = VectorShuffle.iota(F, 1, 1, true);
  private static final VectorShuffle<Float> ROTATE_2 = VectorShuffle.iota(F, 2, 1, true);
  private static final VectorShuffle<Float> ROTATE_4 = VectorShuffle.iota(F, 4, 1, true);
  private static final VectorShuffle<Float> ROTATE_8 = VectorShuffle.iota(F, 8, 1, true);

  @Override
  String name() {
    return "vector-512";
  }

  @Override
  void dotFloat32(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        sumA = q.fma(float32(a + 4L * i), sumA);
        sumB = q.fma(float32(b + 4L * i), sumB);
        sumC = q.fma(float32(c + 4L * i), sumC);
        sumD = q.fma(float32(d + 4L * i), sumD);
      }
      if (i < end) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        VectorMask<Float> in = F.indexInRange(i, end);
        sumA = q.fma(orZero(float32(a + 4L * i), in), sumA);
        sumB = q.fma(orZero(float32(b + 4L * i), in), sumB);
        sumC = q.fma(orZero(float32(c + 4L * i), in), sumC);
        sumD = q.fma(orZero(float32(d + 4L * i), in), sumD);
      }
      totalA = totalA.add(sumA);
      totalB = totalB.add(sumB);
      totalC = totalC.add(sumC);
      totalD = totalD.add(sumD);
    }
    out[at] = sum(totalA);
    out[Math.min(at + 1, last)] = sum(totalB);
    out[Math.min(at + 2, last)] = sum(totalC);
    out[Math.min(at + 3, last)] = sum(totalD);
  }

  @Override
  void squareFloat32(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        sumA = addSquare(q.sub(float32(a + 4L * i)), sumA);
        sumB = addSquare(q.sub(float32(b + 4L * i)), sumB);
        sumC = addSquare(q.sub(float32(c + 4L * i)), sumC);
        sumD = addSquare(q.sub(float32(d + 4L * i)), sumD);
      }
      if (i < end) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        VectorMask<Float> in = F.indexInRange(i, end);
        sumA = addSquare(q.sub(orZero(float32(a + 4L * i), in)), sumA);
        sumB = addSquare(q.sub(orZero(float32(b + 4L * i), in)), sumB);
        sumC = addSquare(q.sub(orZero(float32(c + 4L * i), in)), sumC);
        sumD = addSquare(q.sub(orZero(float32(d + 4L * i), in)), sumD);
      }
      totalA = totalA.add(sumA);
      totalB = totalB.add(sumB);
      totalC = totalC.add(sumC);
      totalD = totalD.add(sumD);
    }
    out[at] = sum(totalA);
    out[Math.min(at + 1, last)] = sum(totalB);
    out[Math.min(at + 2, last)] = sum(totalC);
    out[Math.min(at + 3, last)] = sum(totalD);
  }

  @Override
  void dotFloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        sumA = q.fma(float16(a + 2L * i), sumA);
        sumB = q.fma(float16(b + 2L * i), sumB);
        sumC = q.fma(float16(c + 2L * i), sumC);
        sumD = q.fma(float16(d + 2L * i), sumD);
      }
      if (i < end) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        VectorMask<Float> in = F.indexInRange(i, end);
        sumA = q.fma(orZero(float16(a + 2L * i), in), sumA);
        sumB = q.fma(orZero(float16(b + 2L * i), in), sumB);
        sumC = q.fma(orZero(float16(c + 2L * i), in), sumC);
        sumD = q.fma(orZero(float16(d + 2L * i), in), sumD);
      }
      totalA = totalA.add(sumA);
      totalB = totalB.add(sumB);
      totalC = totalC.add(sumC);
      totalD = totalD.add(sumD);
    }
    out[at] = sum(totalA);
    out[Math.min(at + 1, last)] = sum(totalB);
    out[Math.min(at + 2, last)] = sum(totalC);
    out[Math.min(at + 3, last)] = sum(totalD);
  }

  @Override
  void squareFloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        sumA = addSquare(q.sub(float16(a + 2L * i)), sumA);
        sumB = addSquare(q.sub(float16(b + 2L * i)), sumB);
        sumC = addSquare(q.sub(float16(c + 2L * i)), sumC);
        sumD = addSquare(q.sub(float16(d + 2L * i)), sumD);
      }
      if (i < end) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        VectorMask<Float> in = F.indexInRange(i, end);
        sumA = addSquare(q.sub(orZero(float16(a + 2L * i), in)), sumA);
        sumB = addSquare(q.sub(orZero(float16(b + 2L * i), in)), sumB);
        sumC = addSquare(q.sub(orZero(float16(c + 2L * i), in)), sumC);
        sumD = addSquare(q.sub(orZero(float16(d + 2L * i), in)), sumD);
      }
      totalA = totalA.add(sumA);
      totalB = totalB.add(sumB);
      totalC = totalC.add(sumC);
      totalD = totalD.add(sumD);
    }
    out[at] = sum(totalA);
    out[Math.min(at + 1, last)] = sum(totalB);
    out[Math.min(at + 2, last)] = sum(totalC);
    out[Math.min(at + 3, last)] = sum(totalD);
  }

  @Override
  void dotBfloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        sumA = q.fma(bfloat16(a + 2L * i), sumA);
        sumB = q.fma(bfloat16(b + 2L * i), sumB);
        sumC = q.fma(bfloat16(c + 2L * i), sumC);
        sumD = q.fma(bfloat16(d + 2L * i), sumD);
      }
      if (i < end) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        VectorMask<Float> in = F.indexInRange(i, end);
        sumA = q.fma(orZero(bfloat16(a + 2L * i), in), sumA);
        sumB = q.fma(orZero(bfloat16(b + 2L * i), in), sumB);
        sumC = q.fma(orZero(bfloat16(c + 2L * i), in), sumC);
        sumD = q.fma(orZero(bfloat16(d + 2L * i), in), sumD);
      }
      totalA = totalA.add(sumA);
      totalB = totalB.add(sumB);
      totalC = totalC.add(sumC);
      totalD = totalD.add(sumD);
    }
    out[at] = sum(totalA);
    out[Math.min(at + 1, last)] = sum(totalB);
    out[Math.min(at + 2, last)] = sum(totalC);
    out[Math.min(at + 3, last)] = sum(totalD);
  }

  @Override
  void squareBfloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        sumA = addSquare(q.sub(bfloat16(a + 2L * i)), sumA);
        sumB = addSquare(q.sub(bfloat16(b + 2L * i)), sumB);
        sumC = addSquare(q.sub(bfloat16(c + 2L * i)), sumC);
        sumD = addSquare(q.sub(bfloat16(d + 2L * i)), sumD);
      }
      if (i < end) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        VectorMask<Float> in = F.indexInRange(i, end);
        sumA = addSquare(q.sub(orZero(bfloat16(a + 2L * i), in)), sumA);
        sumB = addSquare(q.sub(orZero(bfloat16(b + 2L * i), in)), sumB);
        sumC = addSquare(q.sub(orZero(bfloat16(c + 2L * i), in)), sumC);
        sumD = addSquare(q.sub(orZero(bfloat16(d + 2L * i), in)), sumD);
      }
      totalA = totalA.add(sumA);
      totalB = totalB.add(sumB);
      totalC = totalC.add(sumC);
      totalD = totalD.add(sumD);
    }
    out[at] = sum(totalA);
    out[Math.min(at + 1, last)] = sum(totalB);
    out[Math.min(at + 2, last)] = sum(totalC);
    out[Math.min(at + 3, last)] = sum(totalD);
  }

  @Override
  void dotInt8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        sumA = q.fma(int8Float(a + i), sumA);
        sumB = q.fma(int8Float(b + i), sumB);
        sumC = q.fma(int8Float(c + i), sumC);
        sumD = q.fma(int8Float(d + i), sumD);
      }
      if (i < end) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        VectorMask<Float> in = F.indexInRange(i, end);
        sumA = q.fma(orZero(int8Float(a + i), in), sumA);
        sumB = q.fma(orZero(int8Float(b + i), in), sumB);
        sumC = q.fma(orZero(int8Float(c + i), in), sumC);
        sumD = q.fma(orZero(int8Float(d + i), in), sumD);
      }
      totalA = totalA.add(sumA);
      totalB = totalB.add(sumB);
      totalC = totalC.add(sumC);
      totalD = totalD.add(sumD);
    }
    out[at] = sum(totalA);
    out[Math.min(at + 1, last)] = sum(totalB);
    out[Math.min(at + 2, last)] = sum(totalC);
    out[Math.min(at + 3, last)] = sum(totalD);
  }

  @Override
  void squareInt8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        sumA = addSquare(q.sub(int8Float(a + i)), sumA);
        sumB = addSquare(q.sub(int8Float(b + i)), sumB);
        sumC = addSquare(q.sub(int8Float(c + i)), sumC);
        sumD = addSquare(q.sub(int8Float(d + i)), sumD);
      }
      if (i < end) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        VectorMask<Float> in = F.indexInRange(i, end);
        sumA = addSquare(q.sub(orZero(int8Float(a + i), in)), sumA);
        sumB = addSquare(q.sub(orZero(int8Float(b + i), in)), sumB);
        sumC = addSquare(q.sub(orZero(int8Float(c + i), in)), sumC);
        sumD = addSquare(q.sub(orZero(int8Float(d + i), in)), sumD);
      }
      totalA = totalA.add(sumA);
      totalB = totalB.add(sumB);
      totalC = totalC.add(sumC);
      totalD = totalD.add(sumD);
    }
    out[at] = sum(totalA);
    out[Math.min(at + 1, last)] = sum(totalB);
    out[Math.min(at + 2, last)] = sum(totalC);
    out[Math.min(at + 3, last)] = sum(totalD);
  }

  @Override
  void dotUint8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        sumA = q.fma(uint8Float(a + i), sumA);
        sumB = q.fma(uint8Float(b + i), sumB);
        sumC = q.fma(uint8Float(c + i), sumC);
        sumD = q.fma(uint8Float(d + i), sumD);
      }
      if (i < end) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        VectorMask<Float> in = F.indexInRange(i, end);
        sumA = q.fma(orZero(uint8Float(a + i), in), sumA);
        sumB = q.fma(orZero(uint8Float(b + i), in), sumB);
        sumC = q.fma(orZero(uint8Float(c + i), in), sumC);
        sumD = q.fma(orZero(uint8Float(d + i), in), sumD);
      }
      totalA = totalA.add(sumA);
      totalB = totalB.add(sumB);
      totalC = totalC.add(sumC);
      totalD = totalD.add(sumD);
    }
    out[at] = sum(totalA);
    out[Math.min(at + 1, last)] = sum(totalB);
    out[Math.min(at + 2, last)] = sum(totalC);
    out[Math.min(at + 3, last)] = sum(totalD);
  }

  @Override
  void squareUint8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last) {
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      int end = Math.min(dim, chunk + CHUNK);
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      int i = chunk;
      for (; i <= end - LANES; i += LANES) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        sumA = addSquare(q.sub(uint8Float(a + i)), sumA);
        sumB = addSquare(q.sub(uint8Float(b + i)), sumB);
        sumC = addSquare(q.sub(uint8Float(c + i)), sumC);
        sumD = addSquare(q.sub(uint8Float(d + i)), sumD);
      }
      if (i < end) {
        FloatVector q = FloatVector.fromArray(F, query, i);
        VectorMask<Float> in = F.indexInRange(i, end);
        sumA = addSquare(q.sub(orZero(uint8Float(a + i), in)), sumA);
        sumB = addSquare(q.sub(orZero(uint8Float(b + i), in)), sumB);
        sumC = addSquare(q.sub(orZero(uint8Float(c + i), in)), sumC);
        sumD = addSquare(q.sub(orZero(uint8Float(d + i), in)), sumD);
      }
      totalA = totalA.add(sumA);
      totalB = totalB.add(sumB);
      totalC = totalC.add(sumC);
      totalD = totalD.add(sumD);
    }
    out[at] = sum(totalA);
    out[Math.min(at + 1, last)] = sum(totalB);
    out[Math.min(at + 2, last)] = sum(totalC);
    out[Math.min(at + 3, last)] = sum(totalD);
  }

  @Override
  void dotInt8(
      long a, long b, long c, long d, int[] query, int dim, float[] out, int at, int last) {
    IntVector sumA = IntVector.zero(I);
    IntVector sumB = IntVector.zero(I);
    IntVector sumC = IntVector.zero(I);
    IntVector sumD = IntVector.zero(I);
    for (int i = 0; i < dim; i += 16) {
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
    for (; i <= dim - 16; i += 16) {
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
    for (int i = 0; i < dim; i += 16) {
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
    for (; i <= dim - 16; i += 16) {
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
    for (int i = 0; i < (bytes + 7) / 8; i += 8) {
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
  private static float sum(FloatVector v) {
    FloatVector r8 = v.add(v.rearrange(ROTATE_8));
    FloatVector r4 = r8.add(r8.rearrange(ROTATE_4));
    FloatVector r2 = r4.add(r4.rearrange(ROTATE_2));
    return r2.add(r2.rearrange(ROTATE_1)).lane(0) + 0.0f;
  }
}
