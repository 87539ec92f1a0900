// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.Utf8;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Walks a JSON text once, refusing whatever was not asked for: unknown and repeated keys, values of
 * another type, trailing text. Every refusal is INVALID_ARGUMENT and names the key, the value and
 * what was expected. Numbers stay exact: integers become Long or BigInteger, decimals BigDecimal.
 *
 * <p>An object is walked by {@link #enter}, then {@link #nextKey} until it returns null; after each
 * key exactly one value is read.
 */
final class StrictJson implements AutoCloseable {
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          // Requests are UTF-8; a guess at UTF-16 would read other bytes than those checked here.
          .disable(JsonFactory.Feature.CHARSET_DETECTION)
          // Keys are a client's: interning them would let it fill a global table.
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(RequestLimits.DEPTH_MAX)
                  .maxNameLength(1_024)
                  .maxNumberLength(RequestLimits.DECIMAL_DIGITS_MAX)
                  .maxStringLength(RequestLimits.REQUEST_BYTES_MAX)
                  .build())
          .build();

  private final JsonParser parser;
  private final Deque<Frame> frames = new ArrayDeque<>();
  private String key;

  /** An object being walked: what it is called, and the keys it may have. */
  private record Frame(String name, Optional<List<String>> known) {}

  private StrictJson(JsonParser parser) {
    this.parser = parser;
  }

  /** Opens a text and moves to its one value. {@code root} names it in errors, or is empty. */
  static StrictJson open(byte[] utf8, String root) {
    if (utf8.length > RequestLimits.REQUEST_BYTES_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT,
          "request has " + utf8.length + " bytes, at most " + RequestLimits.REQUEST_BYTES_MAX);
    }
    // The parser would put a replacement in its place.
    int invalid = Utf8.firstInvalid(MemorySegment.ofArray(utf8));
    if (invalid >= 0) {
      throw SagittaException.invalid(
          "malformed JSON: the request is not valid UTF-8 at byte " + invalid);
    }
    try {
      StrictJson json = new StrictJson(FACTORY.createParser(utf8));
      json.key = root;
      json.advance();
      if (json.parser.currentToken() == null) {
        throw SagittaException.invalid("request is empty, expected a JSON object");
      }
      return json;
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  /** Checks that nothing follows the value read. */
  void end() {
    if (advance() != null) {
      throw SagittaException.invalid("malformed JSON: text follows the object" + position());
    }
  }

  @Override
  public void close() {
    try {
      parser.close();
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  // ---- objects

  /** Begins the object at hand, which may have these keys. */
  void enter(List<String> known) {
    expect(JsonToken.START_OBJECT, "an object");
    frames.addLast(new Frame(key, Optional.of(known)));
  }

  /** Begins the object at hand, whose keys are a client's own. */
  private void enterAny() {
    expect(JsonToken.START_OBJECT, "an object");
    frames.addLast(new Frame(key, Optional.empty()));
  }

  /** The next key of the object entered last, its value at hand; null at the object's end. */
  String nextKey() {
    if (advance() == JsonToken.END_OBJECT) {
      key = frames.removeLast().name();
      return null;
    }
    key = text(parser::currentName);
    Optional<List<String>> known = frames.getLast().known();
    if (known.isPresent() && !known.get().contains(key)) {
      throw unknownKey(known.get());
    }
    advance();
    return key;
  }

  private SagittaException unknownKey(List<String> known) {
    String hint =
        NearestName.of(key, known)
            .map(nearest -> "did you mean '" + nearest + "'?")
            .orElse(known.isEmpty() ? "expected no keys" : "expected one of " + known);
    return SagittaException.invalid("unknown key " + where() + ", " + hint);
  }

  /** Complains that a key of the object just read is missing; a no-op where it is present. */
  void require(boolean present, String missing) {
    if (!present) {
      throw SagittaException.invalid(prefixed(key, "key '" + missing + "' is missing"));
    }
  }

  /** Complains that none of the keys of which one is needed was in the object just read. */
  void requireOneOf(boolean present, List<String> missing) {
    if (!present) {
      throw SagittaException.invalid(prefixed(key, "one of the keys " + missing + " is missing"));
    }
  }

  /** The key at hand; {@link #rename} gives array elements their place. */
  String key() {
    return key;
  }

  /** What errors call the value at hand from now on. */
  void rename(String name) {
    key = name;
  }

  /** Steps to the next element of the array at hand; false at its end. */
  boolean nextElement() {
    return advance() != JsonToken.END_ARRAY;
  }

  /** Begins the array at hand. */
  void enterArray(String expected) {
    expect(JsonToken.START_ARRAY, expected);
  }

  // ---- values

  boolean isArray() {
    return parser.currentToken() == JsonToken.START_ARRAY;
  }

  boolean isString() {
    return parser.currentToken() == JsonToken.VALUE_STRING;
  }

  boolean isInteger() {
    return parser.currentToken() == JsonToken.VALUE_NUMBER_INT;
  }

  String string() {
    expect(JsonToken.VALUE_STRING, "a string");
    return text(parser::getText);
  }

  boolean bool() {
    return switch (parser.currentToken()) {
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> throw wrong("true or false");
    };
  }

  /** An integer in {@code min..max}; others are refused, never wrapped. */
  long integer(long min, long max) {
    String expected = "an integer from " + min + " to " + max;
    expect(JsonToken.VALUE_NUMBER_INT, expected);
    BigInteger value = new BigInteger(text(parser::getText));
    if (value.compareTo(BigInteger.valueOf(min)) < 0
        || value.compareTo(BigInteger.valueOf(max)) > 0) {
      throw wrong(expected);
    }
    return value.longValueExact();
  }

  int integer(int min, int max) {
    return Math.toIntExact(integer((long) min, (long) max));
  }

  /** The digits of an integer as they stand. */
  String integerText() {
    expect(JsonToken.VALUE_NUMBER_INT, "an integer");
    return text(parser::getText);
  }

  /** A finite double. */
  double number(String expected) {
    if (!isNumber()) {
      throw wrong(expected);
    }
    double value = Double.parseDouble(text(parser::getText));
    if (!Double.isFinite(value)) {
      throw wrong(expected);
    }
    return value;
  }

  /** The value of a name in lower case, one of an enum's constants. */
  <E extends Enum<E>> E oneOf(Class<E> type) {
    List<String> names = names(type);
    if (!isString() || !names.contains(string())) {
      throw wrong("one of " + names);
    }
    return type.getEnumConstants()[names.indexOf(string())];
  }

  static <E extends Enum<E>> List<String> names(Class<E> type) {
    return Arrays.stream(type.getEnumConstants()).map(StrictJson::nameOf).toList();
  }

  /** An enum's constant as it stands in requests. */
  static String nameOf(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /**
   * The components of one vector.
   *
   * @param row which vector, for errors
   */
  float[] floats(int row, int max) {
    enterArray("an array of numbers");
    float[] values = new float[Math.min(max, 384)];
    int n = 0;
    while (nextElement()) {
      if (!isNumber()) {
        throw wrong("a number as component " + n + " of vector " + row);
      }
      if (n == max) {
        throw tooMany(max, "components");
      }
      float value = component();
      if (!Float.isFinite(value)) {
        throw wrong("a finite float32 as component " + n + " of vector " + row);
      }
      if (n == values.length) {
        values = Arrays.copyOf(values, Math.min(max, 2 * n));
      }
      values[n++] = value;
    }
    if (n == 0) {
      throw wrong("at least one component in vector " + row);
    }
    return Arrays.copyOf(values, n);
  }

  private float component() {
    try {
      return parser.getFloatValue();
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  /** Strings, each at most once. */
  List<String> distinctStrings(int max) {
    enterArray("an array of strings");
    List<String> values = new ArrayList<>();
    while (nextElement()) {
      String value = string();
      if (values.contains(value)) {
        throw wrong("each name once");
      }
      if (values.size() == max) {
        throw tooMany(max, "names");
      }
      values.add(value);
    }
    return List.copyOf(values);
  }

  /** Null, Boolean, Long, BigInteger, BigDecimal or String. */
  Object scalar(String expected) {
    return switch (parser.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_STRING -> string();
      case VALUE_NUMBER_INT -> exactInteger();
      case VALUE_NUMBER_FLOAT -> exactDecimal();
      default -> throw wrong(expected);
    };
  }

  private Object exactInteger() {
    BigInteger value = new BigInteger(text(parser::getText));
    return value.bitLength() < Long.SIZE ? (Object) value.longValueExact() : value;
  }

  private BigDecimal exactDecimal() {
    BigDecimal value;
    try {
      value = new BigDecimal(text(parser::getText));
    } catch (NumberFormatException e) {
      throw tooLong(); // the exponent itself is beyond an int
    }
    // 1e999999999 is short to write and would be gigabytes as an integer.
    if (Math.abs((long) value.precision() - value.scale()) > RequestLimits.DECIMAL_DIGITS_MAX
        || Math.abs((long) value.scale()) > RequestLimits.DECIMAL_DIGITS_MAX) {
      throw tooLong();
    }
    return value;
  }

  /** Any value: scalars as above, List, Map in the order written. */
  Object value() {
    if (isArray()) {
      List<Object> list = new ArrayList<>();
      while (nextElement()) {
        list.add(value());
      }
      return list;
    }
    if (parser.currentToken() == JsonToken.START_OBJECT) {
      return object();
    }
    return scalar("a value");
  }

  /** An object with any keys. */
  Map<String, Object> object() {
    Map<String, Object> map = new LinkedHashMap<>();
    enterAny();
    for (String name = nextKey(); name != null; name = nextKey()) {
      map.put(name, value());
    }
    return map;
  }

  // ---- errors

  /** The value at hand is not what was expected. */
  SagittaException wrong(String expected) {
    return SagittaException.invalid(where() + " is " + found() + ", expected " + expected);
  }

  /** The array at hand goes on beyond what is taken. */
  SagittaException tooMany(int max, String what) {
    return new SagittaException(
        ErrorCode.LIMIT,
        where() + " has more than " + max + " " + what + ", expected at most " + max);
  }

  private SagittaException tooLong() {
    return new SagittaException(
        ErrorCode.LIMIT,
        where()
            + " is "
            + found()
            + ", expected a number of at most "
            + RequestLimits.DECIMAL_DIGITS_MAX
            + " digits before and after its point");
  }

  /** Something is wrong with the key at hand that is not its JSON value as such. */
  SagittaException wrongHere(String problem) {
    return SagittaException.invalid(where() + ": " + problem);
  }

  /** Reads what checks itself, and says where it stood. */
  <T> T checked(Supplier<T> reader) {
    try {
      return reader.get();
    } catch (SagittaException e) {
      throw new SagittaException(e.code(), where() + ": " + e.getMessage(), e);
    }
  }

  private String where() {
    StringBuilder out = new StringBuilder("'");
    for (Frame frame : frames) {
      if (!frame.name().isEmpty()) {
        out.append(frame.name()).append('.');
      }
    }
    String quoted = Names.quote(key);
    return out.append(quoted, 1, quoted.length()).toString();
  }

  private static String prefixed(String root, String message) {
    return root.isEmpty() ? message : root + ": " + message;
  }

  private String found() {
    return switch (parser.currentToken()) {
      case START_OBJECT -> "an object";
      case START_ARRAY, END_ARRAY -> "an array";
      case VALUE_STRING -> Names.quote(text(parser::getText));
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> shortened(text(parser::getText));
      case VALUE_TRUE -> "true";
      case VALUE_FALSE -> "false";
      case VALUE_NULL -> "null";
      default -> "nothing";
    };
  }

  private static String shortened(String digits) {
    return digits.length() <= 40 ? digits : digits.substring(0, 40) + "...";
  }

  // ---- the parser underneath

  private boolean isNumber() {
    JsonToken token = parser.currentToken();
    return token == JsonToken.VALUE_NUMBER_INT || token == JsonToken.VALUE_NUMBER_FLOAT;
  }

  private void expect(JsonToken token, String expected) {
    if (parser.currentToken() != token) {
      throw wrong(expected);
    }
  }

  private JsonToken advance() {
    try {
      return parser.nextToken();
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  private interface TextSource {
    String get() throws IOException;
  }

  private static String text(TextSource source) {
    try {
      return source.get();
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  private String position() {
    JsonLocation at = parser.currentTokenLocation();
    return " at line " + at.getLineNr() + ", column " + at.getColumnNr();
  }

  private static SagittaException malformed(IOException e) {
    String what =
        e instanceof JsonProcessingException json ? JsonMistake.describe(json) : e.getMessage();
    return e instanceof StreamConstraintsException
        ? new SagittaException(ErrorCode.LIMIT, "JSON: " + what, e)
        : new SagittaException(ErrorCode.INVALID_ARGUMENT, "malformed JSON: " + what, e);
  }
}
