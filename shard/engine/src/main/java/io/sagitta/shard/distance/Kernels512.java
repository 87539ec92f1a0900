// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import static io.sagitta.shard.distance.NativeMemory.ALL;
import static io.sagitta.shard.distance.NativeMemory.LE;
import static jdk.incubator.vector.VectorOperators.ADD;
import static jdk.incubator.vector.VectorOperators.B2I;
import static jdk.incubator.vector.VectorOperators.BIT_COUNT;
import static jdk.incubator.vector.VectorOperators.I2F;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.S2I;
import static jdk.incubator.vector.VectorOperators.XOR;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/**
 * The canonical arithmetic with one 512-bit register a row. Differs from its siblings in width
 * only; {@link RowKernels} says why everything is spelled out.
 */
final class Kernels512 extends RowKernels {
  private static final VectorSpecies<Float> F = FloatVector.SPECIES_512;
  private static final VectorSpecies<Integer> I = IntVector.SPECIES_512;
  private static final VectorSpecies<Short> S = ShortVector.SPECIES_256;
  private static final VectorSpecies<Byte> B = ByteVector.SPECIES_128;
  private static final VectorSpecies<Long> L = LongVector.SPECIES_512;

  // Receivers whose class C2 knows: see RowKernels.
  private static final FloatVector ONE = FloatVector.broadcast(F, 1);
  private static final IntVector ZERO_I = IntVector.zero(I);
  private static final LongVector ZERO_L = LongVector.zero(L);

  private static final VectorShuffle<Float> ROTATE_1 = VectorShuffle.iota(F, 1, 1, true);
  private static final VectorShuffle<Float> ROTATE_2 = VectorShuffle.iota(F, 2, 1, true);
  private static final VectorShuffle<Float> ROTATE_4 = VectorShuffle.iota(F, 4, 1, true);
  private static final VectorShuffle<Float> ROTATE_8 = VectorShuffle.iota(F, 8, 1, true);
  private static final VectorShuffle<Float> ROTATE_12 = VectorShuffle.iota(F, 12, 1, true);
  private static final VectorMask<Float> UPPER_8 = VectorMask.fromLong(F, 0xff00);
  private static final VectorMask<Float> UPPER_4S = VectorMask.fromLong(F, 0xf0f0);

  @Override
  String name() {
    return "vector-512";
  }

  @Override
  CodeKernels codes() {
    return new CodeKernels512();
  }

  @Override
  void dotFloat32(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int dim = query.dimension();
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q = FloatVector.fromArray(F, components, i);
        IntVector mask = IntVector.fromArray(I, keep, i);
        sumA =
            q.fma(
                IntVector.fromMemorySegment(I, ALL, a + 4L * i, LE).and(mask).reinterpretAsFloats(),
                sumA);
        sumB =
            q.fma(
                IntVector.fromMemorySegment(I, ALL, b + 4L * i, LE).and(mask).reinterpretAsFloats(),
                sumB);
        sumC =
            q.fma(
                IntVector.fromMemorySegment(I, ALL, c + 4L * i, LE).and(mask).reinterpretAsFloats(),
                sumC);
        sumD =
            q.fma(
                IntVector.fromMemorySegment(I, ALL, d + 4L * i, LE).and(mask).reinterpretAsFloats(),
                sumD);
      }
      totalA = ONE.fma(sumA, totalA);
      totalB = ONE.fma(sumB, totalB);
      totalC = ONE.fma(sumC, totalC);
      totalD = ONE.fma(sumD, totalD);
    }
    // The written tree for four rows at once. Lanes: a r8, b r8; then a r4, c r4, b r4, d r4.
    FloatVector r16A = ONE.mul(totalA);
    FloatVector r16B = ONE.mul(totalB);
    FloatVector r16C = ONE.mul(totalC);
    FloatVector r16D = ONE.mul(totalD);
    FloatVector ab =
        r16A.blend(r16B.rearrange(ROTATE_8), UPPER_8)
            .add(r16A.rearrange(ROTATE_8).blend(r16B, UPPER_8));
    FloatVector cd =
        r16C.blend(r16D.rearrange(ROTATE_8), UPPER_8)
            .add(r16C.rearrange(ROTATE_8).blend(r16D, UPPER_8));
    FloatVector r4 =
        ab.blend(cd.rearrange(ROTATE_12), UPPER_4S).add(ab.rearrange(ROTATE_4).blend(cd, UPPER_4S));
    FloatVector r2 = r4.add(r4.rearrange(ROTATE_2));
    FloatVector r1 = r2.add(r2.rearrange(ROTATE_1)).add(0.0f);
    out[at] = r1.lane(0);
    out[Math.min(at + step, max)] = r1.lane(8);
    out[Math.min(at + 2 * step, max)] = r1.lane(4);
    out[Math.min(at + 3 * step, max)] = r1.lane(12);
  }

  @Override
  void squareFloat32(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int dim = query.dimension();
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q = FloatVector.fromArray(F, components, i);
        IntVector mask = IntVector.fromArray(I, keep, i);
        FloatVector differenceA =
            q.sub(
                IntVector.fromMemorySegment(I, ALL, a + 4L * i, LE)
                    .and(mask)
                    .reinterpretAsFloats());
        sumA = differenceA.fma(differenceA, sumA);
        FloatVector differenceB =
            q.sub(
                IntVector.fromMemorySegment(I, ALL, b + 4L * i, LE)
                    .and(mask)
                    .reinterpretAsFloats());
        sumB = differenceB.fma(differenceB, sumB);
        FloatVector differenceC =
            q.sub(
                IntVector.fromMemorySegment(I, ALL, c + 4L * i, LE)
                    .and(mask)
                    .reinterpretAsFloats());
        sumC = differenceC.fma(differenceC, sumC);
        FloatVector differenceD =
            q.sub(
                IntVector.fromMemorySegment(I, ALL, d + 4L * i, LE)
                    .and(mask)
                    .reinterpretAsFloats());
        sumD = differenceD.fma(differenceD, sumD);
      }
      totalA = ONE.fma(sumA, totalA);
      totalB = ONE.fma(sumB, totalB);
      totalC = ONE.fma(sumC, totalC);
      totalD = ONE.fma(sumD, totalD);
    }
    // The written tree for four rows at once. Lanes: a r8, b r8; then a r4, c r4, b r4, d r4.
    FloatVector r16A = ONE.mul(totalA);
    FloatVector r16B = ONE.mul(totalB);
    FloatVector r16C = ONE.mul(totalC);
    FloatVector r16D = ONE.mul(totalD);
    FloatVector ab =
        r16A.blend(r16B.rearrange(ROTATE_8), UPPER_8)
            .add(r16A.rearrange(ROTATE_8).blend(r16B, UPPER_8));
    FloatVector cd =
        r16C.blend(r16D.rearrange(ROTATE_8), UPPER_8)
            .add(r16C.rearrange(ROTATE_8).blend(r16D, UPPER_8));
    FloatVector r4 =
        ab.blend(cd.rearrange(ROTATE_12), UPPER_4S).add(ab.rearrange(ROTATE_4).blend(cd, UPPER_4S));
    FloatVector r2 = r4.add(r4.rearrange(ROTATE_2));
    FloatVector r1 = r2.add(r2.rearrange(ROTATE_1)).add(0.0f);
    out[at] = r1.lane(0);
    out[Math.min(at + step, max)] = r1.lane(8);
    out[Math.min(at + 2 * step, max)] = r1.lane(4);
    out[Math.min(at + 3 * step, max)] = r1.lane(12);
  }

  @Override
  void dotFloat16(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int shift = query.shift;
    float scale = query.scale;
    int dim = query.dimension();
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q = FloatVector.fromArray(F, components, i);
        IntVector mask = IntVector.fromArray(I, keep, i);
        sumA =
            q.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, a + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask)
                    .reinterpretAsFloats()
                    .mul(scale),
                sumA);
        sumB =
            q.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, b + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask)
                    .reinterpretAsFloats()
                    .mul(scale),
                sumB);
        sumC =
            q.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, c + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask)
                    .reinterpretAsFloats()
                    .mul(scale),
                sumC);
        sumD =
            q.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, d + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask)
                    .reinterpretAsFloats()
                    .mul(scale),
                sumD);
      }
      totalA = ONE.fma(sumA, totalA);
      totalB = ONE.fma(sumB, totalB);
      totalC = ONE.fma(sumC, totalC);
      totalD = ONE.fma(sumD, totalD);
    }
    // The written tree for four rows at once. Lanes: a r8, b r8; then a r4, c r4, b r4, d r4.
    FloatVector r16A = ONE.mul(totalA);
    FloatVector r16B = ONE.mul(totalB);
    FloatVector r16C = ONE.mul(totalC);
    FloatVector r16D = ONE.mul(totalD);
    FloatVector ab =
        r16A.blend(r16B.rearrange(ROTATE_8), UPPER_8)
            .add(r16A.rearrange(ROTATE_8).blend(r16B, UPPER_8));
    FloatVector cd =
        r16C.blend(r16D.rearrange(ROTATE_8), UPPER_8)
            .add(r16C.rearrange(ROTATE_8).blend(r16D, UPPER_8));
    FloatVector r4 =
        ab.blend(cd.rearrange(ROTATE_12), UPPER_4S).add(ab.rearrange(ROTATE_4).blend(cd, UPPER_4S));
    FloatVector r2 = r4.add(r4.rearrange(ROTATE_2));
    FloatVector r1 = r2.add(r2.rearrange(ROTATE_1)).add(0.0f);
    out[at] = r1.lane(0);
    out[Math.min(at + step, max)] = r1.lane(8);
    out[Math.min(at + 2 * step, max)] = r1.lane(4);
    out[Math.min(at + 3 * step, max)] = r1.lane(12);
  }

  @Override
  void squareFloat16(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int shift = query.shift;
    float scale = query.scale;
    int dim = query.dimension();
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q = FloatVector.fromArray(F, components, i);
        IntVector mask = IntVector.fromArray(I, keep, i);
        FloatVector differenceA =
            q.sub(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, a + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask)
                    .reinterpretAsFloats()
                    .mul(scale));
        sumA = differenceA.fma(differenceA, sumA);
        FloatVector differenceB =
            q.sub(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, b + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask)
                    .reinterpretAsFloats()
                    .mul(scale));
        sumB = differenceB.fma(differenceB, sumB);
        FloatVector differenceC =
            q.sub(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, c + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask)
                    .reinterpretAsFloats()
                    .mul(scale));
        sumC = differenceC.fma(differenceC, sumC);
        FloatVector differenceD =
            q.sub(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, d + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask)
                    .reinterpretAsFloats()
                    .mul(scale));
        sumD = differenceD.fma(differenceD, sumD);
      }
      totalA = ONE.fma(sumA, totalA);
      totalB = ONE.fma(sumB, totalB);
      totalC = ONE.fma(sumC, totalC);
      totalD = ONE.fma(sumD, totalD);
    }
    // The written tree for four rows at once. Lanes: a r8, b r8; then a r4, c r4, b r4, d r4.
    FloatVector r16A = ONE.mul(totalA);
    FloatVector r16B = ONE.mul(totalB);
    FloatVector r16C = ONE.mul(totalC);
    FloatVector r16D = ONE.mul(totalD);
    FloatVector ab =
        r16A.blend(r16B.rearrange(ROTATE_8), UPPER_8)
            .add(r16A.rearrange(ROTATE_8).blend(r16B, UPPER_8));
    FloatVector cd =
        r16C.blend(r16D.rearrange(ROTATE_8), UPPER_8)
            .add(r16C.rearrange(ROTATE_8).blend(r16D, UPPER_8));
    FloatVector r4 =
        ab.blend(cd.rearrange(ROTATE_12), UPPER_4S).add(ab.rearrange(ROTATE_4).blend(cd, UPPER_4S));
    FloatVector r2 = r4.add(r4.rearrange(ROTATE_2));
    FloatVector r1 = r2.add(r2.rearrange(ROTATE_1)).add(0.0f);
    out[at] = r1.lane(0);
    out[Math.min(at + step, max)] = r1.lane(8);
    out[Math.min(at + 2 * step, max)] = r1.lane(4);
    out[Math.min(at + 3 * step, max)] = r1.lane(12);
  }

  @Override
  void dotInt8Float(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int dim = query.dimension();
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q = FloatVector.fromArray(F, components, i);
        IntVector mask = IntVector.fromArray(I, keep, i);
        sumA =
            q.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, a + i, LE).convertShape(B2I, I, 0))
                        .and(mask)
                        .convertShape(I2F, F, 0),
                sumA);
        sumB =
            q.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, b + i, LE).convertShape(B2I, I, 0))
                        .and(mask)
                        .convertShape(I2F, F, 0),
                sumB);
        sumC =
            q.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, c + i, LE).convertShape(B2I, I, 0))
                        .and(mask)
                        .convertShape(I2F, F, 0),
                sumC);
        sumD =
            q.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, d + i, LE).convertShape(B2I, I, 0))
                        .and(mask)
                        .convertShape(I2F, F, 0),
                sumD);
      }
      totalA = ONE.fma(sumA, totalA);
      totalB = ONE.fma(sumB, totalB);
      totalC = ONE.fma(sumC, totalC);
      totalD = ONE.fma(sumD, totalD);
    }
    // The written tree for four rows at once. Lanes: a r8, b r8; then a r4, c r4, b r4, d r4.
    FloatVector r16A = ONE.mul(totalA);
    FloatVector r16B = ONE.mul(totalB);
    FloatVector r16C = ONE.mul(totalC);
    FloatVector r16D = ONE.mul(totalD);
    FloatVector ab =
        r16A.blend(r16B.rearrange(ROTATE_8), UPPER_8)
            .add(r16A.rearrange(ROTATE_8).blend(r16B, UPPER_8));
    FloatVector cd =
        r16C.blend(r16D.rearrange(ROTATE_8), UPPER_8)
            .add(r16C.rearrange(ROTATE_8).blend(r16D, UPPER_8));
    FloatVector r4 =
        ab.blend(cd.rearrange(ROTATE_12), UPPER_4S).add(ab.rearrange(ROTATE_4).blend(cd, UPPER_4S));
    FloatVector r2 = r4.add(r4.rearrange(ROTATE_2));
    FloatVector r1 = r2.add(r2.rearrange(ROTATE_1)).add(0.0f);
    out[at] = r1.lane(0);
    out[Math.min(at + step, max)] = r1.lane(8);
    out[Math.min(at + 2 * step, max)] = r1.lane(4);
    out[Math.min(at + 3 * step, max)] = r1.lane(12);
  }

  @Override
  void squareInt8Float(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int dim = query.dimension();
    FloatVector totalA = FloatVector.zero(F);
    FloatVector totalB = FloatVector.zero(F);
    FloatVector totalC = FloatVector.zero(F);
    FloatVector totalD = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sumA = FloatVector.zero(F);
      FloatVector sumB = FloatVector.zero(F);
      FloatVector sumC = FloatVector.zero(F);
      FloatVector sumD = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q = FloatVector.fromArray(F, components, i);
        IntVector mask = IntVector.fromArray(I, keep, i);
        FloatVector differenceA =
            q.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, a + i, LE).convertShape(B2I, I, 0))
                        .and(mask)
                        .convertShape(I2F, F, 0));
        sumA = differenceA.fma(differenceA, sumA);
        FloatVector differenceB =
            q.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, b + i, LE).convertShape(B2I, I, 0))
                        .and(mask)
                        .convertShape(I2F, F, 0));
        sumB = differenceB.fma(differenceB, sumB);
        FloatVector differenceC =
            q.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, c + i, LE).convertShape(B2I, I, 0))
                        .and(mask)
                        .convertShape(I2F, F, 0));
        sumC = differenceC.fma(differenceC, sumC);
        FloatVector differenceD =
            q.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, d + i, LE).convertShape(B2I, I, 0))
                        .and(mask)
                        .convertShape(I2F, F, 0));
        sumD = differenceD.fma(differenceD, sumD);
      }
      totalA = ONE.fma(sumA, totalA);
      totalB = ONE.fma(sumB, totalB);
      totalC = ONE.fma(sumC, totalC);
      totalD = ONE.fma(sumD, totalD);
    }
    // The written tree for four rows at once. Lanes: a r8, b r8; then a r4, c r4, b r4, d r4.
    FloatVector r16A = ONE.mul(totalA);
    FloatVector r16B = ONE.mul(totalB);
    FloatVector r16C = ONE.mul(totalC);
    FloatVector r16D = ONE.mul(totalD);
    FloatVector ab =
        r16A.blend(r16B.rearrange(ROTATE_8), UPPER_8)
            .add(r16A.rearrange(ROTATE_8).blend(r16B, UPPER_8));
    FloatVector cd =
        r16C.blend(r16D.rearrange(ROTATE_8), UPPER_8)
            .add(r16C.rearrange(ROTATE_8).blend(r16D, UPPER_8));
    FloatVector r4 =
        ab.blend(cd.rearrange(ROTATE_12), UPPER_4S).add(ab.rearrange(ROTATE_4).blend(cd, UPPER_4S));
    FloatVector r2 = r4.add(r4.rearrange(ROTATE_2));
    FloatVector r1 = r2.add(r2.rearrange(ROTATE_1)).add(0.0f);
    out[at] = r1.lane(0);
    out[Math.min(at + step, max)] = r1.lane(8);
    out[Math.min(at + 2 * step, max)] = r1.lane(4);
    out[Math.min(at + 3 * step, max)] = r1.lane(12);
  }

  @Override
  void dotInt8(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    int[] components = query.ints;
    int[] keep = query.keep;
    int dim = query.dimension();
    IntVector sumA = IntVector.zero(I);
    IntVector sumB = IntVector.zero(I);
    IntVector sumC = IntVector.zero(I);
    IntVector sumD = IntVector.zero(I);
    for (int i = 0; i < dim; i += 16) {
      IntVector q = IntVector.fromArray(I, components, i);
      IntVector mask = IntVector.fromArray(I, keep, i);
      sumA =
          q.mul(
                  ((IntVector)
                          ByteVector.fromMemorySegment(B, ALL, a + i, LE).convertShape(B2I, I, 0))
                      .and(mask))
              .add(sumA);
      sumB =
          q.mul(
                  ((IntVector)
                          ByteVector.fromMemorySegment(B, ALL, b + i, LE).convertShape(B2I, I, 0))
                      .and(mask))
              .add(sumB);
      sumC =
          q.mul(
                  ((IntVector)
                          ByteVector.fromMemorySegment(B, ALL, c + i, LE).convertShape(B2I, I, 0))
                      .and(mask))
              .add(sumC);
      sumD =
          q.mul(
                  ((IntVector)
                          ByteVector.fromMemorySegment(B, ALL, d + i, LE).convertShape(B2I, I, 0))
                      .and(mask))
              .add(sumD);
    }
    out[at] = ZERO_I.add(sumA).reduceLanes(ADD);
    out[Math.min(at + step, max)] = ZERO_I.add(sumB).reduceLanes(ADD);
    out[Math.min(at + 2 * step, max)] = ZERO_I.add(sumC).reduceLanes(ADD);
    out[Math.min(at + 3 * step, max)] = ZERO_I.add(sumD).reduceLanes(ADD);
  }

  @Override
  void squareInt8(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    int[] components = query.ints;
    int[] keep = query.keep;
    int dim = query.dimension();
    IntVector sumA = IntVector.zero(I);
    IntVector sumB = IntVector.zero(I);
    IntVector sumC = IntVector.zero(I);
    IntVector sumD = IntVector.zero(I);
    for (int i = 0; i < dim; i += 16) {
      IntVector q = IntVector.fromArray(I, components, i);
      IntVector mask = IntVector.fromArray(I, keep, i);
      IntVector differenceA =
          q.sub(
              ((IntVector) ByteVector.fromMemorySegment(B, ALL, a + i, LE).convertShape(B2I, I, 0))
                  .and(mask));
      sumA = differenceA.mul(differenceA).add(sumA);
      IntVector differenceB =
          q.sub(
              ((IntVector) ByteVector.fromMemorySegment(B, ALL, b + i, LE).convertShape(B2I, I, 0))
                  .and(mask));
      sumB = differenceB.mul(differenceB).add(sumB);
      IntVector differenceC =
          q.sub(
              ((IntVector) ByteVector.fromMemorySegment(B, ALL, c + i, LE).convertShape(B2I, I, 0))
                  .and(mask));
      sumC = differenceC.mul(differenceC).add(sumC);
      IntVector differenceD =
          q.sub(
              ((IntVector) ByteVector.fromMemorySegment(B, ALL, d + i, LE).convertShape(B2I, I, 0))
                  .and(mask));
      sumD = differenceD.mul(differenceD).add(sumD);
    }
    out[at] = ZERO_I.add(sumA).reduceLanes(ADD);
    out[Math.min(at + step, max)] = ZERO_I.add(sumB).reduceLanes(ADD);
    out[Math.min(at + 2 * step, max)] = ZERO_I.add(sumC).reduceLanes(ADD);
    out[Math.min(at + 3 * step, max)] = ZERO_I.add(sumD).reduceLanes(ADD);
  }

  @Override
  void hamming(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    long[] bits = query.bits;
    long[] keep = query.keepBits;
    int words = (query.dimension() + 63) / 64;
    LongVector sumA = LongVector.zero(L);
    LongVector sumB = LongVector.zero(L);
    LongVector sumC = LongVector.zero(L);
    LongVector sumD = LongVector.zero(L);
    for (int i = 0; i < words; i += 8) {
      LongVector q = LongVector.fromArray(L, bits, i);
      LongVector mask = LongVector.fromArray(L, keep, i);
      sumA =
          LongVector.fromMemorySegment(L, ALL, a + 8L * i, LE)
              .lanewise(XOR, q)
              .and(mask)
              .lanewise(BIT_COUNT)
              .add(sumA);
      sumB =
          LongVector.fromMemorySegment(L, ALL, b + 8L * i, LE)
              .lanewise(XOR, q)
              .and(mask)
              .lanewise(BIT_COUNT)
              .add(sumB);
      sumC =
          LongVector.fromMemorySegment(L, ALL, c + 8L * i, LE)
              .lanewise(XOR, q)
              .and(mask)
              .lanewise(BIT_COUNT)
              .add(sumC);
      sumD =
          LongVector.fromMemorySegment(L, ALL, d + 8L * i, LE)
              .lanewise(XOR, q)
              .and(mask)
              .lanewise(BIT_COUNT)
              .add(sumD);
    }
    out[at] = ZERO_L.add(sumA).reduceLanes(ADD);
    out[Math.min(at + step, max)] = ZERO_L.add(sumB).reduceLanes(ADD);
    out[Math.min(at + 2 * step, max)] = ZERO_L.add(sumC).reduceLanes(ADD);
    out[Math.min(at + 3 * step, max)] = ZERO_L.add(sumD).reduceLanes(ADD);
  }
}
