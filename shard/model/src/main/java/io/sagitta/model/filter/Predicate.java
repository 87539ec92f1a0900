// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model.filter;

import io.sagitta.model.filter.Filter.Op;
import java.util.List;

/**
 * A filter bound to a schema: what is left to do is to look at columns. Each predicate is true,
 * false or unknown of a row; a null value makes all but {@link IsNull} unknown. Bounds are
 * inclusive and in the column's own terms; a lower bound above the upper one is never true.
 */
public sealed interface Predicate {
  /** All are true; false where one is false; else unknown. */
  record And(List<Predicate> parts) implements Predicate {
    public And {
      parts = List.copyOf(parts);
    }
  }

  /** One is true; false where all are false; else unknown. */
  record Or(List<Predicate> parts) implements Predicate {
    public Or {
      parts = List.copyOf(parts);
    }
  }

  /** True where its part is false and the other way round. */
  record Not(Predicate part) implements Predicate {}

  /** The same of every row. */
  record Constant(Truth value) implements Predicate {}

  /** The three values. */
  enum Truth {
    TRUE,
    FALSE,
    UNKNOWN
  }

  /**
   * A signed integer column (also dates as days, timestamps as microseconds, unsigned integers of
   * fewer than 64 bits) lies in a range.
   */
  record LongRange(Column column, long low, long high) implements Predicate {}

  /** A uint64 column lies in a range of unsigned numbers. */
  record UnsignedRange(Column column, long low, long high) implements Predicate {}

  /** An integer column of any kind holds one of these bit patterns, sorted as signed numbers. */
  record LongIn(Column column, Longs values) implements Predicate {}

  /** A float column lies in a range; NaN lies in none. */
  record DoubleRange(Column column, double low, double high) implements Predicate {}

  /** A column of text, bytes or UUIDs lies in a range of unsigned bytes; null bounds are open. */
  record BytesRange(Column column, Bytes low, boolean lowIn, Bytes high, boolean highIn)
      implements Predicate {}

  /** A column of text, bytes or UUIDs holds one of these, sorted. */
  record BytesIn(Column column, List<Bytes> values) implements Predicate {
    public BytesIn {
      values = List.copyOf(values);
    }
  }

  /** A text column begins with these bytes. */
  record BytesPrefix(Column column, Bytes prefix) implements Predicate {}

  /** A bool column is this. */
  record BoolIs(Column column, boolean value) implements Predicate {}

  /** The field is null or missing; never unknown. */
  record IsNull(Column column) implements Predicate {}

  /**
   * A list column has an element of which {@code element} is true; false where it has none, null
   * elements never match. {@code element} speaks of {@code column.element()}.
   */
  record ListAny(Column column, Predicate element) implements Predicate {}

  /** A list's length, null elements counted, lies in a range. */
  record ListLength(Column column, long low, long high) implements Predicate {}

  /** A point lies within so many metres, edge included. */
  record GeoWithin(Column column, double lat, double lon, double metres) implements Predicate {}

  /** A point lies in a box, edges included; longitudes 180 and -180 are one. */
  record GeoBox(Column column, double top, double left, double bottom, double right)
      implements Predicate {}

  /**
   * The value at a path of a JSON document compares so with a literal; unknown where there is none,
   * or null, or a value of another JSON type than the literal's.
   */
  record JsonCompare(Column column, List<String> steps, Op op, Literal value) implements Predicate {
    public JsonCompare {
      steps = List.copyOf(steps);
    }
  }

  /** The text at a path of a JSON document begins so. */
  record JsonPrefix(Column column, List<String> steps, String prefix) implements Predicate {
    public JsonPrefix {
      steps = List.copyOf(steps);
    }
  }

  /** There is nothing, or null, at a path of a JSON document, or no document. */
  record JsonIsNull(Column column, List<String> steps) implements Predicate {
    public JsonIsNull {
      steps = List.copyOf(steps);
    }
  }
}
