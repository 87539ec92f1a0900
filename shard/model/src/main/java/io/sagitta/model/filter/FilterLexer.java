// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model.filter;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import java.math.BigDecimal;
import java.util.Locale;

/** Cuts a filter's text into tokens, one at a time. */
final class FilterLexer {
  /** What a token is. */
  enum Kind {
    /** A bare word: keyword, function or field. {@code text} as written. */
    WORD,
    /** A double-quoted field name. */
    QUOTED,
    STRING,
    NUMBER,
    /** X'..'; {@code text} is the lower-case digits. */
    HEX,
    /** $n; {@code text} is n. */
    PARAM,
    /** An operator or punctuation. */
    SYMBOL,
    END
  }

  /** One token; {@code at} is its place in the text, from 0. */
  record Token(Kind kind, String text, int at) {
    boolean is(String symbol) {
      return kind == Kind.SYMBOL && text.equals(symbol);
    }

    boolean isWord(String keyword) {
      return kind == Kind.WORD && text.equalsIgnoreCase(keyword);
    }
  }

  private static final int NUMBER_CHARS_MAX = 1_000;

  private final String text;
  private int at;

  FilterLexer(String text) {
    this.text = text;
  }

  Token next() {
    while (at < text.length() && isSpace(text.charAt(at))) {
      at++;
    }
    int start = at;
    if (at == text.length()) {
      return new Token(Kind.END, "", start);
    }
    char c = text.charAt(at);
    if ((c == 'X' || c == 'x') && peek(1) == '\'') {
      at++;
      return hex(start);
    }
    if (isLetter(c)) {
      while (at < text.length() && (isLetter(text.charAt(at)) || isDigit(text.charAt(at)))) {
        at++;
      }
      if (peek(0) == '.') {
        throw error(start, "a field name with a dot is written in double quotes");
      }
      return new Token(Kind.WORD, text.substring(start, at), start);
    }
    if (isDigit(c) || (c == '.' && isDigit(peek(1)))) {
      return number(start);
    }
    return switch (c) {
      case '\'' -> new Token(Kind.STRING, quoted('\''), start);
      case '"' -> new Token(Kind.QUOTED, quoted('"'), start);
      case '$' -> param(start);
      default -> symbol(start, c);
    };
  }

  private Token symbol(int start, char c) {
    String two = c + String.valueOf(peek(1));
    String symbol =
        switch (two) {
          case "!=", "<>", "<=", ">=" -> two;
          default ->
              switch (c) {
                case '=', '<', '>', '(', ')', ',', '-', '+', '[', ']' -> String.valueOf(c);
                default -> throw error(start, "unexpected character " + character(start));
              };
        };
    at += symbol.length();
    return new Token(Kind.SYMBOL, symbol, start);
  }

  /** The character at a place as it is written; by its number too where it is none of ASCII. */
  private String character(int place) {
    int point = text.codePointAt(place);
    String quoted = Names.quote(Character.toString(point));
    return point < 128 ? quoted : quoted + String.format(" (U+%04X)", point);
  }

  private Token number(int start) {
    while (at < text.length() && isDigit(text.charAt(at))) {
      at++;
    }
    if (at < text.length() && text.charAt(at) == '.') {
      at++;
      while (at < text.length() && isDigit(text.charAt(at))) {
        at++;
      }
    }
    if (at < text.length() && (text.charAt(at) == 'e' || text.charAt(at) == 'E')) {
      at++;
      if (at < text.length() && (text.charAt(at) == '+' || text.charAt(at) == '-')) {
        at++;
      }
      if (!isDigit(peek(0))) {
        throw error(start, "a number's exponent has no digits");
      }
      while (at < text.length() && isDigit(text.charAt(at))) {
        at++;
      }
    }
    if (isLetter(peek(0))) {
      throw error(at, "unexpected character " + character(at) + " after a number");
    }
    if (at - start > NUMBER_CHARS_MAX) {
      throw limit(
          start,
          "a number has " + (at - start) + " characters, expected at most " + NUMBER_CHARS_MAX);
    }
    return new Token(Kind.NUMBER, text.substring(start, at), start);
  }

  private Token param(int start) {
    at++;
    while (at < text.length() && isDigit(text.charAt(at))) {
      at++;
    }
    if (at == start + 1 || at - start > 7) {
      throw error(start, "expected a parameter's number after '$'");
    }
    return new Token(Kind.PARAM, text.substring(start + 1, at), start);
  }

  private Token hex(int start) {
    String digits = quoted('\'').toLowerCase(Locale.ROOT);
    if (digits.length() % 2 != 0
        || !digits.chars().allMatch(d -> Character.digit(d, 16) >= 0 && d < 128)) {
      throw error(start, "X'..' takes pairs of hexadecimal digits");
    }
    return new Token(Kind.HEX, digits, start);
  }

  /** The content between two quotes; a doubled quote stands for one. */
  private String quoted(char quote) {
    int start = at++;
    StringBuilder content = new StringBuilder();
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c != quote) {
        content.append(c);
      } else if (at < text.length() && text.charAt(at) == quote) {
        content.append(quote);
        at++;
      } else {
        return content.toString();
      }
    }
    throw error(start, "a quote is not closed");
  }

  /** A refusal that names the place. */
  static SagittaException error(int at, String message) {
    return SagittaException.invalid(placed(at, message));
  }

  private static SagittaException limit(int at, String message) {
    return new SagittaException(ErrorCode.LIMIT, placed(at, message));
  }

  private static String placed(int at, String message) {
    return "filter, character " + (at + 1) + ": " + message;
  }

  static BigDecimal number(Token token) {
    try {
      return new BigDecimal(token.text());
    } catch (NumberFormatException | ArithmeticException e) {
      throw limit(
          token.at(),
          "the exponent of the number "
              + Names.quote(token.text())
              + " is beyond the limit, expected at most "
              + Literal.DIGITS_MAX
              + " places");
    }
  }

  private char peek(int ahead) {
    return at + ahead < text.length() ? text.charAt(at + ahead) : '\0';
  }

  private static boolean isSpace(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private static boolean isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
}
