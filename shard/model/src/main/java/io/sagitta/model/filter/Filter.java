// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model.filter;

import java.util.List;

/**
 * A filter as it was written, parameters replaced by their values. AND and OR are flat, NOT IN, NOT
 * BETWEEN and IS NOT NULL are a NOT around the rest, a literal on the left has been turned round.
 */
public sealed interface Filter {
  /** All hold. */
  record And(List<Filter> parts) implements Filter {
    public And {
      parts = List.copyOf(parts);
    }
  }

  /** One holds. */
  record Or(List<Filter> parts) implements Filter {
    public Or {
      parts = List.copyOf(parts);
    }
  }

  /** Does not hold; unknown stays unknown. */
  record Not(Filter part) implements Filter {}

  /** TRUE, FALSE or NULL as a condition. */
  record Constant(Literal value) implements Filter {}

  /** {@code operand op literal}. */
  record Compare(Operand operand, Op op, Literal value) implements Filter {}

  /** {@code operand IN (...)}. */
  record In(Operand operand, List<Literal> values) implements Filter {
    public In {
      values = List.copyOf(values);
    }
  }

  /** {@code operand LIKE 'prefix%'}. */
  record Prefix(Operand operand, String prefix) implements Filter {}

  /** {@code operand IS NULL}: null or missing. */
  record IsNull(Operand operand) implements Filter {}

  /** {@code contains}, {@code contains_any} (not all) or {@code contains_all}. */
  record Contains(String field, List<Literal> values, boolean all) implements Filter {
    public Contains {
      values = List.copyOf(values);
    }
  }

  /** {@code geo_within(field, lat, lon, metres)}. */
  record GeoWithin(String field, double lat, double lon, double metres) implements Filter {}

  /** {@code geo_box(field, top, left, bottom, right)}; left of more than right crosses 180°. */
  record GeoBox(String field, double top, double left, double bottom, double right)
      implements Filter {}

  /** What is compared. */
  sealed interface Operand {
    /** The field it reads. */
    String field();

    /** A field's value. */
    record FieldValue(String field) implements Operand {}

    /** {@code length(list)}. */
    record Length(String field) implements Operand {}

    /** {@code json_path(field, '$.a.b[0]')}, as the steps of the path. */
    record JsonPath(String field, List<String> steps) implements Operand {
      public JsonPath {
        steps = List.copyOf(steps);
      }
    }
  }

  /** Comparison operators; {@code !=} is NOT around EQ. */
  enum Op {
    EQ,
    LT,
    LE,
    GT,
    GE;

    /** The operator that holds with the sides exchanged. */
    Op turned() {
      return switch (this) {
        case EQ -> EQ;
        case LT -> GT;
        case LE -> GE;
        case GT -> LT;
        case GE -> LE;
      };
    }
  }
}
