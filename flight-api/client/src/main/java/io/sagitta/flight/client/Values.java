// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import io.sagitta.model.PointId;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.arrow.memory.util.Float16;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.ExtensionTypeVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.Float2Vector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.UInt1Vector;
import org.apache.arrow.vector.UInt2Vector;
import org.apache.arrow.vector.UInt4Vector;
import org.apache.arrow.vector.UInt8Vector;
import org.apache.arrow.vector.ValueVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Values of answers as plain Java. Numbers keep their type (unsigned ones widen: uint8 and uint16
 * to Integer, uint32 to Long, uint64 to Long or BigInteger); text and json are String, binary is
 * byte[], uuid UUID, date LocalDate, timestamp Instant, geo a Map with lat and lon, lists List; a
 * float vector is float[], a vector of another type a List or byte[].
 */
public final class Values {
  private static final String TYPE = "sagitta.type";
  private static final String EXTENSION = "ARROW:extension:name";

  private Values() {}

  /** The value of a row, or null. */
  public static Object get(ValueVector vector, int row) {
    if (vector.isNull(row)) {
      return null;
    }
    return switch (vector) {
      case ExtensionTypeVector<?> extension -> storage(extension, row);
      case UInt1Vector numbers -> numbers.get(row) & 0xff;
      case UInt2Vector numbers -> (int) numbers.get(row);
      case UInt4Vector numbers -> Integer.toUnsignedLong(numbers.get(row));
      case UInt8Vector numbers -> unsigned(numbers.get(row));
      case VarCharVector texts -> texts.getObject(row).toString();
      case DateDayVector days -> LocalDate.ofEpochDay(days.get(row));
      case TimeStampVector times -> Instant.EPOCH.plus(times.get(row), ChronoUnit.MICROS);
      case FixedSizeBinaryVector bytes -> isUuid(bytes) ? uuid(bytes.get(row)) : bytes.get(row);
      case FixedSizeListVector list -> vector(list, row);
      case ListVector list ->
          list(list.getDataVector(), list.getElementStartIndex(row), list.getElementEndIndex(row));
      case StructVector struct -> struct(struct, row);
      default -> vector.getObject(row);
    };
  }

  private static Object storage(ExtensionTypeVector<?> extension, int row) {
    Object stored = get(extension.getUnderlyingVector(), row);
    return stored instanceof byte[] bytes && bytes.length == 16 ? uuid(bytes) : stored;
  }

  private static Number unsigned(long bits) {
    return bits >= 0 ? (Number) bits : new BigInteger(Long.toUnsignedString(bits));
  }

  private static boolean isUuid(FieldVector vector) {
    Map<String, String> metadata = vector.getField().getMetadata();
    return "arrow.uuid".equals(metadata.get(EXTENSION)) || "uuid".equals(metadata.get(TYPE));
  }

  static UUID uuid(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    return new UUID(in.getLong(), in.getLong());
  }

  private static Object vector(FixedSizeListVector list, int row) {
    int from = list.getElementStartIndex(row);
    int to = list.getElementEndIndex(row);
    return switch (list.getDataVector()) {
      case Float4Vector floats -> {
        float[] values = new float[to - from];
        for (int i = from; i < to; i++) {
          values[i - from] = floats.get(i);
        }
        yield values;
      }
      case Float2Vector halves -> {
        float[] values = new float[to - from];
        for (int i = from; i < to; i++) {
          values[i - from] = Float16.toFloat(halves.get(i));
        }
        yield values;
      }
      case ValueVector other -> list(other, from, to);
    };
  }

  private static List<Object> list(ValueVector elements, int from, int to) {
    List<Object> values = new ArrayList<>(to - from);
    for (int i = from; i < to; i++) {
      values.add(get(elements, i));
    }
    return values;
  }

  private static Map<String, Object> struct(StructVector struct, int row) {
    Map<String, Object> values = new LinkedHashMap<>();
    for (FieldVector child : struct.getChildrenFromFields()) {
      values.put(child.getName(), get(child, row));
    }
    return values;
  }

  /** The id of a row. */
  static PointId id(ValueVector ids, int row) {
    return switch (get(ids, row)) {
      case Long number -> new PointId.Int64(number);
      case String text -> new PointId.Utf8(text);
      case UUID uuid -> new PointId.Uuid(uuid);
      case byte[] bytes when bytes.length == 16 -> new PointId.Uuid(uuid(bytes));
      case Object other -> throw new IllegalArgumentException("an id of " + other.getClass());
      case null -> throw new IllegalArgumentException("row " + row + " has no id");
    };
  }
}
