// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sagitta.flight.JsonMistake;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.Names;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.SagittaException;
import io.sagitta.model.Utf8;
import io.sagitta.model.UuidText;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.TimeStampMicroTZVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Payload values as they stand in JSON ({@code set}) to canonical columns. Numbers must fit
 * exactly; dates are {@code 2024-02-29}, timestamps RFC 3339 (without a zone UTC), uuids text,
 * binary base64, geo points {@code {"lat", "lon"}}, and a {@code json} field takes any JSON value.
 */
public final class JsonValues {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Decimal digits of the largest uint64. */
  private static final int INTEGER_DIGITS_MAX = 20;

  /** Length of {@code 2024-03-10}, after which a timestamp may have a space for its T. */
  private static final int DATE_LENGTH = 10;

  /** {@code 2024-03-10T00:30:00.5}, zone optional. */
  private static final DateTimeFormatter TIMESTAMP =
      new DateTimeFormatterBuilder()
          .parseCaseInsensitive()
          .append(DateTimeFormatter.ISO_LOCAL_DATE)
          .appendLiteral('T')
          .append(DateTimeFormatter.ISO_LOCAL_TIME)
          .optionalStart()
          .appendOffset("+HH:MM", "Z")
          .optionalEnd()
          .toFormatter(Locale.ROOT)
          .withResolverStyle(ResolverStyle.STRICT);

  private JsonValues() {}

  /**
   * A column that holds one value in each of {@code rows} rows; close it.
   *
   * @param value as parsed: Boolean, Long, BigInteger, Double, BigDecimal, String, List, Map or
   *     null
   * @throws SagittaException INVALID_ARGUMENT naming the field when the value is not one of its
   *     type
   */
  public static FieldVector column(
      PayloadField field, Object value, int rows, BufferAllocator allocator) {
    FieldVector vector = ArrowSchemas.field(field).createVector(allocator);
    try {
      vector.setInitialCapacity(rows);
      vector.allocateNew();
      for (int row = 0; value != null && row < rows; row++) {
        if (field.type().list()) {
          writeList(field.type(), value, (ListVector) vector, row);
        } else {
          write(field.type().kind(), value, vector, row);
        }
      }
      vector.setValueCount(rows);
      return vector;
    } catch (BadValueException e) {
      vector.close();
      throw SagittaException.invalid("field " + Names.quote(field.name()) + ": " + e.getMessage());
    } catch (Throwable e) {
      vector.close();
      throw e;
    }
  }

  private static void writeList(PayloadType type, Object value, ListVector lists, int row)
      throws BadValueException {
    if (!(value instanceof List<?> values)) {
      throw unexpected(value, type.text());
    }
    FieldVector items = lists.getDataVector();
    int start = lists.startNewValue(row);
    for (int i = 0; i < values.size(); i++) {
      if (values.get(i) != null) {
        write(type.kind(), values.get(i), items, start + i);
      }
    }
    items.setValueCount(start + values.size());
    lists.endValue(row, values.size());
  }

  private static void write(PayloadType.Kind kind, Object value, FieldVector to, int at)
      throws BadValueException {
    switch (kind) {
      case BOOL -> {
        if (!(value instanceof Boolean bool)) {
          throw unexpected(value, kind.text());
        }
        ((BitVector) to).setSafe(at, bool ? 1 : 0);
      }
      case INT8 -> writeInteger(kind, value, Byte.SIZE, true, to, at);
      case INT16 -> writeInteger(kind, value, Short.SIZE, true, to, at);
      case INT32 -> writeInteger(kind, value, Integer.SIZE, true, to, at);
      case INT64 -> writeInteger(kind, value, Long.SIZE, true, to, at);
      case UINT8 -> writeInteger(kind, value, Byte.SIZE, false, to, at);
      case UINT16 -> writeInteger(kind, value, Short.SIZE, false, to, at);
      case UINT32 -> writeInteger(kind, value, Integer.SIZE, false, to, at);
      case UINT64 -> writeInteger(kind, value, Long.SIZE, false, to, at);
      case FLOAT32 -> ((Float4Vector) to).setSafe(at, float32(value));
      case FLOAT64 -> ((Float8Vector) to).setSafe(at, float64(kind, value));
      case UTF8 -> ((VarCharVector) to).setSafe(at, utf8(kind, value));
      case JSON -> ((VarCharVector) to).setSafe(at, json(value));
      case BINARY -> ((VarBinaryVector) to).setSafe(at, base64(text(kind, value)));
      case DATE -> ((DateDayVector) to).setSafe(at, date(text(kind, value)));
      case TIMESTAMP -> ((TimeStampMicroTZVector) to).setSafe(at, micros(text(kind, value)));
      case UUID -> ((FixedSizeBinaryVector) to).setSafe(at, uuid(text(kind, value)));
      case GEO -> writeGeo(value, (StructVector) to, at);
    }
  }

  private static void writeInteger(
      PayloadType.Kind kind, Object value, int bits, boolean signed, FieldVector to, int at)
      throws BadValueException {
    BigDecimal number = number(kind, value).stripTrailingZeros();
    if (number.scale() > 0) {
      throw new BadValueException(value + " is not a whole number");
    }
    // Digits are counted first: 1e999999999 as an integer would fill the heap.
    boolean fits = number.precision() - (long) number.scale() <= INTEGER_DIGITS_MAX;
    BigInteger integer = fits ? number.toBigIntegerExact() : BigInteger.ZERO;
    fits &=
        signed ? integer.bitLength() < bits : integer.signum() >= 0 && integer.bitLength() <= bits;
    if (!fits) {
      throw new BadValueException(value + " is out of range for " + kind.text());
    }
    ((BaseIntVector) to).setWithPossibleTruncate(at, integer.longValue());
  }

  /** Decimal text is rounded to the nearest float once, as every JSON reader does. */
  private static float float32(Object value) throws BadValueException {
    float rounded = number(PayloadType.Kind.FLOAT32, value).floatValue();
    if (Float.isInfinite(rounded)) {
      throw new BadValueException(value + " is out of range for float32");
    }
    return rounded;
  }

  private static double float64(PayloadType.Kind kind, Object value) throws BadValueException {
    double rounded = number(kind, value).doubleValue();
    if (Double.isInfinite(rounded)) {
      throw new BadValueException(value + " is out of range for " + kind.text());
    }
    return rounded;
  }

  private static BigDecimal number(PayloadType.Kind kind, Object value) throws BadValueException {
    return switch (value) {
      case Long number -> BigDecimal.valueOf(number);
      case Integer number -> BigDecimal.valueOf(number);
      case BigInteger number -> new BigDecimal(number);
      case BigDecimal number -> number;
      case Double number when Double.isFinite(number) -> new BigDecimal(number);
      default -> throw unexpected(value, kind.text());
    };
  }

  private static String text(PayloadType.Kind kind, Object value) throws BadValueException {
    if (value instanceof String text) {
      return text;
    }
    throw unexpected(value, kind.text() + " as text");
  }

  private static byte[] utf8(PayloadType.Kind kind, Object value) throws BadValueException {
    String text = text(kind, value);
    if (Utf8.firstUnpaired(text) >= 0) {
      throw new BadValueException("is not valid Unicode: unpaired surrogate");
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] json(Object value) throws BadValueException {
    try {
      return JSON.writeValueAsBytes(value);
    } catch (JsonProcessingException e) {
      throw new BadValueException("cannot be written as JSON: " + JsonMistake.describe(e));
    }
  }

  private static byte[] base64(String text) throws BadValueException {
    try {
      return Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw new BadValueException("is not base64");
    }
  }

  private static int date(String text) throws BadValueException {
    try {
      return Math.toIntExact(
          LocalDate.parse(
                  text, DateTimeFormatter.ISO_LOCAL_DATE.withResolverStyle(ResolverStyle.STRICT))
              .toEpochDay());
    } catch (DateTimeException | ArithmeticException e) {
      throw new BadValueException(Names.quote(text) + " is not a date such as 2024-02-29");
    }
  }

  private static long micros(String text) throws BadValueException {
    boolean spaced = text.length() > DATE_LENGTH && text.charAt(DATE_LENGTH) == ' ';
    String joined =
        spaced ? text.substring(0, DATE_LENGTH) + 'T' + text.substring(DATE_LENGTH + 1) : text;
    try {
      Instant instant =
          switch (TIMESTAMP.parseBest(joined, OffsetDateTime::from, LocalDateTime::from)) {
            case OffsetDateTime zoned -> zoned.toInstant();
            case LocalDateTime local -> local.toInstant(ZoneOffset.UTC);
            default -> throw new DateTimeException(text);
          };
      if (instant.getNano() % 1_000 != 0) {
        throw new BadValueException(Names.quote(text) + " has more than microseconds");
      }
      return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
    } catch (DateTimeException | ArithmeticException e) {
      throw new BadValueException(
          Names.quote(text) + " is not a timestamp such as 2024-03-10T00:30:00+01:00");
    }
  }

  private static byte[] uuid(String text) throws BadValueException {
    try {
      UUID uuid = UuidText.parse(text);
      return ByteBuffer.allocate(16)
          .putLong(uuid.getMostSignificantBits())
          .putLong(uuid.getLeastSignificantBits())
          .array();
    } catch (SagittaException e) {
      throw new BadValueException(e.getMessage());
    }
  }

  private static void writeGeo(Object value, StructVector to, int at) throws BadValueException {
    if (!(value instanceof Map<?, ?> point)
        || point.size() != ArrowSchemas.GEO_CHILDREN.size()
        || !point.keySet().containsAll(ArrowSchemas.GEO_CHILDREN)) {
      throw unexpected(value, "{\"lat\", \"lon\"}");
    }
    for (String child : ArrowSchemas.GEO_CHILDREN) {
      double coordinate = float64(PayloadType.Kind.GEO, point.get(child));
      to.getChild(child, Float8Vector.class).setSafe(at, coordinate);
    }
    to.setIndexDefined(at);
    ValueCheck.geo(to, at);
  }

  private static BadValueException unexpected(Object value, String expected) {
    String text = String.valueOf(value);
    return new BadValueException(Names.quote(text) + " is not " + expected);
  }
}
