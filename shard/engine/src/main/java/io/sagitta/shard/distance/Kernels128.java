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
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/**
 * The canonical arithmetic with four 128-bit registers a row (Neon, old x86), one row after the
 * other: four accumulators are chains enough. Differs from its siblings in width only; {@link
 * RowKernels} says why everything is spelled out.
 */
final class Kernels128 extends RowKernels {
  private static final VectorSpecies<Float> F = FloatVector.SPECIES_128;
  private static final VectorSpecies<Integer> I = IntVector.SPECIES_128;
  private static final VectorSpecies<Short> S = ShortVector.SPECIES_64;
  private static final VectorSpecies<Byte> B = ByteVector.SPECIES_64;
  private static final VectorSpecies<Long> L = LongVector.SPECIES_128;

  // Receivers whose class C2 knows: see RowKernels.
  private static final FloatVector ONE = FloatVector.broadcast(F, 1);
  private static final IntVector ZERO_I = IntVector.zero(I);
  private static final LongVector ZERO_L = LongVector.zero(L);

  private static final VectorShuffle<Float> ROTATE_1 = VectorShuffle.iota(F, 1, 1, true);
  private static final VectorShuffle<Float> ROTATE_2 = VectorShuffle.iota(F, 2, 1, true);

  @Override
  String name() {
    return "vector-128";
  }

  @Override
  CodeKernels codes() {
    return new CodeKernels128();
  }

  @Override
  void dotFloat32(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = dotFloat32(a, query);
    out[Math.min(at + step, max)] = dotFloat32(b, query);
    out[Math.min(at + 2 * step, max)] = dotFloat32(c, query);
    out[Math.min(at + 3 * step, max)] = dotFloat32(d, query);
  }

  @Override
  void squareFloat32(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = squareFloat32(a, query);
    out[Math.min(at + step, max)] = squareFloat32(b, query);
    out[Math.min(at + 2 * step, max)] = squareFloat32(c, query);
    out[Math.min(at + 3 * step, max)] = squareFloat32(d, query);
  }

  @Override
  void dotFloat16(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = dotFloat16(a, query);
    out[Math.min(at + step, max)] = dotFloat16(b, query);
    out[Math.min(at + 2 * step, max)] = dotFloat16(c, query);
    out[Math.min(at + 3 * step, max)] = dotFloat16(d, query);
  }

  @Override
  void squareFloat16(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = squareFloat16(a, query);
    out[Math.min(at + step, max)] = squareFloat16(b, query);
    out[Math.min(at + 2 * step, max)] = squareFloat16(c, query);
    out[Math.min(at + 3 * step, max)] = squareFloat16(d, query);
  }

  @Override
  void dotInt8Float(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = dotInt8Float(a, query);
    out[Math.min(at + step, max)] = dotInt8Float(b, query);
    out[Math.min(at + 2 * step, max)] = dotInt8Float(c, query);
    out[Math.min(at + 3 * step, max)] = dotInt8Float(d, query);
  }

  @Override
  void squareInt8Float(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    out[at] = squareInt8Float(a, query);
    out[Math.min(at + step, max)] = squareInt8Float(b, query);
    out[Math.min(at + 2 * step, max)] = squareInt8Float(c, query);
    out[Math.min(at + 3 * step, max)] = squareInt8Float(d, query);
  }

  @Override
  void dotInt8(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max) {
    dotInt8Pair(a, b, query, out, at, Math.min(at + step, max));
    dotInt8Pair(c, d, query, out, Math.min(at + 2 * step, max), Math.min(at + 3 * step, max));
  }

  // Two rows a loop: with four, 128-bit loads were seen to exceed what C2 inlines into one method
  // in
  // some runs, and what it does not inline puts a vector on the heap each time round.
  private static void dotInt8Pair(
      long a, long b, PreparedQuery query, float[] out, int atA, int atB) {
    int[] components = query.ints;
    int[] keep = query.keep;
    int dim = query.dimension();
    IntVector sumA = IntVector.zero(I);
    IntVector sumB = IntVector.zero(I);
    for (int i = 0; i < dim; i += 4) {
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
    }
    out[atA] = ZERO_I.add(sumA).reduceLanes(ADD);
    out[atB] = ZERO_I.add(sumB).reduceLanes(ADD);
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
    for (int i = 0; i < dim; i += 4) {
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
    for (int i = 0; i < words; i += 2) {
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

  private static float dotFloat32(long row, PreparedQuery query) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int dim = query.dimension();
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total4 = FloatVector.zero(F);
    FloatVector total8 = FloatVector.zero(F);
    FloatVector total12 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum4 = FloatVector.zero(F);
      FloatVector sum8 = FloatVector.zero(F);
      FloatVector sum12 = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q0 = FloatVector.fromArray(F, components, i);
        IntVector mask0 = IntVector.fromArray(I, keep, i);
        FloatVector q4 = FloatVector.fromArray(F, components, i + 4);
        IntVector mask4 = IntVector.fromArray(I, keep, i + 4);
        FloatVector q8 = FloatVector.fromArray(F, components, i + 8);
        IntVector mask8 = IntVector.fromArray(I, keep, i + 8);
        FloatVector q12 = FloatVector.fromArray(F, components, i + 12);
        IntVector mask12 = IntVector.fromArray(I, keep, i + 12);
        sum0 =
            q0.fma(
                IntVector.fromMemorySegment(I, ALL, row + 4L * i, LE)
                    .and(mask0)
                    .reinterpretAsFloats(),
                sum0);
        sum4 =
            q4.fma(
                IntVector.fromMemorySegment(I, ALL, row + 4L * (i + 4), LE)
                    .and(mask4)
                    .reinterpretAsFloats(),
                sum4);
        sum8 =
            q8.fma(
                IntVector.fromMemorySegment(I, ALL, row + 4L * (i + 8), LE)
                    .and(mask8)
                    .reinterpretAsFloats(),
                sum8);
        sum12 =
            q12.fma(
                IntVector.fromMemorySegment(I, ALL, row + 4L * (i + 12), LE)
                    .and(mask12)
                    .reinterpretAsFloats(),
                sum12);
      }
      total0 = ONE.fma(sum0, total0);
      total4 = ONE.fma(sum4, total4);
      total8 = ONE.fma(sum8, total8);
      total12 = ONE.fma(sum12, total12);
    }
    FloatVector r4 = ONE.fma(total0, total8).add(ONE.fma(total4, total12));
    FloatVector r2 = r4.add(r4.rearrange(ROTATE_2));
    return r2.add(r2.rearrange(ROTATE_1)).add(0.0f).lane(0);
  }

  private static float squareFloat32(long row, PreparedQuery query) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int dim = query.dimension();
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total4 = FloatVector.zero(F);
    FloatVector total8 = FloatVector.zero(F);
    FloatVector total12 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum4 = FloatVector.zero(F);
      FloatVector sum8 = FloatVector.zero(F);
      FloatVector sum12 = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q0 = FloatVector.fromArray(F, components, i);
        IntVector mask0 = IntVector.fromArray(I, keep, i);
        FloatVector q4 = FloatVector.fromArray(F, components, i + 4);
        IntVector mask4 = IntVector.fromArray(I, keep, i + 4);
        FloatVector q8 = FloatVector.fromArray(F, components, i + 8);
        IntVector mask8 = IntVector.fromArray(I, keep, i + 8);
        FloatVector q12 = FloatVector.fromArray(F, components, i + 12);
        IntVector mask12 = IntVector.fromArray(I, keep, i + 12);
        FloatVector difference0 =
            q0.sub(
                IntVector.fromMemorySegment(I, ALL, row + 4L * i, LE)
                    .and(mask0)
                    .reinterpretAsFloats());
        sum0 = difference0.fma(difference0, sum0);
        FloatVector difference4 =
            q4.sub(
                IntVector.fromMemorySegment(I, ALL, row + 4L * (i + 4), LE)
                    .and(mask4)
                    .reinterpretAsFloats());
        sum4 = difference4.fma(difference4, sum4);
        FloatVector difference8 =
            q8.sub(
                IntVector.fromMemorySegment(I, ALL, row + 4L * (i + 8), LE)
                    .and(mask8)
                    .reinterpretAsFloats());
        sum8 = difference8.fma(difference8, sum8);
        FloatVector difference12 =
            q12.sub(
                IntVector.fromMemorySegment(I, ALL, row + 4L * (i + 12), LE)
                    .and(mask12)
                    .reinterpretAsFloats());
        sum12 = difference12.fma(difference12, sum12);
      }
      total0 = ONE.fma(sum0, total0);
      total4 = ONE.fma(sum4, total4);
      total8 = ONE.fma(sum8, total8);
      total12 = ONE.fma(sum12, total12);
    }
    FloatVector r4 = ONE.fma(total0, total8).add(ONE.fma(total4, total12));
    FloatVector r2 = r4.add(r4.rearrange(ROTATE_2));
    return r2.add(r2.rearrange(ROTATE_1)).add(0.0f).lane(0);
  }

  private static float dotFloat16(long row, PreparedQuery query) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int shift = query.shift;
    float scale = query.scale;
    int dim = query.dimension();
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total4 = FloatVector.zero(F);
    FloatVector total8 = FloatVector.zero(F);
    FloatVector total12 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum4 = FloatVector.zero(F);
      FloatVector sum8 = FloatVector.zero(F);
      FloatVector sum12 = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q0 = FloatVector.fromArray(F, components, i);
        IntVector mask0 = IntVector.fromArray(I, keep, i);
        FloatVector q4 = FloatVector.fromArray(F, components, i + 4);
        IntVector mask4 = IntVector.fromArray(I, keep, i + 4);
        FloatVector q8 = FloatVector.fromArray(F, components, i + 8);
        IntVector mask8 = IntVector.fromArray(I, keep, i + 8);
        FloatVector q12 = FloatVector.fromArray(F, components, i + 12);
        IntVector mask12 = IntVector.fromArray(I, keep, i + 12);
        sum0 =
            q0.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, row + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask0)
                    .reinterpretAsFloats()
                    .mul(scale),
                sum0);
        sum4 =
            q4.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, row + 2L * (i + 4), LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask4)
                    .reinterpretAsFloats()
                    .mul(scale),
                sum4);
        sum8 =
            q8.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, row + 2L * (i + 8), LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask8)
                    .reinterpretAsFloats()
                    .mul(scale),
                sum8);
        sum12 =
            q12.fma(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, row + 2L * (i + 12), LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask12)
                    .reinterpretAsFloats()
                    .mul(scale),
                sum12);
      }
      total0 = ONE.fma(sum0, total0);
      total4 = ONE.fma(sum4, total4);
      total8 = ONE.fma(sum8, total8);
      total12 = ONE.fma(sum12, total12);
    }
    FloatVector r4 = ONE.fma(total0, total8).add(ONE.fma(total4, total12));
    FloatVector r2 = r4.add(r4.rearrange(ROTATE_2));
    return r2.add(r2.rearrange(ROTATE_1)).add(0.0f).lane(0);
  }

  private static float squareFloat16(long row, PreparedQuery query) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int shift = query.shift;
    float scale = query.scale;
    int dim = query.dimension();
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total4 = FloatVector.zero(F);
    FloatVector total8 = FloatVector.zero(F);
    FloatVector total12 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum4 = FloatVector.zero(F);
      FloatVector sum8 = FloatVector.zero(F);
      FloatVector sum12 = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q0 = FloatVector.fromArray(F, components, i);
        IntVector mask0 = IntVector.fromArray(I, keep, i);
        FloatVector q4 = FloatVector.fromArray(F, components, i + 4);
        IntVector mask4 = IntVector.fromArray(I, keep, i + 4);
        FloatVector q8 = FloatVector.fromArray(F, components, i + 8);
        IntVector mask8 = IntVector.fromArray(I, keep, i + 8);
        FloatVector q12 = FloatVector.fromArray(F, components, i + 12);
        IntVector mask12 = IntVector.fromArray(I, keep, i + 12);
        FloatVector difference0 =
            q0.sub(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, row + 2L * i, LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask0)
                    .reinterpretAsFloats()
                    .mul(scale));
        sum0 = difference0.fma(difference0, sum0);
        FloatVector difference4 =
            q4.sub(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, row + 2L * (i + 4), LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask4)
                    .reinterpretAsFloats()
                    .mul(scale));
        sum4 = difference4.fma(difference4, sum4);
        FloatVector difference8 =
            q8.sub(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, row + 2L * (i + 8), LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask8)
                    .reinterpretAsFloats()
                    .mul(scale));
        sum8 = difference8.fma(difference8, sum8);
        FloatVector difference12 =
            q12.sub(
                ((IntVector)
                        ShortVector.fromMemorySegment(S, ALL, row + 2L * (i + 12), LE)
                            .convertShape(S2I, I, 0))
                    .lanewise(LSHL, shift)
                    .and(mask12)
                    .reinterpretAsFloats()
                    .mul(scale));
        sum12 = difference12.fma(difference12, sum12);
      }
      total0 = ONE.fma(sum0, total0);
      total4 = ONE.fma(sum4, total4);
      total8 = ONE.fma(sum8, total8);
      total12 = ONE.fma(sum12, total12);
    }
    FloatVector r4 = ONE.fma(total0, total8).add(ONE.fma(total4, total12));
    FloatVector r2 = r4.add(r4.rearrange(ROTATE_2));
    return r2.add(r2.rearrange(ROTATE_1)).add(0.0f).lane(0);
  }

  private static float dotInt8Float(long row, PreparedQuery query) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int dim = query.dimension();
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total4 = FloatVector.zero(F);
    FloatVector total8 = FloatVector.zero(F);
    FloatVector total12 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum4 = FloatVector.zero(F);
      FloatVector sum8 = FloatVector.zero(F);
      FloatVector sum12 = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q0 = FloatVector.fromArray(F, components, i);
        IntVector mask0 = IntVector.fromArray(I, keep, i);
        FloatVector q4 = FloatVector.fromArray(F, components, i + 4);
        IntVector mask4 = IntVector.fromArray(I, keep, i + 4);
        FloatVector q8 = FloatVector.fromArray(F, components, i + 8);
        IntVector mask8 = IntVector.fromArray(I, keep, i + 8);
        FloatVector q12 = FloatVector.fromArray(F, components, i + 12);
        IntVector mask12 = IntVector.fromArray(I, keep, i + 12);
        sum0 =
            q0.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, row + i, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask0)
                        .convertShape(I2F, F, 0),
                sum0);
        sum4 =
            q4.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, row + i + 4, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask4)
                        .convertShape(I2F, F, 0),
                sum4);
        sum8 =
            q8.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, row + i + 8, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask8)
                        .convertShape(I2F, F, 0),
                sum8);
        sum12 =
            q12.fma(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, row + i + 12, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask12)
                        .convertShape(I2F, F, 0),
                sum12);
      }
      total0 = ONE.fma(sum0, total0);
      total4 = ONE.fma(sum4, total4);
      total8 = ONE.fma(sum8, total8);
      total12 = ONE.fma(sum12, total12);
    }
    FloatVector r4 = ONE.fma(total0, total8).add(ONE.fma(total4, total12));
    FloatVector r2 = r4.add(r4.rearrange(ROTATE_2));
    return r2.add(r2.rearrange(ROTATE_1)).add(0.0f).lane(0);
  }

  private static float squareInt8Float(long row, PreparedQuery query) {
    float[] components = query.floats;
    int[] keep = query.keep;
    int dim = query.dimension();
    FloatVector total0 = FloatVector.zero(F);
    FloatVector total4 = FloatVector.zero(F);
    FloatVector total8 = FloatVector.zero(F);
    FloatVector total12 = FloatVector.zero(F);
    for (int chunk = 0; chunk < dim; chunk += CHUNK) {
      FloatVector sum0 = FloatVector.zero(F);
      FloatVector sum4 = FloatVector.zero(F);
      FloatVector sum8 = FloatVector.zero(F);
      FloatVector sum12 = FloatVector.zero(F);
      for (int i = chunk; i < Math.min(dim, chunk + CHUNK); i += LANES) {
        FloatVector q0 = FloatVector.fromArray(F, components, i);
        IntVector mask0 = IntVector.fromArray(I, keep, i);
        FloatVector q4 = FloatVector.fromArray(F, components, i + 4);
        IntVector mask4 = IntVector.fromArray(I, keep, i + 4);
        FloatVector q8 = FloatVector.fromArray(F, components, i + 8);
        IntVector mask8 = IntVector.fromArray(I, keep, i + 8);
        FloatVector q12 = FloatVector.fromArray(F, components, i + 12);
        IntVector mask12 = IntVector.fromArray(I, keep, i + 12);
        FloatVector difference0 =
            q0.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, row + i, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask0)
                        .convertShape(I2F, F, 0));
        sum0 = difference0.fma(difference0, sum0);
        FloatVector difference4 =
            q4.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, row + i + 4, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask4)
                        .convertShape(I2F, F, 0));
        sum4 = difference4.fma(difference4, sum4);
        FloatVector difference8 =
            q8.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, row + i + 8, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask8)
                        .convertShape(I2F, F, 0));
        sum8 = difference8.fma(difference8, sum8);
        FloatVector difference12 =
            q12.sub(
                (FloatVector)
                    ((IntVector)
                            ByteVector.fromMemorySegment(B, ALL, row + i + 12, LE)
                                .convertShape(B2I, I, 0))
                        .and(mask12)
                        .convertShape(I2F, F, 0));
        sum12 = difference12.fma(difference12, sum12);
      }
      total0 = ONE.fma(sum0, total0);
      total4 = ONE.fma(sum4, total4);
      total8 = ONE.fma(sum8, total8);
      total12 = ONE.fma(sum12, total12);
    }
    FloatVector r4 = ONE.fma(total0, total8).add(ONE.fma(total4, total12));
    FloatVector r2 = r4.add(r4.rearrange(ROTATE_2));
    return r2.add(r2.rearrange(ROTATE_1)).add(0.0f).lane(0);
  }
}
