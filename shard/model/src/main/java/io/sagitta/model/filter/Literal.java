// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model.filter;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.Utf8;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Collection;
import java.util.HexFormat;

/** A value in a filter, exact. */
public sealed interface Literal {
  /** NULL: a comparison with it is unknown. */
  Literal NULL = new Null();

  /**
   * Digits a number may have, and the largest magnitude of its exponent: what no column can hold.
   */
  int DIGITS_MAX = 400;

  /** NULL. */
  record Null() implements Literal {
    @Override
    public String toString() {
      return "NULL";
    }
  }

  /** A number. */
  record Num(BigDecimal value) implements Literal {
    public Num {
      atMost(value.precision(), "digits");
      atMost(Math.abs((long) value.scale()), "places, by its exponent");
    }

    private static void atMost(long count, String what) {
      if (count > DIGITS_MAX) {
        throw new SagittaException(
            ErrorCode.LIMIT,
            "a number in the filter has %d %s, expected at most %d"
                .formatted(count, what, DIGITS_MAX));
      }
    }

    @Override
    public String toString() {
      return "the number " + value;
    }
  }

  /** Text; also what dates, timestamps and UUIDs are written as. */
  record Text(String value) implements Literal {
    @Override
    public String toString() {
      return "the text " + Names.quote(value);
    }
  }

  /** TRUE or FALSE. */
  record Bool(boolean value) implements Literal {
    @Override
    public String toString() {
      return value ? "TRUE" : "FALSE";
    }
  }

  /** Bytes, written X'0aff'; held as lower-case hexadecimal digits. */
  record Hex(String digits) implements Literal {
    public byte[] bytes() {
      return HexFormat.of().parseHex(digits);
    }

    @Override
    public String toString() {
      return "the bytes X'" + digits + "'";
    }
  }

  /** The literal of a parameter's value; a list is no literal. */
  static Literal of(Object value, String where) {
    return switch (value) {
      case null -> NULL;
      case Boolean bool -> new Bool(bool);
      case String text -> new Text(unicode(text, where));
      case BigDecimal number -> new Num(number);
      case BigInteger number -> new Num(new BigDecimal(number));
      case Long number -> new Num(BigDecimal.valueOf(number));
      case Integer number -> new Num(BigDecimal.valueOf(number));
      case Float number -> finite(number.doubleValue(), where);
      case Double number -> finite(number, where);
      default ->
          throw SagittaException.invalid(
              where
                  + " is "
                  + (value instanceof Collection<?> ? "an array" : "an object")
                  + ", expected a single value");
    };
  }

  /** A text that UTF-8 can have; with a replacement in it it would match other rows. */
  static String unicode(String text, String where) {
    int at = Utf8.firstUnpaired(text);
    if (at >= 0) {
      throw SagittaException.invalid(
          where + " is not valid Unicode: unpaired surrogate at character " + (at + 1));
    }
    return text;
  }

  private static Literal finite(double number, String where) {
    if (!Double.isFinite(number)) {
      throw SagittaException.invalid(where + " is " + number + ", expected a finite number");
    }
    return new Num(new BigDecimal(number));
  }
}
