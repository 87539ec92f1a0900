// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model.filter;

import io.sagitta.model.Names;
import io.sagitta.model.PayloadType.Kind;
import io.sagitta.model.SagittaException;
import io.sagitta.model.UuidText;
import io.sagitta.model.filter.Filter.Op;
import io.sagitta.model.filter.FilterBinder.Named;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.LongStream;

/**
 * Comparisons of a field with literals, by the field's type. Integers, dates and timestamps compare
 * as mathematics. A number compared with a float field is first rounded to the field's own type, so
 * that {@code x = 0.1} finds the 0.1 that was stored.
 */
final class Comparisons {
  private static final BigDecimal MICROS_PER_DAY = BigDecimal.valueOf(86_400_000_000L);

  private Comparisons() {}

  static Predicate compare(Named field, Op op, Literal value) {
    return switch (field.kind()) {
      case BOOL -> bool(field, op, value);
      case INT8 -> signed(field, op, value, Byte.MIN_VALUE, Byte.MAX_VALUE);
      case INT16 -> signed(field, op, value, Short.MIN_VALUE, Short.MAX_VALUE);
      case INT32 -> signed(field, op, value, Integer.MIN_VALUE, Integer.MAX_VALUE);
      case INT64 -> signed(field, op, value, Long.MIN_VALUE, Long.MAX_VALUE);
      case UINT8 -> signed(field, op, value, 0, 0xff);
      case UINT16 -> signed(field, op, value, 0, 0xffff);
      case UINT32 -> signed(field, op, value, 0, 0xffff_ffffL);
      case UINT64 -> {
        var range = Bounds.unsigned(op, number(field, value));
        yield new Predicate.UnsignedRange(field.column(), range.low(), range.high());
      }
      case FLOAT32 -> floating(field, op, number(field, value).floatValue());
      case FLOAT64 -> floating(field, op, number(field, value).doubleValue());
      case UTF8, BINARY, UUID -> bytes(field, op, bytes(field, value));
      case TIMESTAMP -> {
        BigDecimal micros = micros(field, value);
        var range = Bounds.integers(op, micros, Long.MIN_VALUE, Long.MAX_VALUE);
        yield new Predicate.LongRange(field.column(), range.low(), range.high());
      }
      case DATE -> {
        var range = Bounds.integers(op, days(field, value), Integer.MIN_VALUE, Integer.MAX_VALUE);
        yield new Predicate.LongRange(field.column(), range.low(), range.high());
      }
      case GEO, JSON -> throw mismatch(field, value);
    };
  }

  /** IN; no value is NULL. */
  static Predicate in(Named field, List<Literal> values) {
    return switch (field.kind()) {
      case INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, DATE, TIMESTAMP ->
          new Predicate.LongIn(
              field.column(), Longs.of(values.stream().flatMapToLong(v -> exactly(field, v))));
      case UTF8, BINARY, UUID ->
          new Predicate.BytesIn(
              field.column(),
              values.stream().map(v -> bytes(field, v)).sorted().distinct().toList());
      case BOOL, FLOAT32, FLOAT64 ->
          new Predicate.Or(values.stream().map(v -> compare(field, Op.EQ, v)).toList());
      case GEO, JSON -> throw mismatch(field, values.isEmpty() ? Literal.NULL : values.getFirst());
    };
  }

  /** The one integer that equals a literal; none where it has a fraction or does not fit. */
  private static LongStream exactly(Named field, Literal value) {
    return switch (compare(field, Op.EQ, value)) {
      case Predicate.LongRange(_, var low, var high) ->
          low <= high ? LongStream.of(low) : LongStream.empty();
      case Predicate.UnsignedRange(_, var low, var high) ->
          Long.compareUnsigned(low, high) <= 0 ? LongStream.of(low) : LongStream.empty();
      default -> throw new IllegalStateException("not an integer: " + field);
    };
  }

  private static Predicate bool(Named field, Op op, Literal value) {
    if (!(value instanceof Literal.Bool(var bool))) {
      throw mismatch(field, value);
    }
    if (op != Op.EQ) {
      throw SagittaException.invalid(
          "filter: field " + Names.quote(field.name()) + " is bool, it has no order");
    }
    return new Predicate.BoolIs(field.column(), bool);
  }

  private static Predicate signed(Named field, Op op, Literal value, long min, long max) {
    var range = Bounds.integers(op, number(field, value), min, max);
    return new Predicate.LongRange(field.column(), range.low(), range.high());
  }

  private static Predicate floating(Named field, Op op, double value) {
    double low = Double.NEGATIVE_INFINITY;
    double high = Double.POSITIVE_INFINITY;
    switch (op) {
      case EQ -> {
        low = value;
        high = value;
      }
      case LT -> high = Math.nextDown(value);
      case LE -> high = value;
      case GT -> low = Math.nextUp(value);
      case GE -> low = value;
    }
    return new Predicate.DoubleRange(field.column(), low, high);
  }

  private static Predicate bytes(Named field, Op op, Bytes value) {
    return switch (op) {
      case EQ -> new Predicate.BytesIn(field.column(), List.of(value));
      case LT -> new Predicate.BytesRange(field.column(), null, false, value, false);
      case LE -> new Predicate.BytesRange(field.column(), null, false, value, true);
      case GT -> new Predicate.BytesRange(field.column(), value, false, null, false);
      case GE -> new Predicate.BytesRange(field.column(), value, true, null, false);
    };
  }

  private static Bytes bytes(Named field, Literal value) {
    if (field.kind() == Kind.BINARY) {
      if (value instanceof Literal.Hex hex) {
        return Bytes.of(hex.bytes());
      }
      throw mismatch(field, value);
    }
    String text = text(field, value);
    if (field.kind() == Kind.UUID) {
      UUID uuid = parsed(field, value, UuidText::parse);
      return Bytes.of(
          ByteBuffer.allocate(16)
              .putLong(uuid.getMostSignificantBits())
              .putLong(uuid.getLeastSignificantBits())
              .array());
    }
    return Bytes.utf8(text);
  }

  /** Days since the epoch, exact enough that comparing with whole days cannot go wrong. */
  private static BigDecimal days(Named field, Literal value) {
    BigDecimal micros = micros(field, value);
    BigDecimal[] parts = micros.divideAndRemainder(MICROS_PER_DAY);
    return parts[1].signum() == 0
        ? parts[0]
        : parts[0].add(parts[1].divide(MICROS_PER_DAY, MathContext.DECIMAL128));
  }

  private static BigDecimal number(Named field, Literal value) {
    if (value instanceof Literal.Num(var number)) {
      return number;
    }
    throw mismatch(field, value);
  }

  private static String text(Named field, Literal value) {
    if (value instanceof Literal.Text(var text)) {
      return text;
    }
    throw mismatch(field, value);
  }

  private static BigDecimal micros(Named field, Literal value) {
    return parsed(field, value, TemporalText::micros);
  }

  /** A text read as what the field holds. */
  private static <T> T parsed(Named field, Literal value, Function<String, T> parser) {
    try {
      return parser.apply(text(field, value));
    } catch (SagittaException e) {
      throw new NotOfTheType(field, value, ": " + e.getMessage());
    }
  }

  private static NotOfTheType mismatch(Named field, Literal value) {
    return new NotOfTheType(field, value, ", it cannot be compared with " + value);
  }

  /** A literal that the field's values cannot be compared with. */
  static final class NotOfTheType extends RuntimeException {
    private static final long serialVersionUID = 1L;

    final transient Literal value;

    private NotOfTheType(Named field, Literal value, String why) {
      this("field " + Names.quote(field.name()) + " is " + field.typeName() + why, value);
    }

    private NotOfTheType(String what, Literal value) {
      super(what);
      this.value = value;
    }
  }
}
