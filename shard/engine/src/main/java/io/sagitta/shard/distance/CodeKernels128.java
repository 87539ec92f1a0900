// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import static io.sagitta.shard.distance.CodeLayout.BLOCK_BYTES;
import static io.sagitta.shard.distance.CodeLayout.BLOCK_COMPONENTS;
import static io.sagitta.shard.distance.NativeMemory.ALL;
import static io.sagitta.shard.distance.NativeMemory.LE;
import static jdk.incubator.vector.VectorOperators.ADD;
import static jdk.incubator.vector.VectorOperators.ASHR;
import static jdk.incubator.vector.VectorOperators.BIT_COUNT;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LSHR;
import static jdk.incubator.vector.VectorOperators.XOR;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/** Four 128-bit registers a block. */
final class CodeKernels128 extends CodeKernels {
  private static final VectorSpecies<Short> S = ShortVector.SPECIES_128;
  private static final VectorSpecies<Integer> I = IntVector.SPECIES_128;
  private static final VectorSpecies<Long> L = LongVector.SPECIES_128;
  private static final VectorSpecies<Float> F = FloatVector.SPECIES_128;

  // Receivers whose class C2 knows: see RowKernels.
  private static final ShortVector ZERO_S = ShortVector.zero(S);
  private static final IntVector ZERO_I = IntVector.zero(I);
  private static final LongVector ZERO_L = LongVector.zero(L);

  private static final VectorShuffle<Float> SWAP_1 = VectorShuffle.fromOp(F, i -> i ^ 1);
  private static final VectorShuffle<Float> SWAP_2 = VectorShuffle.fromOp(F, i -> i ^ 2);
  private static final float[] SIGNS_1 = signs(1);
  private static final float[] SIGNS_2 = signs(2);

  @Override
  void products(
      long base, long stride, int[] ordinals, int count, short[] planes, int blocks, int[] out) {
    if (blocks == 1) {
      products(base, stride, ordinals, count, planes, out);
      return;
    }
    for (int i = 0; i < count; i++) {
      long row = base + ordinals[i] * stride;
      IntVector total = IntVector.zero(I);
      for (int chunk = 0; chunk < blocks; chunk += CHUNK_BLOCKS) {
        ShortVector sumA = ShortVector.zero(S);
        ShortVector sumB = ShortVector.zero(S);
        ShortVector sumC = ShortVector.zero(S);
        ShortVector sumD = ShortVector.zero(S);
        for (int block = chunk; block < Math.min(blocks, chunk + CHUNK_BLOCKS); block++) {
          long at = row + (long) block * BLOCK_BYTES;
          int q = block * BLOCK_COMPONENTS;
          ShortVector codesA = ShortVector.fromMemorySegment(S, ALL, at, LE);
          sumA =
              codesA
                  .and((short) 15)
                  .mul(ShortVector.fromArray(S, planes, q))
                  .add(
                      codesA
                          .lanewise(LSHR, 4)
                          .and((short) 15)
                          .mul(ShortVector.fromArray(S, planes, q + 32)))
                  .add(
                      codesA
                          .lanewise(LSHR, 8)
                          .and((short) 15)
                          .mul(ShortVector.fromArray(S, planes, q + 64))
                          .add(
                              codesA
                                  .lanewise(LSHR, 12)
                                  .mul(ShortVector.fromArray(S, planes, q + 96))))
                  .add(sumA);
          ShortVector codesB = ShortVector.fromMemorySegment(S, ALL, at + 16, LE);
          sumB =
              codesB
                  .and((short) 15)
                  .mul(ShortVector.fromArray(S, planes, q + 8))
                  .add(
                      codesB
                          .lanewise(LSHR, 4)
                          .and((short) 15)
                          .mul(ShortVector.fromArray(S, planes, q + 40)))
                  .add(
                      codesB
                          .lanewise(LSHR, 8)
                          .and((short) 15)
                          .mul(ShortVector.fromArray(S, planes, q + 72))
                          .add(
                              codesB
                                  .lanewise(LSHR, 12)
                                  .mul(ShortVector.fromArray(S, planes, q + 104))))
                  .add(sumB);
          ShortVector codesC = ShortVector.fromMemorySegment(S, ALL, at + 32, LE);
          sumC =
              codesC
                  .and((short) 15)
                  .mul(ShortVector.fromArray(S, planes, q + 16))
                  .add(
                      codesC
                          .lanewise(LSHR, 4)
                          .and((short) 15)
                          .mul(ShortVector.fromArray(S, planes, q + 48)))
                  .add(
                      codesC
                          .lanewise(LSHR, 8)
                          .and((short) 15)
                          .mul(ShortVector.fromArray(S, planes, q + 80))
                          .add(
                              codesC
                                  .lanewise(LSHR, 12)
                                  .mul(ShortVector.fromArray(S, planes, q + 112))))
                  .add(sumC);
          ShortVector codesD = ShortVector.fromMemorySegment(S, ALL, at + 48, LE);
          sumD =
              codesD
                  .and((short) 15)
                  .mul(ShortVector.fromArray(S, planes, q + 24))
                  .add(
                      codesD
                          .lanewise(LSHR, 4)
                          .and((short) 15)
                          .mul(ShortVector.fromArray(S, planes, q + 56)))
                  .add(
                      codesD
                          .lanewise(LSHR, 8)
                          .and((short) 15)
                          .mul(ShortVector.fromArray(S, planes, q + 88))
                          .add(
                              codesD
                                  .lanewise(LSHR, 12)
                                  .mul(ShortVector.fromArray(S, planes, q + 120))))
                  .add(sumD);
        }
        IntVector intsA = ZERO_S.add(sumA).reinterpretAsInts();
        IntVector intsB = ZERO_S.add(sumB).reinterpretAsInts();
        IntVector intsC = ZERO_S.add(sumC).reinterpretAsInts();
        IntVector intsD = ZERO_S.add(sumD).reinterpretAsInts();
        total =
            intsA.lanewise(LSHL, 16).lanewise(ASHR, 16).add(intsA.lanewise(ASHR, 16)).add(total);
        total =
            intsB.lanewise(LSHL, 16).lanewise(ASHR, 16).add(intsB.lanewise(ASHR, 16)).add(total);
        total =
            intsC.lanewise(LSHL, 16).lanewise(ASHR, 16).add(intsC.lanewise(ASHR, 16)).add(total);
        total =
            intsD.lanewise(LSHL, 16).lanewise(ASHR, 16).add(intsD.lanewise(ASHR, 16)).add(total);
      }
      out[i] = ZERO_I.add(total).reduceLanes(ADD);
    }
  }

  /** Rows of one block, up to 128 components: the query stays in registers. */
  private static void products(
      long base, long stride, int[] ordinals, int count, short[] planes, int[] out) {
    for (int i = 0; i < count; i++) {
      long row = base + ordinals[i] * stride;
      ShortVector codesA = ShortVector.fromMemorySegment(S, ALL, row, LE);
      ShortVector sumA =
          codesA
              .and((short) 15)
              .mul(ShortVector.fromArray(S, planes, 0))
              .add(
                  codesA
                      .lanewise(LSHR, 4)
                      .and((short) 15)
                      .mul(ShortVector.fromArray(S, planes, 32)))
              .add(
                  codesA
                      .lanewise(LSHR, 8)
                      .and((short) 15)
                      .mul(ShortVector.fromArray(S, planes, 64))
                      .add(codesA.lanewise(LSHR, 12).mul(ShortVector.fromArray(S, planes, 96))));
      ShortVector codesB = ShortVector.fromMemorySegment(S, ALL, row + 16, LE);
      ShortVector sumB =
          codesB
              .and((short) 15)
              .mul(ShortVector.fromArray(S, planes, 8))
              .add(
                  codesB
                      .lanewise(LSHR, 4)
                      .and((short) 15)
                      .mul(ShortVector.fromArray(S, planes, 40)))
              .add(
                  codesB
                      .lanewise(LSHR, 8)
                      .and((short) 15)
                      .mul(ShortVector.fromArray(S, planes, 72))
                      .add(codesB.lanewise(LSHR, 12).mul(ShortVector.fromArray(S, planes, 104))));
      ShortVector codesC = ShortVector.fromMemorySegment(S, ALL, row + 32, LE);
      ShortVector sumC =
          codesC
              .and((short) 15)
              .mul(ShortVector.fromArray(S, planes, 16))
              .add(
                  codesC
                      .lanewise(LSHR, 4)
                      .and((short) 15)
                      .mul(ShortVector.fromArray(S, planes, 48)))
              .add(
                  codesC
                      .lanewise(LSHR, 8)
                      .and((short) 15)
                      .mul(ShortVector.fromArray(S, planes, 80))
                      .add(codesC.lanewise(LSHR, 12).mul(ShortVector.fromArray(S, planes, 112))));
      ShortVector codesD = ShortVector.fromMemorySegment(S, ALL, row + 48, LE);
      ShortVector sumD =
          codesD
              .and((short) 15)
              .mul(ShortVector.fromArray(S, planes, 24))
              .add(
                  codesD
                      .lanewise(LSHR, 4)
                      .and((short) 15)
                      .mul(ShortVector.fromArray(S, planes, 56)))
              .add(
                  codesD
                      .lanewise(LSHR, 8)
                      .and((short) 15)
                      .mul(ShortVector.fromArray(S, planes, 88))
                      .add(codesD.lanewise(LSHR, 12).mul(ShortVector.fromArray(S, planes, 120))));
      IntVector total =
          sumA.reinterpretAsInts()
              .lanewise(LSHL, 16)
              .lanewise(ASHR, 16)
              .add(sumA.reinterpretAsInts().lanewise(ASHR, 16));
      total =
          total.add(
              sumB.reinterpretAsInts()
                  .lanewise(LSHL, 16)
                  .lanewise(ASHR, 16)
                  .add(sumB.reinterpretAsInts().lanewise(ASHR, 16)));
      total =
          total.add(
              sumC.reinterpretAsInts()
                  .lanewise(LSHL, 16)
                  .lanewise(ASHR, 16)
                  .add(sumC.reinterpretAsInts().lanewise(ASHR, 16)));
      total =
          total.add(
              sumD.reinterpretAsInts()
                  .lanewise(LSHL, 16)
                  .lanewise(ASHR, 16)
                  .add(sumD.reinterpretAsInts().lanewise(ASHR, 16)));
      out[i] = total.reduceLanes(ADD);
    }
  }

  @Override
  void differing(long base, long stride, int[] ordinals, int count, long[] bits, int[] out) {
    for (int i = 0; i < count; i++) {
      long row = base + ordinals[i] * stride;
      LongVector sum = LongVector.zero(L);
      for (int word = 0; word < bits.length; word += 2) {
        sum =
            LongVector.fromMemorySegment(L, ALL, row + 8L * word, LE)
                .lanewise(XOR, LongVector.fromArray(L, bits, word))
                .lanewise(BIT_COUNT)
                .add(sum);
      }
      out[i] = (int) ZERO_L.add(sum).reduceLanes(ADD);
    }
  }

  @Override
  int sumsAtLeast(long groups, byte[] entries, int runs, short threshold) {
    return ScanKernel.sumsAtLeast(groups, entries, runs, threshold);
  }

  @Override
  void unpack(long high, long low, short[] keep, short[] planes, int blocks) {
    for (int block = 0; block < blocks; block++) {
      long at = (long) block * BLOCK_BYTES;
      int q = block * BLOCK_COMPONENTS;
      for (int lane = 0; lane < CodeLayout.LANES; lane += 8, q += 8) {
        ShortVector highs = ShortVector.fromMemorySegment(S, ALL, high + at + 2L * lane, LE);
        ShortVector lows = ShortVector.fromMemorySegment(S, ALL, low + at + 2L * lane, LE);
        highs
            .lanewise(LSHL, 4)
            .and((short) 0xf0)
            .add(lows.and((short) 15))
            .sub((short) 128)
            .and(ShortVector.fromArray(S, keep, q))
            .intoArray(planes, q);
        highs
            .and((short) 0xf0)
            .add(lows.lanewise(LSHR, 4).and((short) 15))
            .sub((short) 128)
            .and(ShortVector.fromArray(S, keep, q + 32))
            .intoArray(planes, q + 32);
        highs
            .lanewise(LSHR, 4)
            .and((short) 0xf0)
            .add(lows.lanewise(LSHR, 8).and((short) 15))
            .sub((short) 128)
            .and(ShortVector.fromArray(S, keep, q + 64))
            .intoArray(planes, q + 64);
        highs
            .lanewise(LSHR, 8)
            .and((short) 0xf0)
            .add(lows.lanewise(LSHR, 12))
            .sub((short) 128)
            .and(ShortVector.fromArray(S, keep, q + 96))
            .intoArray(planes, q + 96);
      }
    }
  }

  @Override
  void hadamard(float[] values, int at, int width) {
    if (width < F.length()) {
      super.hadamard(values, at, width);
      return;
    }
    hadamardWithin(values, at, at + width);
    for (int half = F.length(); half < width; half *= 2) {
      for (int pair = at; pair < at + width; pair += 2 * half) {
        butterflies(values, pair, half);
      }
    }
  }

  /** The steps whose partners meet in one register. */
  private static void hadamardWithin(float[] values, int from, int to) {
    FloatVector signs1 = FloatVector.fromArray(F, SIGNS_1, 0);
    FloatVector signs2 = FloatVector.fromArray(F, SIGNS_2, 0);
    for (int i = from; i < to; i += F.length()) {
      FloatVector v = FloatVector.fromArray(F, values, i);
      v = v.mul(signs1).add(v.rearrange(SWAP_1));
      v = v.mul(signs2).add(v.rearrange(SWAP_2));
      v.intoArray(values, i);
    }
  }

  private static void butterflies(float[] values, int at, int half) {
    for (int i = at; i < at + half; i += F.length()) {
      FloatVector first = FloatVector.fromArray(F, values, i);
      FloatVector second = FloatVector.fromArray(F, values, i + half);
      first.add(second).intoArray(values, i);
      first.sub(second).intoArray(values, i + half);
    }
  }

  /** -1 for the second of each pair that is {@code half} lanes apart. */
  private static float[] signs(int half) {
    float[] signs = new float[F.length()];
    for (int i = 0; i < signs.length; i++) {
      signs[i] = (i & half) == 0 ? 1 : -1;
    }
    return signs;
  }
}
