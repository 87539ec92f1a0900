// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.sagitta.model.VectorType;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.pojo.ArrowType;

/**
 * How the components of a vector get from the items of a list into the stored type.
 *
 * <table>
 *   <caption>Accepted items</caption>
 *   <tr><td>float32</td><td>float32 as it is; float16 exactly; float64 rounded</td></tr>
 *   <tr><td>float16</td><td>float16 as it is; float32, float64 rounded</td></tr>
 *   <tr><td>bfloat16</td><td>fixed_size_binary(2) and uint16 as they are; float16, 32, 64 rounded</td></tr>
 *   <tr><td>int8, uint8</td><td>the same type</td></tr>
 *   <tr><td>binary</td><td>bool; uint8 of 0 and 1, one a bit</td></tr>
 * </table>
 *
 * <p>Rounding is to nearest, ties to even, once, from the value sent: 65519.99 becomes the float16
 * 65504. A finite value that rounds to infinity is refused, as 65520 is for float16.
 */
enum Components {
  /** Equal bytes. */
  BYTES {
    @Override
    void copy(FieldVector from, long start, int dimension, MemorySegment to, long offset) {
      MemorySegment source = Memory.of(from.getDataBuffer());
      long width = ((BaseFixedWidthVector) from).getTypeWidth();
      MemorySegment.copy(source, start * width, to, offset, dimension * width);
    }
  },
  HALF_TO_FLOAT32 {
    @Override
    void copy(FieldVector from, long start, int dimension, MemorySegment to, long offset) {
      MemorySegment source = Memory.of(from.getDataBuffer());
      for (int i = 0; i < dimension; i++) {
        float value = Float.float16ToFloat(source.get(JAVA_SHORT_UNALIGNED, (start + i) << 1));
        to.set(JAVA_FLOAT_UNALIGNED, offset + ((long) i << 2), value);
      }
    }
  },
  DOUBLE_TO_FLOAT32 {
    @Override
    void copy(FieldVector from, long start, int dimension, MemorySegment to, long offset)
        throws BadValueException {
      MemorySegment source = Memory.of(from.getDataBuffer());
      for (int i = 0; i < dimension; i++) {
        double value = source.get(JAVA_DOUBLE_UNALIGNED, (start + i) << 3);
        float rounded = (float) value;
        if (Float.isInfinite(rounded) && !Double.isInfinite(value)) {
          throw overflow(i, value, "float32", Float.MAX_VALUE);
        }
        to.set(JAVA_FLOAT_UNALIGNED, offset + ((long) i << 2), rounded);
      }
    }
  },
  FLOAT_TO_HALF {
    @Override
    void copy(FieldVector from, long start, int dimension, MemorySegment to, long offset)
        throws BadValueException {
      MemorySegment source = Memory.of(from.getDataBuffer());
      for (int i = 0; i < dimension; i++) {
        float value = source.get(JAVA_FLOAT_UNALIGNED, (start + i) << 2);
        to.set(JAVA_SHORT_UNALIGNED, offset + ((long) i << 1), toHalf(i, value, value));
      }
    }
  },
  DOUBLE_TO_HALF {
    @Override
    void copy(FieldVector from, long start, int dimension, MemorySegment to, long offset)
        throws BadValueException {
      MemorySegment source = Memory.of(from.getDataBuffer());
      for (int i = 0; i < dimension; i++) {
        double value = source.get(JAVA_DOUBLE_UNALIGNED, (start + i) << 3);
        short half = toHalf(i, roundToOdd(value), value);
        to.set(JAVA_SHORT_UNALIGNED, offset + ((long) i << 1), half);
      }
    }
  },
  HALF_TO_BFLOAT {
    @Override
    void copy(FieldVector from, long start, int dimension, MemorySegment to, long offset)
        throws BadValueException {
      MemorySegment source = Memory.of(from.getDataBuffer());
      for (int i = 0; i < dimension; i++) {
        float value = Float.float16ToFloat(source.get(JAVA_SHORT_UNALIGNED, (start + i) << 1));
        to.set(JAVA_SHORT_UNALIGNED, offset + ((long) i << 1), toBfloat(i, value, value));
      }
    }
  },
  FLOAT_TO_BFLOAT {
    @Override
    void copy(FieldVector from, long start, int dimension, MemorySegment to, long offset)
        throws BadValueException {
      MemorySegment source = Memory.of(from.getDataBuffer());
      for (int i = 0; i < dimension; i++) {
        float value = source.get(JAVA_FLOAT_UNALIGNED, (start + i) << 2);
        to.set(JAVA_SHORT_UNALIGNED, offset + ((long) i << 1), toBfloat(i, value, value));
      }
    }
  },
  DOUBLE_TO_BFLOAT {
    @Override
    void copy(FieldVector from, long start, int dimension, MemorySegment to, long offset)
        throws BadValueException {
      MemorySegment source = Memory.of(from.getDataBuffer());
      for (int i = 0; i < dimension; i++) {
        double value = source.get(JAVA_DOUBLE_UNALIGNED, (start + i) << 3);
        short bfloat = toBfloat(i, roundToOdd(value), value);
        to.set(JAVA_SHORT_UNALIGNED, offset + ((long) i << 1), bfloat);
      }
    }
  },
  BOOL_TO_BITS {
    @Override
    void copy(FieldVector from, long start, int dimension, MemorySegment to, long offset) {
      for (int i = 0; i < dimension; i++) {
        setBit(to, offset, i, ((BitVector) from).get((int) (start + i)));
      }
    }
  },
  UINT8_TO_BITS {
    @Override
    void copy(FieldVector from, long start, int dimension, MemorySegment to, long offset)
        throws BadValueException {
      MemorySegment source = Memory.of(from.getDataBuffer());
      for (int i = 0; i < dimension; i++) {
        int bit = source.get(JAVA_BYTE, start + i) & 0xff;
        if (bit > 1) {
          throw new BadValueException("component " + i + " is " + bit + ", expected 0 or 1");
        }
        setBit(to, offset, i, bit);
      }
    }
  };

  /** The conversion from items of a type to stored components, if it is accepted. */
  static Optional<Components> find(VectorType stored, ArrowType item) {
    return Optional.ofNullable(
        switch (stored) {
          case FLOAT32 -> byPrecision(item, HALF_TO_FLOAT32, BYTES, DOUBLE_TO_FLOAT32);
          case FLOAT16 -> byPrecision(item, BYTES, FLOAT_TO_HALF, DOUBLE_TO_HALF);
          case BFLOAT16 ->
              item.equals(new ArrowType.FixedSizeBinary(2))
                      || item.equals(new ArrowType.Int(16, false))
                  ? BYTES
                  : byPrecision(item, HALF_TO_BFLOAT, FLOAT_TO_BFLOAT, DOUBLE_TO_BFLOAT);
          case INT8 -> item.equals(new ArrowType.Int(8, true)) ? BYTES : null;
          case UINT8 -> item.equals(new ArrowType.Int(8, false)) ? BYTES : null;
          case BINARY ->
              item instanceof ArrowType.Bool
                  ? BOOL_TO_BITS
                  : item.equals(new ArrowType.Int(8, false)) ? UINT8_TO_BITS : null;
        });
  }

  /** Whether the items lie in memory as the stored components do. */
  boolean sameBytes() {
    return this == BYTES;
  }

  /**
   * Copies one vector.
   *
   * @param from the items, none of those read being null
   * @param start the first of them
   * @param to where to, zeroed
   * @param offset byte in {@code to} of the vector's first component
   */
  abstract void copy(FieldVector from, long start, int dimension, MemorySegment to, long offset)
      throws BadValueException;

  private static Components byPrecision(
      ArrowType item, Components half, Components single, Components twice) {
    if (!(item instanceof ArrowType.FloatingPoint type)) {
      return null;
    }
    FloatingPointPrecision precision = type.getPrecision();
    return switch (precision) {
      case HALF -> half;
      case SINGLE -> single;
      case DOUBLE -> twice;
    };
  }

  /**
   * A float of the double's value with the lowest bit set where bits were lost. Rounding that to
   * fewer bits to nearest even gives what rounding the double itself would (Boldo and Melquiond,
   * 2008); rounding twice to nearest would not.
   */
  static float roundToOdd(double value) {
    float near = (float) value;
    if (near == value || Float.isNaN(near)) {
      return near;
    }
    int bits = Float.floatToRawIntBits(near);
    boolean away = Math.abs((double) near) > Math.abs(value);
    return Float.intBitsToFloat((away ? bits - 1 : bits) | 1);
  }

  static short toHalf(int component, float value, double sent) throws BadValueException {
    short half = Float.floatToFloat16(value);
    if ((half & 0x7fff) == 0x7c00 && Double.isFinite(sent)) {
      throw overflow(component, sent, "float16", 65504);
    }
    return half;
  }

  static short toBfloat(int component, float value, double sent) throws BadValueException {
    int bits = Float.floatToRawIntBits(value);
    if (Float.isNaN(value)) {
      return (short) ((bits >>> 16) | 0x40);
    }
    int rounded = (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
    if ((rounded & 0x7fff) == 0x7f80 && Double.isFinite(sent)) {
      throw overflow(component, sent, "bfloat16", 0x1.FEp127);
    }
    return (short) rounded;
  }

  private static BadValueException overflow(int component, double sent, String type, double max) {
    return new BadValueException(
        "component %d is %s, out of range for %s (at most %s)"
            .formatted(component, sent, type, max));
  }

  private static void setBit(MemorySegment to, long offset, int component, int bit) {
    long at = offset + (component >> 3);
    byte bits = to.get(JAVA_BYTE, at);
    to.set(JAVA_BYTE, at, (byte) (bits | bit << (7 - (component & 7))));
  }
}
