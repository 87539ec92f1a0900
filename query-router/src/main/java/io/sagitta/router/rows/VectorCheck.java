// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.sagitta.model.Metric;
import io.sagitta.model.VectorField;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Looks at one stored vector: finite, and not zero under cosine. One pass gives both answers, for
 * the largest of the components' bits without sign tells an infinity or NaN from a number and 0
 * from none: floats order as their bits do.
 */
abstract class VectorCheck {
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
  private static final int FLOAT32_INFINITY = 0x7f80_0000;
  private static final int FLOAT16_INFINITY = 0x7c00;
  private static final int BFLOAT16_INFINITY = 0x7f80;

  final int dimension;
  private final boolean direction;

  private VectorCheck(VectorField field) {
    dimension = field.dimension();
    direction = field.metric() == Metric.COSINE;
  }

  /** The check of a field's vectors; null where every bit pattern is a vector. */
  static VectorCheck of(VectorField field) {
    return switch (field.type()) {
      case FLOAT32 -> new Floats(field);
      case FLOAT16 -> new Halves(field, FLOAT16_INFINITY);
      case BFLOAT16 -> new Halves(field, BFLOAT16_INFINITY);
      case INT8, UINT8 -> field.metric() == Metric.COSINE ? new Bytes(field) : null;
      case BINARY -> field.dimension() % 8 == 0 ? null : new Padding(field);
    };
  }

  /** Fails unless the vector at {@code offset} is one. */
  abstract void check(MemorySegment data, long offset) throws BadValueException;

  final void checkNotZero(boolean zero) throws BadValueException {
    if (zero && direction) {
      throw new BadValueException("is a zero vector, which has no direction for metric cosine");
    }
  }

  static BadValueException notFinite(int component, float value) {
    return new BadValueException(
        "component " + component + " is " + value + ", expected a finite number");
  }

  private static final class Floats extends VectorCheck {
    private Floats(VectorField field) {
      super(field);
    }

    @Override
    void check(MemorySegment data, long offset) throws BadValueException {
      int largest = largest(data, offset, dimension);
      if (largest >= FLOAT32_INFINITY) {
        for (int i = 0; i < dimension; i++) {
          float value = data.get(JAVA_FLOAT_UNALIGNED, offset + ((long) i << 2));
          if (!Float.isFinite(value)) {
            throw notFinite(i, value);
          }
        }
      }
      checkNotZero(largest == 0);
    }

    private static int largest(MemorySegment data, long offset, int dimension) {
      IntVector lanes = IntVector.zero(INTS);
      int bound = INTS.loopBound(dimension);
      int i = 0;
      for (; i < bound; i += INTS.length()) {
        lanes =
            IntVector.fromMemorySegment(
                    INTS, data, offset + ((long) i << 2), ByteOrder.LITTLE_ENDIAN)
                .and(Integer.MAX_VALUE)
                .max(lanes);
      }
      int largest = lanes.reduceLanes(VectorOperators.MAX);
      for (; i < dimension; i++) {
        int bits = data.get(JAVA_INT_UNALIGNED, offset + ((long) i << 2)) & Integer.MAX_VALUE;
        largest = Math.max(largest, bits);
      }
      return largest;
    }
  }

  /** float16 and bfloat16. */
  private static final class Halves extends VectorCheck {
    private final int infinity;

    private Halves(VectorField field, int infinity) {
      super(field);
      this.infinity = infinity;
    }

    @Override
    void check(MemorySegment data, long offset) throws BadValueException {
      int largest = 0;
      for (int i = 0; i < dimension; i++) {
        largest = Math.max(largest, bits(data, offset, i) & 0x7fff);
      }
      for (int i = 0; largest >= infinity && i < dimension; i++) {
        int bits = bits(data, offset, i);
        if ((bits & 0x7fff) >= infinity) {
          throw notFinite(
              i,
              infinity == FLOAT16_INFINITY
                  ? Float.float16ToFloat((short) bits)
                  : Float.intBitsToFloat(bits << 16));
        }
      }
      checkNotZero(largest == 0);
    }

    private static int bits(MemorySegment data, long offset, int component) {
      return data.get(JAVA_SHORT_UNALIGNED, offset + ((long) component << 1));
    }
  }

  private static final class Bytes extends VectorCheck {
    private Bytes(VectorField field) {
      super(field);
    }

    @Override
    void check(MemorySegment data, long offset) throws BadValueException {
      int any = 0;
      for (int i = 0; i < dimension; i++) {
        any |= data.get(JAVA_BYTE, offset + i);
      }
      checkNotZero(any == 0);
    }
  }

  /** The bits after the last component are zero, or they would be counted as differing. */
  private static final class Padding extends VectorCheck {
    private Padding(VectorField field) {
      super(field);
    }

    @Override
    void check(MemorySegment data, long offset) throws BadValueException {
      int last = data.get(JAVA_BYTE, offset + (dimension >> 3)) & 0xff;
      if ((last & (0xff >> (dimension & 7))) != 0) {
        throw new BadValueException(
            "has bits set after its last of " + dimension + ", expected zeros there");
      }
    }
  }
}
