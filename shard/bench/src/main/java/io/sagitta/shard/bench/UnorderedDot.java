// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.bench;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * A float32 dot product free to add in any order: the measure of what the canonical order costs,
 * and not fit for scores, since {@code reduceLanes} may add differently from one call to the next.
 * Two accumulators a row, four rows at a time, the remainder of a row in a scalar loop.
 */
final class UnorderedDot {
  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
  private static final ByteOrder LE = ByteOrder.LITTLE_ENDIAN;

  private UnorderedDot() {}

  /** Scores packed rows {@code [from, to)}, a multiple of four, to {@code out[0..]}. */
  static void score(MemorySegment memory, int dim, float[] query, int from, int to, float[] out) {
    long stride = 4L * dim;
    long at = memory.address() + from * stride;
    for (int i = 0; i < to - from; i += 4, at += 4 * stride) {
      four(at, stride, dim, query, out, i);
    }
  }

  private static void four(long a, long stride, int dim, float[] query, float[] out, int at) {
    long b = a + stride;
    long c = b + stride;
    long d = c + stride;
    FloatVector a0 = FloatVector.zero(F);
    FloatVector a1 = FloatVector.zero(F);
    FloatVector b0 = FloatVector.zero(F);
    FloatVector b1 = FloatVector.zero(F);
    FloatVector c0 = FloatVector.zero(F);
    FloatVector c1 = FloatVector.zero(F);
    FloatVector d0 = FloatVector.zero(F);
    FloatVector d1 = FloatVector.zero(F);
    int lanes = F.length();
    int i = 0;
    for (; i <= dim - 2 * lanes; i += 2 * lanes) {
      FloatVector q0 = FloatVector.fromArray(F, query, i);
      FloatVector q1 = FloatVector.fromArray(F, query, i + lanes);
      a0 = q0.fma(FloatVector.fromMemorySegment(F, ALL, a + 4L * i, LE), a0);
      a1 = q1.fma(FloatVector.fromMemorySegment(F, ALL, a + 4L * (i + lanes), LE), a1);
      b0 = q0.fma(FloatVector.fromMemorySegment(F, ALL, b + 4L * i, LE), b0);
      b1 = q1.fma(FloatVector.fromMemorySegment(F, ALL, b + 4L * (i + lanes), LE), b1);
      c0 = q0.fma(FloatVector.fromMemorySegment(F, ALL, c + 4L * i, LE), c0);
      c1 = q1.fma(FloatVector.fromMemorySegment(F, ALL, c + 4L * (i + lanes), LE), c1);
      d0 = q0.fma(FloatVector.fromMemorySegment(F, ALL, d + 4L * i, LE), d0);
      d1 = q1.fma(FloatVector.fromMemorySegment(F, ALL, d + 4L * (i + lanes), LE), d1);
    }
    float sumA = a0.add(a1).reduceLanes(VectorOperators.ADD);
    float sumB = b0.add(b1).reduceLanes(VectorOperators.ADD);
    float sumC = c0.add(c1).reduceLanes(VectorOperators.ADD);
    float sumD = d0.add(d1).reduceLanes(VectorOperators.ADD);
    for (; i < dim; i++) {
      sumA = Math.fma(query[i], floatAt(a + 4L * i), sumA);
      sumB = Math.fma(query[i], floatAt(b + 4L * i), sumB);
      sumC = Math.fma(query[i], floatAt(c + 4L * i), sumC);
      sumD = Math.fma(query[i], floatAt(d + 4L * i), sumD);
    }
    out[at] = sumA;
    out[at + 1] = sumB;
    out[at + 2] = sumC;
    out[at + 3] = sumD;
  }

  private static float floatAt(long address) {
    return ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, address);
  }
}
