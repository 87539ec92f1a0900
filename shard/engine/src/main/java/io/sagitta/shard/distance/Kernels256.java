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
 * The canonical arithmetic with two 256-bit registers a row. Differs from its siblings in width
 * only; {@link RowKernels} says why everything is spelled out.
 */
final class Kernels256 extends RowKernels {
  private static final VectorSpecies<Float> F = FloatVector.SPECIES_256;
  private static final VectorSpecies<Integer> I = IntVector.SPECIES_256;
  private static final VectorSpecies<Short> S = ShortVector.SPECIES_128;
  private static final VectorSpecies<Byte> B = ByteVector.SPECIES_64;
  private static final VectorSpecies<Long> L = LongVector.SPECIES_256;

  // Receivers whose class C2 knows: see RowKernels.
  private static final FloatVector ONE = FloatVector.broadcast(F, 1);
  private static final IntVector ZERO_I = IntVector.zero(I);
  private static final LongVector ZERO_L = LongVector.zero(L);

  private static final VectorShuffle<Float> ROTATE_1 = VectorShuffle.iota(F, 1, 1, true);
  private static final VectorShuffle<Float> ROTATE_2 = VectorShuffle.iota(F, 2, 1, true);
  private static final VectorShuffle<Float> ROTATE_4 = VectorShuffle.iota(F, 4, 1, true);
  private static final VectorShuffle<Float> ROTATE_6 = VectorShuffle.iota(F, 6, 1, true);
  private static final VectorMask<Float> UPPER_4 = VectorMask.fromLong(F, 0xf0);
  private static final VectorMask<Float> UPPER_2S = VectorMask.fromLong(F, 0xcc);

  @Override
  String name() {
    return "vector-256";
  }

  @Override
  CodeKernels codes() {
    return new CodeKernels256();
  }

  @Override
  void dotFloat32(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int dim = query.dimension();
    FloatVector totalA0 = FloatVector.zero(F);
    FloatVector totalA8 = FloatVector.zero(F);
    FloatVector totalB0 = FloatVector.zero(F);
    FloatVector totalB8 = FloatVector.zero(F);
    FloatVector totalC0 = FloatVector.zero(F);
    FloatVector totalC8 = FloatVector.zero(F);
    FloatVector totalD0 = FloatVector.zero(F);
    FloatVector totalD8 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sumA0 = FloatVector.zero(F);
      FloatVector sumA8 = FloatVector.zero(F);
      FloatVector sumB0 = FloatVector.zero(F);
      FloatVector sumB8 = FloatVector.zero(F);
      FloatVector sumC0 = FloatVector.zero(F);
      FloatVector sumC8 = FloatVector.zero(F);
      FloatVector sumD0 = FloatVector.zero(F);
      FloatVector sumD8 = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q0 = FloatVector.fromArray(F, components, i);
        IntVector mask0 = IntVector.fromArray(I, keep, i);
        FloatVector q8 = FloatVector.fromArray(F, components, i + 8);
        IntVector mask8 = IntVector.fromArray(I, keep, i + 8);
        sumA0 =
            q0.fma(
                IntVector.fromMemorySegment(I, ALL, a + 4L * i, LE)
                    .and(mask0)
                    .reinterpretAsFloats(),
                sumA0);
        sumA8 =
            q8.fma(
                IntVector.fromMemorySegment(I, ALL, a + 4L * (i + 8), LE)
                    .and(mask8)
                    .reinterpretAsFloats(),
                sumA8);
        sumB0 =
            q0.fma(
                IntVector.fromMemorySegment(I, ALL, b + 4L * i, LE)
                    .and(mask0)
                    .reinterpretAsFloats(),
                sumB0);
        sumB8 =
            q8.fma(
                IntVector.fromMemorySegment(I, ALL, b + 4L * (i + 8), LE)
                    .and(mask8)
                    .reinterpretAsFloats(),
                sumB8);
        sumC0 =
            q0.fma(
                IntVector.fromMemorySegment(I, ALL, c + 4L * i, LE)
                    .and(mask0)
                    .reinterpretAsFloats(),
                sumC0);
        sumC8 =
            q8.fma(
                IntVector.fromMemorySegment(I, ALL, c + 4L * (i + 8), LE)
                    .and(mask8)
                    .reinterpretAsFloats(),
                sumC8);
        sumD0 =
            q0.fma(
                IntVector.fromMemorySegment(I, ALL, d + 4L * i, LE)
                    .and(mask0)
                    .reinterpretAsFloats(),
                sumD0);
        sumD8 =
            q8.fma(
                IntVector.fromMemorySegment(I, ALL, d + 4L * (i + 8), LE)
                    .and(mask8)
                    .reinterpretAsFloats(),
                sumD8);
      }
      totalA0 = ONE.fma(sumA0, totalA0);
      totalA8 = ONE.fma(sumA8, totalA8);
      totalB0 = ONE.fma(sumB0, totalB0);
      totalB8 = ONE.fma(sumB8, totalB8);
      totalC0 = ONE.fma(sumC0, totalC0);
      totalC8 = ONE.fma(sumC8, totalC8);
      totalD0 = ONE.fma(sumD0, totalD0);
      totalD8 = ONE.fma(sumD8, totalD8);
    }
    // The written tree for four rows at once. Lanes: a r4, b r4; then a r2, c r2, b r2, d r2.
    FloatVector r8A = ONE.fma(totalA0, totalA8);
    FloatVector r8B = ONE.fma(totalB0, totalB8);
    FloatVector r8C = ONE.fma(totalC0, totalC8);
    FloatVector r8D = ONE.fma(totalD0, totalD8);
    FloatVector ab =
        r8A.blend(r8B.rearrange(ROTATE_4), UPPER_4)
            .add(r8A.rearrange(ROTATE_4).blend(r8B, UPPER_4));
    FloatVector cd =
        r8C.blend(r8D.rearrange(ROTATE_4), UPPER_4)
            .add(r8C.rearrange(ROTATE_4).blend(r8D, UPPER_4));
    FloatVector r2 =
        ab.blend(cd.rearrange(ROTATE_6), UPPER_2S).add(ab.rearrange(ROTATE_2).blend(cd, UPPER_2S));
    FloatVector r1 = r2.add(r2.rearrange(ROTATE_1)).add(0.0f);
    out[at] = r1.lane(0);
    out[Math.min(at + step, max)] = r1.lane(4);
    out[Math.min(at + 2 * step, max)] = r1.lane(2);
    out[Math.min(at + 3 * step, max)] = r1.lane(6);
  }

  @Override
  void squareFloat32(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int dim = query.dimension();
    FloatVector totalA0 = FloatVector.zero(F);
    FloatVector totalA8 = FloatVector.zero(F);
    FloatVector totalB0 = FloatVector.zero(F);
    FloatVector totalB8 = FloatVector.zero(F);
    FloatVector totalC0 = FloatVector.zero(F);
    FloatVector totalC8 = FloatVector.zero(F);
    FloatVector totalD0 = FloatVector.zero(F);
    FloatVector totalD8 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sumA0 = FloatVector.zero(F);
      FloatVector sumA8 = FloatVector.zero(F);
      FloatVector sumB0 = FloatVector.zero(F);
      FloatVector sumB8 = FloatVector.zero(F);
      FloatVector sumC0 = FloatVector.zero(F);
      FloatVector sumC8 = FloatVector.zero(F);
      FloatVector sumD0 = FloatVector.zero(F);
      FloatVector sumD8 = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q0 = FloatVector.fromArray(F, components, i);
        IntVector mask0 = IntVector.fromArray(I, keep, i);
        FloatVector q8 = FloatVector.fromArray(F, components, i + 8);
        IntVector mask8 = IntVector.fromArray(I, keep, i + 8);
        FloatVector differenceA0 =
            q0.sub(
                IntVector.fromMemorySegment(I, ALL, a + 4L * i, LE)
                    .and(mask0)
                    .reinterpretAsFloats());
        sumA0 = differenceA0.fma(differenceA0, sumA0);
        FloatVector differenceA8 =
            q8.sub(
                IntVector.fromMemorySegment(I, ALL, a + 4L * (i + 8), LE)
                    .and(mask8)
                    .reinterpretAsFloats());
        sumA8 = differenceA8.fma(differenceA8, sumA8);
        FloatVector differenceB0 =
            q0.sub(
                IntVector.fromMemorySegment(I, ALL, b + 4L * i, LE)
                    .and(mask0)
                    .reinterpretAsFloats());
        sumB0 = differenceB0.fma(differenceB0, sumB0);
        FloatVector differenceB8 =
            q8.sub(
                IntVector.fromMemorySegment(I, ALL, b + 4L * (i + 8), LE)
                    .and(mask8)
                    .reinterpretAsFloats());
        sumB8 = differenceB8.fma(differenceB8, sumB8);
        FloatVector differenceC0 =
            q0.sub(
                IntVector.fromMemorySegment(I, ALL, c + 4L * i, LE)
                    .and(mask0)
                    .reinterpretAsFloats());
        sumC0 = differenceC0.fma(differenceC0, sumC0);
        FloatVector differenceC8 =
            q8.sub(
                IntVector.fromMemorySegment(I, ALL, c + 4L * (i + 8), LE)
                    .and(mask8)
                    .reinterpretAsFloats());
        sumC8 = differenceC8.fma(differenceC8, sumC8);
        FloatVector differenceD0 =
            q0.sub(
                IntVector.fromMemorySegment(I, ALL, d + 4L * i, LE)
                    .and(mask0)
                    .reinterpretAsFloats());
        sumD0 = differenceD0.fma(differenceD0, sumD0);
        FloatVector differenceD8 =
            q8.sub(
                IntVector.fromMemorySegment(I, ALL, d + 4L * (i + 8), LE)
                    .and(mask8)
                    .reinterpretAsFloats());
        sumD8 = differenceD8.fma(differenceD8, sumD8);
      }
      totalA0 = ONE.fma(sumA0, totalA0);
      totalA8 = ONE.fma(sumA8, totalA8);
      totalB0 = ONE.fma(sumB0, totalB0);
      totalB8 = ONE.fma(sumB8, totalB8);
      totalC0 = ONE.fma(sumC0, totalC0);
      totalC8 = ONE.fma(sumC8, totalC8);
      totalD0 = ONE.fma(sumD0, totalD0);
      totalD8 = ONE.fma(sumD8, totalD8);
    }
    // The written tree for four rows at once. Lanes: a r4, b r4; then a r2, c r2, b r2, d r2.
    FloatVector r8A = ONE.fma(totalA0, totalA8);
    FloatVector r8B = ONE.fma(totalB0, totalB8);
    FloatVector r8C = ONE.fma(totalC0, totalC8);
    FloatVector r8D = ONE.fma(totalD0, totalD8);
    FloatVector ab =
        r8A.blend(r8B.rearrange(ROTATE_4), UPPER_4)
            .add(r8A.rearrange(ROTATE_4).blend(r8B, UPPER_4));
    FloatVector cd =
        r8C.blend(r8D.rearrange(ROTATE_4), UPPER_4)
            .add(r8C.rearrange(ROTATE_4).blend(r8D, UPPER_4));
    FloatVector r2 =
        ab.blend(cd.rearrange(ROTATE_6), UPPER_2S).add(ab.rearrange(ROTATE_2).blend(cd, UPPER_2S));
    FloatVector r1 = r2.add(r2.rearrange(ROTATE_1)).add(0.0f);
    out[at] = r1.lane(0);
    out[Math.min(at + step, max)] = r1.lane(4);
    out[Math.min(at + 2 * step, max)] = r1.lane(2);
    out[Math.min(at + 3 * step, max)] = r1.lane(6);
  }

  @Override
  void dotFloat16(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int shift = query.shift;
    float scale = query.scale;
    int dim = query.dimension();
    FloatVector totalA0 = FloatVector.zero(F);
    FloatVector totalA8 = FloatVector.zero(F);
    FloatVector totalB0 = FloatVector.zero(F);
    FloatVector totalB8 = FloatVector.zero(F);
    FloatVector totalC0 = FloatVector.zero(F);
    FloatVector totalC8 = FloatVector.zero(F);
    FloatVector totalD0 = FloatVector.zero(F);
    FloatVector totalD8 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sumA0 = FloatVector.zero(F);
      FloatVector sumA8 = FloatVector.zero(F);
      FloatVector sumB0 = FloatVector.zero(F);
      FloatVector sumB8 = FloatVector.zero(F);
      FloatVector sumC0 = FloatVector.zero(F);
      FloatVector sumC8 = FloatVector.zero(F);
      FloatVector sumD0 = FloatVector.zero(F);
      FloatVector sumD8 = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q0 = FloatVector.fromArray(F, components, i);
        IntVector mask0 = IntVector.fromArray(I, keep, i);
        FloatVector q8 = FloatVector.fromArray(F, components, i + 8);
        IntVector mask8 = IntVector.fromArray(I, keep, i + 8);
        sumA0 =
            q0.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, a + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask0)
                    .reinterpretAsFloats()
                    .mul(scale),
                sumA0);
        sumA8 =
            q8.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, a + 2L * (i + 8), LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask8)
                    .reinterpretAsFloats()
                    .mul(scale),
                sumA8);
        sumB0 =
            q0.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, b + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask0)
                    .reinterpretAsFloats()
                    .mul(scale),
                sumB0);
        sumB8 =
            q8.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, b + 2L * (i + 8), LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask8)
                    .reinterpretAsFloats()
                    .mul(scale),
                sumB8);
        sumC0 =
            q0.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, c + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask0)
                    .reinterpretAsFloats()
                    .mul(scale),
                sumC0);
        sumC8 =
            q8.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, c + 2L * (i + 8), LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask8)
                    .reinterpretAsFloats()
                    .mul(scale),
                sumC8);
        sumD0 =
            q0.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, d + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask0)
                    .reinterpretAsFloats()
                    .mul(scale),
                sumD0);
        sumD8 =
            q8.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, d + 2L * (i + 8), LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask8)
                    .reinterpretAsFloats()
                    .mul(scale),
                sumD8);
      }
      totalA0 = ONE.fma(sumA0, totalA0);
      totalA8 = ONE.fma(sumA8, totalA8);
      totalB0 = ONE.fma(sumB0, totalB0);
      totalB8 = ONE.fma(sumB8, totalB8);
      totalC0 = ONE.fma(sumC0, totalC0);
      totalC8 = ONE.fma(sumC8, totalC8);
      totalD0 = ONE.fma(sumD0, totalD0);
      totalD8 = ONE.fma(sumD8, totalD8);
    }
    // The written tree for four rows at once. Lanes: a r4, b r4; then a r2, c r2, b r2, d r2.
    FloatVector r8A = ONE.fma(totalA0, totalA8);
    FloatVector r8B = ONE.fma(totalB0, totalB8);
    FloatVector r8C = ONE.fma(totalC0, totalC8);
    FloatVector r8D = ONE.fma(totalD0, totalD8);
    FloatVector ab =
        r8A.blend(r8B.rearrange(ROTATE_4), UPPER_4)
            .add(r8A.rearrange(ROTATE_4).blend(r8B, UPPER_4));
    FloatVector cd =
        r8C.blend(r8D.rearrange(ROTATE_4), UPPER_4)
            .add(r8C.rearrange(ROTATE_4).blend(r8D, UPPER_4));
    FloatVector r2 =
        ab.blend(cd.rearrange(ROTATE_6), UPPER_2S).add(ab.rearrange(ROTATE_2).blend(cd, UPPER_2S));
    FloatVector r1 = r2.add(r2.rearrange(ROTATE_1)).add(0.0f);
    out[at] = r1.lane(0);
    out[Math.min(at + step, max)] = r1.lane(4);
    out[Math.min(at + 2 * step, max)] = r1.lane(2);
    out[Math.min(at + 3 * step, max)] = r1.lane(6);
  }

  @Override
  void squareFloat16(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    squareFloat16Pair(a, b, query, out, at, Math.min(at + step, max));
    squareFloat16Pair(c, d, query, out, Math.min(at + 2 * step, max), Math.min(at + 3 * step, max));
  }

  // Two rows a loop: with four, C2 was seen to leave the sums on the heap in one run of ten.
  private static void squareFloat16Pair(
      long a, long b, PreparedQuery query, float[] out, int atA, int atB) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int shift = query.shift;
    float scale = query.scale;
    int dim = query.dimension();
    FloatVector totalA0 = FloatVector.zero(F);
    FloatVector totalA8 = FloatVector.zero(F);
    FloatVector totalB0 = FloatVector.zero(F);
    FloatVector totalB8 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sumA0 = FloatVector.zero(F);
      FloatVector sumA8 = FloatVector.zero(F);
      FloatVector sumB0 = FloatVector.zero(F);
      FloatVector sumB8 = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q0 = FloatVector.fromArray(F, components, i);
        IntVector mask0 = IntVector.fromArray(I, keep, i);
        FloatVector q8 = FloatVector.fromArray(F, components, i + 8);
        IntVector mask8 = IntVector.fromArray(I, keep, i + 8);
        FloatVector differenceA0 =
            q0.sub(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, a + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask0)
                    .reinterpretAsFloats()
                    .mul(scale));
        sumA0 = differenceA0.fma(differenceA0, sumA0);
        FloatVector differenceA8 =
            q8.sub(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, a + 2L * (i + 8), LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask8)
                    .reinterpretAsFloats()
                    .mul(scale));
        sumA8 = differenceA8.fma(differenceA8, sumA8);
        FloatVector differenceB0 =
            q0.sub(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, b + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask0)
                    .reinterpretAsFloats()
                    .mul(scale));
        sumB0 = differenceB0.fma(differenceB0, sumB0);
        FloatVector differenceB8 =
            q8.sub(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, b + 2L * (i + 8), LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask8)
                    .reinterpretAsFloats()
                    .mul(scale));
        sumB8 = differenceB8.fma(differenceB8, sumB8);
      }
      totalA0 = ONE.fma(sumA0, totalA0);
      totalA8 = ONE.fma(sumA8, totalA8);
      totalB0 = ONE.fma(sumB0, totalB0);
      totalB8 = ONE.fma(sumB8, totalB8);
    }
    // The written tree for two rows at once. Lanes: a r4, b r4.
    FloatVector r8A = ONE.fma(totalA0, totalA8);
    FloatVector r8B = ONE.fma(totalB0, totalB8);
    FloatVector ab =
        r8A.blend(r8B.rearrange(ROTATE_4), UPPER_4)
            .add(r8A.rearrange(ROTATE_4).blend(r8B, UPPER_4));
    FloatVector r2 = ab.add(ab.rearrange(ROTATE_2));
    FloatVector r1 = r2.add(r2.rearrange(ROTATE_1)).add(0.0f);
    out[atA] = r1.lane(0);
    out[atB] = r1.lane(4);
  }

  @Override
  void dotInt8Float(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int dim = query.dimension();
    FloatVector totalA0 = FloatVector.zero(F);
    FloatVector totalA8 = FloatVector.zero(F);
    FloatVector totalB0 = FloatVector.zero(F);
    FloatVector totalB8 = FloatVector.zero(F);
    FloatVector totalC0 = FloatVector.zero(F);
    FloatVector totalC8 = FloatVector.zero(F);
    FloatVector totalD0 = FloatVector.zero(F);
    FloatVector totalD8 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sumA0 = FloatVector.zero(F);
      FloatVector sumA8 = FloatVector.zero(F);
      FloatVector sumB0 = FloatVector.zero(F);
      FloatVector sumB8 = FloatVector.zero(F);
      FloatVector sumC0 = FloatVector.zero(F);
      FloatVector sumC8 = FloatVector.zero(F);
      FloatVector sumD0 = FloatVector.zero(F);
      FloatVector sumD8 = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q0 = FloatVector.fromArray(F, components, i);
        IntVector mask0 = IntVector.fromArray(I, keep, i);
        FloatVector q8 = FloatVector.fromArray(F, components, i + 8);
        IntVector mask8 = IntVector.fromArray(I, keep, i + 8);
        sumA0 =
            q0.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, a + i, LE).convertShape(B2I, I, 0))
                        .and(mask0)
                        .convertShape(I2F, F, 0),
                sumA0);
        sumA8 =
            q8.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, a + i + 8, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask8)
                        .convertShape(I2F, F, 0),
                sumA8);
        sumB0 =
            q0.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, b + i, LE).convertShape(B2I, I, 0))
                        .and(mask0)
                        .convertShape(I2F, F, 0),
                sumB0);
        sumB8 =
            q8.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, b + i + 8, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask8)
                        .convertShape(I2F, F, 0),
                sumB8);
        sumC0 =
            q0.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, c + i, LE).convertShape(B2I, I, 0))
                        .and(mask0)
                        .convertShape(I2F, F, 0),
                sumC0);
        sumC8 =
            q8.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, c + i + 8, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask8)
                        .convertShape(I2F, F, 0),
                sumC8);
        sumD0 =
            q0.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, d + i, LE).convertShape(B2I, I, 0))
                        .and(mask0)
                        .convertShape(I2F, F, 0),
                sumD0);
        sumD8 =
            q8.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, d + i + 8, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask8)
                        .convertShape(I2F, F, 0),
                sumD8);
      }
      totalA0 = ONE.fma(sumA0, totalA0);
      totalA8 = ONE.fma(sumA8, totalA8);
      totalB0 = ONE.fma(sumB0, totalB0);
      totalB8 = ONE.fma(sumB8, totalB8);
      totalC0 = ONE.fma(sumC0, totalC0);
      totalC8 = ONE.fma(sumC8, totalC8);
      totalD0 = ONE.fma(sumD0, totalD0);
      totalD8 = ONE.fma(sumD8, totalD8);
    }
    // The written tree for four rows at once. Lanes: a r4, b r4; then a r2, c r2, b r2, d r2.
    FloatVector r8A = ONE.fma(totalA0, totalA8);
    FloatVector r8B = ONE.fma(totalB0, totalB8);
    FloatVector r8C = ONE.fma(totalC0, totalC8);
    FloatVector r8D = ONE.fma(totalD0, totalD8);
    FloatVector ab =
        r8A.blend(r8B.rearrange(ROTATE_4), UPPER_4)
            .add(r8A.rearrange(ROTATE_4).blend(r8B, UPPER_4));
    FloatVector cd =
        r8C.blend(r8D.rearrange(ROTATE_4), UPPER_4)
            .add(r8C.rearrange(ROTATE_4).blend(r8D, UPPER_4));
    FloatVector r2 =
        ab.blend(cd.rearrange(ROTATE_6), UPPER_2S).add(ab.rearrange(ROTATE_2).blend(cd, UPPER_2S));
    FloatVector r1 = r2.add(r2.rearrange(ROTATE_1)).add(0.0f);
    out[at] = r1.lane(0);
    out[Math.min(at + step, max)] = r1.lane(4);
    out[Math.min(at + 2 * step, max)] = r1.lane(2);
    out[Math.min(at + 3 * step, max)] = r1.lane(6);
  }

  @Override
  void squareInt8Float(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int dim = query.dimension();
    FloatVector totalA0 = FloatVector.zero(F);
    FloatVector totalA8 = FloatVector.zero(F);
    FloatVector totalB0 = FloatVector.zero(F);
    FloatVector totalB8 = FloatVector.zero(F);
    FloatVector totalC0 = FloatVector.zero(F);
    FloatVector totalC8 = FloatVector.zero(F);
    FloatVector totalD0 = FloatVector.zero(F);
    FloatVector totalD8 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sumA0 = FloatVector.zero(F);
      FloatVector sumA8 = FloatVector.zero(F);
      FloatVector sumB0 = FloatVector.zero(F);
      FloatVector sumB8 = FloatVector.zero(F);
      FloatVector sumC0 = FloatVector.zero(F);
      FloatVector sumC8 = FloatVector.zero(F);
      FloatVector sumD0 = FloatVector.zero(F);
      FloatVector sumD8 = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q0 = FloatVector.fromArray(F, components, i);
        IntVector mask0 = IntVector.fromArray(I, keep, i);
        FloatVector q8 = FloatVector.fromArray(F, components, i + 8);
        IntVector mask8 = IntVector.fromArray(I, keep, i + 8);
        FloatVector differenceA0 =
            q0.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, a + i, LE).convertShape(B2I, I, 0))
                        .and(mask0)
                        .convertShape(I2F, F, 0));
        sumA0 = differenceA0.fma(differenceA0, sumA0);
        FloatVector differenceA8 =
            q8.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, a + i + 8, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask8)
                        .convertShape(I2F, F, 0));
        sumA8 = differenceA8.fma(differenceA8, sumA8);
        FloatVector differenceB0 =
            q0.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, b + i, LE).convertShape(B2I, I, 0))
                        .and(mask0)
                        .convertShape(I2F, F, 0));
        sumB0 = differenceB0.fma(differenceB0, sumB0);
        FloatVector differenceB8 =
            q8.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, b + i + 8, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask8)
                        .convertShape(I2F, F, 0));
        sumB8 = differenceB8.fma(differenceB8, sumB8);
        FloatVector differenceC0 =
            q0.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, c + i, LE).convertShape(B2I, I, 0))
                        .and(mask0)
                        .convertShape(I2F, F, 0));
        sumC0 = differenceC0.fma(differenceC0, sumC0);
        FloatVector differenceC8 =
            q8.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, c + i + 8, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask8)
                        .convertShape(I2F, F, 0));
        sumC8 = differenceC8.fma(differenceC8, sumC8);
        FloatVector differenceD0 =
            q0.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, d + i, LE).convertShape(B2I, I, 0))
                        .and(mask0)
                        .convertShape(I2F, F, 0));
        sumD0 = differenceD0.fma(differenceD0, sumD0);
        FloatVector differenceD8 =
            q8.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, d + i + 8, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask8)
                        .convertShape(I2F, F, 0));
        sumD8 = differenceD8.fma(differenceD8, sumD8);
      }
      totalA0 = ONE.fma(sumA0, totalA0);
      totalA8 = ONE.fma(sumA8, totalA8);
      totalB0 = ONE.fma(sumB0, totalB0);
      totalB8 = ONE.fma(sumB8, totalB8);
      totalC0 = ONE.fma(sumC0, totalC0);
      totalC8 = ONE.fma(sumC8, totalC8);
      totalD0 = ONE.fma(sumD0, totalD0);
      totalD8 = ONE.fma(sumD8, totalD8);
    }
    // The written tree for four rows at once. Lanes: a r4, b r4; then a r2, c r2, b r2, d r2.
    FloatVector r8A = ONE.fma(totalA0, totalA8);
    FloatVector r8B = ONE.fma(totalB0, totalB8);
    FloatVector r8C = ONE.fma(totalC0, totalC8);
    FloatVector r8D = ONE.fma(totalD0, totalD8);
    FloatVector ab =
        r8A.blend(r8B.rearrange(ROTATE_4), UPPER_4)
            .add(r8A.rearrange(ROTATE_4).blend(r8B, UPPER_4));
    FloatVector cd =
        r8C.blend(r8D.rearrange(ROTATE_4), UPPER_4)
            .add(r8C.rearrange(ROTATE_4).blend(r8D, UPPER_4));
    FloatVector r2 =
        ab.blend(cd.rearrange(ROTATE_6), UPPER_2S).add(ab.rearrange(ROTATE_2).blend(cd, UPPER_2S));
    FloatVector r1 = r2.add(r2.rearrange(ROTATE_1)).add(0.0f);
    out[at] = r1.lane(0);
    out[Math.min(at + step, max)] = r1.lane(4);
    out[Math.min(at + 2 * step, max)] = r1.lane(2);
    out[Math.min(at + 3 * step, max)] = r1.lane(6);
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
    for (int i = 0; i < dim; i += 8) {
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
    for (int i = 0; i < dim; i += 8) {
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
    for (int i = 0; i < words; i += 4) {
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
