// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.PayloadType;
import io.sagitta.model.SagittaException;
import io.sagitta.model.UuidText;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DateMilliVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.Float2Vector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.LargeVarBinaryVector;
import org.apache.arrow.vector.LargeVarCharVector;
import org.apache.arrow.vector.TimeStampMicroTZVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.ViewVarBinaryVector;
import org.apache.arrow.vector.ViewVarCharVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Which Arrow types are accepted for which kind of payload, and how a value gets across. A
 * conversion is exact or the value is refused:
 *
 * <table>
 *   <caption>Accepted types</caption>
 *   <tr><td>integers</td><td>every integer type, each value in the field's range</td></tr>
 *   <tr><td>float32</td><td>float16, float32; (u)int8, (u)int16</td></tr>
 *   <tr><td>float64</td><td>every float type; (u)int8 to (u)int32</td></tr>
 *   <tr><td>utf8, json</td><td>utf8, large_utf8, utf8_view</td></tr>
 *   <tr><td>binary</td><td>binary, large_binary, binary_view, fixed_size_binary</td></tr>
 *   <tr><td>date</td><td>date32; date64 of whole days</td></tr>
 *   <tr><td>timestamp</td><td>any unit and zone; nanoseconds that are whole microseconds</td></tr>
 *   <tr><td>uuid</td><td>fixed_size_binary(16), arrow.uuid, text in any spelling</td></tr>
 *   <tr><td>geo</td><td>struct of lat and lon in any order, float32 or float64</td></tr>
 *   <tr><td>any</td><td>null, and a dictionary of the above</td></tr>
 * </table>
 */
final class ValueCopies {
  private static final long MICROS_PER_SECOND = 1_000_000;
  private static final long MICROS_PER_MILLI = 1_000;
  private static final long NANOS_PER_MICRO = 1_000;
  private static final long MILLIS_PER_DAY = 86_400_000;
  private static final int UUID_BYTES = 16;

  private ValueCopies() {}

  /** The copy from a type to a kind, if it is accepted. */
  static Optional<ValueCopy> find(PayloadType.Kind kind, Field sent) {
    ArrowType type = SentColumn.storage(sent.getType());
    if (type instanceof ArrowType.Null) {
      return Optional.of((from, place, to, at) -> {});
    }
    return switch (kind) {
      case BOOL ->
          type instanceof ArrowType.Bool
              ? Optional.of(
                  (from, place, to, at) ->
                      ((BitVector) to).setSafe(at, ((BitVector) from).get(place)))
              : Optional.empty();
      case INT8 -> integer(type, kind, Byte.MIN_VALUE, Byte.MAX_VALUE);
      case INT16 -> integer(type, kind, Short.MIN_VALUE, Short.MAX_VALUE);
      case INT32 -> integer(type, kind, Integer.MIN_VALUE, Integer.MAX_VALUE);
      case INT64 -> integer(type, kind, Long.MIN_VALUE, Long.MAX_VALUE);
      case UINT8 -> integer(type, kind, 0, 0xff);
      case UINT16 -> integer(type, kind, 0, 0xffff);
      case UINT32 -> integer(type, kind, 0, 0xffff_ffffL);
      case UINT64 -> uint64(type);
      case FLOAT32 -> float32(type);
      case FLOAT64 -> float64(type);
      case UTF8, JSON -> text(type);
      case BINARY -> binary(type);
      case DATE -> date(type);
      case TIMESTAMP -> timestamp(type);
      case UUID -> uuid(type);
      case GEO -> geo(sent, type);
    };
  }

  private static Optional<ValueCopy> integer(
      ArrowType type, PayloadType.Kind kind, long min, long max) {
    if (!(type instanceof ArrowType.Int sent)) {
      return Optional.empty();
    }
    boolean wraps = !sent.getIsSigned() && sent.getBitWidth() == Long.SIZE;
    return Optional.of(
        (from, place, to, at) -> {
          long value = ((BaseIntVector) from).getValueAsLong(place);
          if ((wraps && value < 0) || value < min || value > max) {
            throw outOfRange(wraps ? Long.toUnsignedString(value) : Long.toString(value), kind);
          }
          ((BaseIntVector) to).setWithPossibleTruncate(at, value);
        });
  }

  private static Optional<ValueCopy> uint64(ArrowType type) {
    if (!(type instanceof ArrowType.Int sent)) {
      return Optional.empty();
    }
    boolean signed = sent.getIsSigned();
    return Optional.of(
        (from, place, to, at) -> {
          long value = ((BaseIntVector) from).getValueAsLong(place);
          if (signed && value < 0) {
            throw outOfRange(Long.toString(value), PayloadType.Kind.UINT64);
          }
          ((BaseIntVector) to).setWithPossibleTruncate(at, value);
        });
  }

  private static BadValueException outOfRange(String value, PayloadType.Kind kind) {
    return new BadValueException(new BigInteger(value) + " is out of range for " + kind.text());
  }

  private static Optional<ValueCopy> float32(ArrowType type) {
    if (type instanceof ArrowType.FloatingPoint sent) {
      return switch (sent.getPrecision()) {
        case HALF ->
            Optional.of(
                (from, place, to, at) ->
                    ((Float4Vector) to).setSafe(at, ((Float2Vector) from).getValueAsFloat(place)));
        case SINGLE ->
            Optional.of(
                (from, place, to, at) ->
                    ((Float4Vector) to).setSafe(at, ((Float4Vector) from).get(place)));
        case DOUBLE -> Optional.empty();
      };
    }
    return smallInteger(type, Short.SIZE)
        ? Optional.of(
            (from, place, to, at) ->
                ((Float4Vector) to)
                    .setSafe(at, (float) ((BaseIntVector) from).getValueAsLong(place)))
        : Optional.empty();
  }

  private static Optional<ValueCopy> float64(ArrowType type) {
    if (type instanceof ArrowType.FloatingPoint) {
      return Optional.of(
          (from, place, to, at) -> ((Float8Vector) to).setSafe(at, floating(from, place)));
    }
    return smallInteger(type, Integer.SIZE)
        ? Optional.of(
            (from, place, to, at) ->
                ((Float8Vector) to)
                    .setSafe(at, (double) ((BaseIntVector) from).getValueAsLong(place)))
        : Optional.empty();
  }

  private static boolean smallInteger(ArrowType type, int bits) {
    return type instanceof ArrowType.Int sent && sent.getBitWidth() <= bits;
  }

  private static double floating(FieldVector from, int place) {
    return switch (from) {
      case Float2Vector half -> half.getValueAsFloat(place);
      case Float4Vector single -> single.get(place);
      case Float8Vector twice -> twice.get(place);
      default -> throw new IllegalArgumentException("no float: " + from.getField());
    };
  }

  private static Optional<ValueCopy> text(ArrowType type) {
    return isText(type)
        ? Optional.of(
            (from, place, to, at) -> ((VarCharVector) to).setSafe(at, textBytes(from, place)))
        : Optional.empty();
  }

  private static boolean isText(ArrowType type) {
    return type instanceof ArrowType.Utf8
        || type instanceof ArrowType.LargeUtf8
        || type instanceof ArrowType.Utf8View;
  }

  private static byte[] textBytes(FieldVector from, int place) {
    return switch (from) {
      case VarCharVector text -> text.get(place);
      case LargeVarCharVector text -> text.get(place);
      case ViewVarCharVector text -> text.get(place);
      default -> throw new IllegalArgumentException("no text: " + from.getField());
    };
  }

  private static Optional<ValueCopy> binary(ArrowType type) {
    boolean accepted =
        type instanceof ArrowType.Binary
            || type instanceof ArrowType.LargeBinary
            || type instanceof ArrowType.BinaryView
            || type instanceof ArrowType.FixedSizeBinary;
    return accepted
        ? Optional.of(
            (from, place, to, at) -> ((VarBinaryVector) to).setSafe(at, bytes(from, place)))
        : Optional.empty();
  }

  private static byte[] bytes(FieldVector from, int place) {
    return switch (from) {
      case VarBinaryVector binary -> binary.get(place);
      case LargeVarBinaryVector binary -> binary.get(place);
      case ViewVarBinaryVector binary -> binary.get(place);
      case FixedSizeBinaryVector binary -> binary.get(place);
      default -> throw new IllegalArgumentException("no binary: " + from.getField());
    };
  }

  private static Optional<ValueCopy> date(ArrowType type) {
    if (!(type instanceof ArrowType.Date sent)) {
      return Optional.empty();
    }
    if (sent.getUnit() == DateUnit.DAY) {
      return Optional.of(
          (from, place, to, at) ->
              ((DateDayVector) to).setSafe(at, ((DateDayVector) from).get(place)));
    }
    return Optional.of(
        (from, place, to, at) -> {
          long millis = ((DateMilliVector) from).get(place);
          long days = Math.floorDiv(millis, MILLIS_PER_DAY);
          if (days * MILLIS_PER_DAY != millis || days != (int) days) {
            throw new BadValueException(millis + " ms is not a whole day in range of date");
          }
          ((DateDayVector) to).setSafe(at, (int) days);
        });
  }

  /**
   * Arrow's timestamps count from the epoch in UTC whatever their zone; without one they mean UTC.
   */
  private static Optional<ValueCopy> timestamp(ArrowType type) {
    if (!(type instanceof ArrowType.Timestamp sent)) {
      return Optional.empty();
    }
    TimeUnit unit = sent.getUnit();
    return Optional.of(
        (from, place, to, at) -> {
          long value = ((TimeStampVector) from).get(place);
          ((TimeStampMicroTZVector) to).setSafe(at, micros(value, unit));
        });
  }

  private static long micros(long value, TimeUnit unit) throws BadValueException {
    try {
      return switch (unit) {
        case SECOND -> Math.multiplyExact(value, MICROS_PER_SECOND);
        case MILLISECOND -> Math.multiplyExact(value, MICROS_PER_MILLI);
        case MICROSECOND -> value;
        case NANOSECOND -> {
          if (value % NANOS_PER_MICRO != 0) {
            throw new BadValueException(value + " ns is not a whole number of microseconds");
          }
          yield value / NANOS_PER_MICRO;
        }
      };
    } catch (ArithmeticException e) {
      throw new BadValueException(value + " " + unit + "s are out of range of microseconds");
    }
  }

  private static Optional<ValueCopy> uuid(ArrowType type) {
    if (type instanceof ArrowType.FixedSizeBinary sent && sent.getByteWidth() == UUID_BYTES) {
      return Optional.of(
          (from, place, to, at) ->
              ((FixedSizeBinaryVector) to).setSafe(at, ((FixedSizeBinaryVector) from).get(place)));
    }
    return isText(type)
        ? Optional.of(
            (from, place, to, at) ->
                ((FixedSizeBinaryVector) to).setSafe(at, uuidBytes(textBytes(from, place))))
        : Optional.empty();
  }

  private static byte[] uuidBytes(byte[] text) throws BadValueException {
    try {
      UUID uuid = UuidText.parse(new String(text, StandardCharsets.UTF_8));
      return ByteBuffer.allocate(UUID_BYTES)
          .putLong(uuid.getMostSignificantBits())
          .putLong(uuid.getLeastSignificantBits())
          .array();
    } catch (SagittaException e) {
      throw new BadValueException(e.getMessage());
    }
  }

  private static Optional<ValueCopy> geo(Field sent, ArrowType type) {
    Set<String> names = sent.getChildren().stream().map(Field::getName).collect(Collectors.toSet());
    boolean accepted =
        type instanceof ArrowType.Struct
            && sent.getChildren().size() == ArrowSchemas.GEO_CHILDREN.size()
            && names.containsAll(ArrowSchemas.GEO_CHILDREN)
            && sent.getChildren().stream().allMatch(ValueCopies::isCoordinate);
    return accepted ? Optional.of(ValueCopies::copyGeo) : Optional.empty();
  }

  private static boolean isCoordinate(Field child) {
    return child.getDictionary() == null
        && child.getType() instanceof ArrowType.FloatingPoint type
        && type.getPrecision() != FloatingPointPrecision.HALF;
  }

  private static void copyGeo(FieldVector from, int place, FieldVector to, int at)
      throws BadValueException {
    for (String child : ArrowSchemas.GEO_CHILDREN) {
      FieldVector coordinate = ((StructVector) from).getChild(child);
      if (coordinate.isNull(place)) {
        throw new BadValueException(child + " is null, expected a number");
      }
      ((StructVector) to)
          .getChild(child, Float8Vector.class)
          .setSafe(at, floating(coordinate, place));
    }
    ((StructVector) to).setIndexDefined(at);
  }
}
