// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.Metric;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;

/**
 * Vectors that must never be stored: with components that are not finite, or of length zero under
 * cosine. The router refuses them long before; here they are the last line, and one in a batch
 * refuses the whole entry.
 */
final class VectorChecks {
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final int FLOAT32_EXPONENT = 0x7f80_0000;
  private static final int FLOAT16_EXPONENT = 0x7c00;
  private static final int BFLOAT16_EXPONENT = 0x7f80;
  private static final int SIGN16 = 0x8000;

  private VectorChecks() {}

  /** Checks every vector of a column; INVALID_ARGUMENT naming field, row and component. */
  static void check(VectorField field, FieldVector column) {
    int nulls = column.getNullCount();
    if (nulls > 0 && !field.nullable()) {
      throw SagittaException.invalid(
          "field " + Names.quote(field.name()) + " has rows without a vector and is not nullable");
    }
    MemorySegment data = data(column);
    for (int row = 0; row < column.getValueCount(); row++) {
      if (nulls == 0 || !column.isNull(row)) {
        checkRow(field, data, row);
      }
    }
  }

  private static void checkRow(VectorField field, MemorySegment data, int row) {
    int dimension = field.dimension();
    long at = (long) row * field.vectorBytes();
    boolean zero =
        switch (field.type()) {
          case FLOAT32 -> isZero32(field, data, at, dimension, row);
          case FLOAT16 -> isZero16(field, data, at, dimension, row, FLOAT16_EXPONENT);
          case BFLOAT16 -> isZero16(field, data, at, dimension, row, BFLOAT16_EXPONENT);
          case INT8, UINT8 -> isZeroBytes(data, at, dimension);
          case BINARY -> false;
        };
    if (zero && field.metric() == Metric.COSINE) {
      throw SagittaException.invalid(
          "row "
              + row
              + ", field "
              + Names.quote(field.name())
              + ": the vector is zero, which has no direction under metric cosine");
    }
  }

  /** One pass without branches; the component is looked for only where there is a bad one. */
  private static boolean isZero32(
      VectorField field, MemorySegment data, long at, int dimension, int row) {
    int any = 0;
    int largest = 0;
    for (int i = 0; i < dimension; i++) {
      int magnitude = data.get(INT, at + 4L * i) & Integer.MAX_VALUE;
      any |= magnitude;
      largest = Math.max(largest, magnitude);
    }
    if (largest >= FLOAT32_EXPONENT) {
      for (int i = 0; i < dimension; i++) {
        float value = Float.intBitsToFloat(data.get(INT, at + 4L * i));
        if (!Float.isFinite(value)) {
          throw notFinite(field, row, i, value);
        }
      }
    }
    return any == 0;
  }

  private static boolean isZero16(
      VectorField field, MemorySegment data, long at, int dimension, int row, int exponent) {
    int any = 0;
    for (int i = 0; i < dimension; i++) {
      int bits = Short.toUnsignedInt(data.get(SHORT, at + 2L * i));
      if ((bits & exponent) == exponent) {
        throw notFinite(
            field,
            row,
            i,
            exponent == FLOAT16_EXPONENT
                ? Float.float16ToFloat((short) bits)
                : Float.intBitsToFloat(bits << 16));
      }
      any |= bits & ~SIGN16;
    }
    return any == 0;
  }

  private static boolean isZeroBytes(MemorySegment data, long at, int dimension) {
    for (int i = 0; i < dimension; i++) {
      if (data.get(ValueLayout.JAVA_BYTE, at + i) != 0) {
        return false;
      }
    }
    return true;
  }

  private static MemorySegment data(FieldVector column) {
    ArrowBuf data =
        column instanceof FixedSizeListVector list
            ? list.getDataVector().getDataBuffer()
            : ((FixedSizeBinaryVector) column).getDataBuffer();
    return MemorySegment.ofAddress(data.memoryAddress()).reinterpret(data.capacity());
  }

  private static SagittaException notFinite(
      VectorField field, int row, int component, float value) {
    return SagittaException.invalid(
        "row "
            + row
            + ", field "
            + Names.quote(field.name())
            + ": component "
            + component
            + " is "
            + value
            + ", expected a finite number");
  }
}
