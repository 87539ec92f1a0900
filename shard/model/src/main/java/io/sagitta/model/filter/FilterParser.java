// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model.filter;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.filter.Filter.Op;
import io.sagitta.model.filter.Filter.Operand;
import io.sagitta.model.filter.FilterLexer.Kind;
import io.sagitta.model.filter.FilterLexer.Token;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Recursive descent over
 *
 * <pre>
 * or        = and { OR and }
 * and       = not { AND not }
 * not       = NOT not | primary
 * primary   = '(' or ')' | TRUE | FALSE | function | comparison
 * comparison = operand ( op value | [NOT] IN '(' value, ... ')' | [NOT] IN $n
 *            | [NOT] BETWEEN value AND value | [NOT] LIKE 'prefix%' | IS [NOT] NULL ) | value op operand
 * operand   = field | length(field) | json_path(field, 'path')
 * </pre>
 *
 * Chains of AND and OR are loops; only NOT and parentheses recurse, at most {@link #DEPTH_MAX}
 * deep.
 */
public final class FilterParser {
  /** How deep NOT and parentheses may nest. */
  public static final int DEPTH_MAX = 64;

  /** Values in one IN list or contains list. */
  public static final int VALUES_MAX = 65_536;

  private static final Set<String> RESERVED =
      Set.of("and", "or", "not", "in", "between", "like", "is", "null", "true", "false");

  private final FilterLexer lexer;
  private final List<Object> params;
  private final Map<Literal, Integer> places;
  private Token token;
  private int depth;

  private FilterParser(FilterText filter, Map<Literal, Integer> places) {
    this.places = places;
    this.lexer = new FilterLexer(filter.text());
    this.params = filter.params();
    this.token = lexer.next();
  }

  /** Parses; what is wrong is INVALID_ARGUMENT or LIMIT naming the place. */
  public static Filter parse(FilterText filter) {
    return parse(filter, new IdentityHashMap<>());
  }

  /**
   * As {@link #parse(FilterText)}.
   *
   * @param places takes the place in the text, from 0, of every literal that is a text: by
   *     identity, since equal ones stand in several
   */
  static Filter parse(FilterText filter, Map<Literal, Integer> places) {
    int bytes = filter.text().getBytes(StandardCharsets.UTF_8).length;
    if (bytes > FilterText.TEXT_BYTES_MAX) {
      throw limit("the text has " + bytes + " bytes", FilterText.TEXT_BYTES_MAX + " bytes");
    }
    Literal.unicode(filter.text(), "the filter");
    FilterParser parser = new FilterParser(filter, places);
    Filter parsed = parser.or();
    if (parser.token.kind() != Kind.END) {
      throw parser.unexpected("AND, OR or the end");
    }
    return parsed;
  }

  private Filter or() {
    List<Filter> parts = new ArrayList<>();
    parts.add(and());
    while (acceptWord("OR")) {
      parts.add(and());
    }
    return parts.size() == 1 ? parts.getFirst() : new Filter.Or(parts);
  }

  private Filter and() {
    List<Filter> parts = new ArrayList<>();
    parts.add(not());
    while (acceptWord("AND")) {
      parts.add(not());
    }
    return parts.size() == 1 ? parts.getFirst() : new Filter.And(parts);
  }

  private Filter not() {
    if (!token.isWord("NOT")) {
      return primary();
    }
    enter();
    advance();
    Filter part = not();
    depth--;
    return new Filter.Not(part);
  }

  private Filter primary() {
    if (token.is("(")) {
      enter();
      advance();
      Filter inner = or();
      expect(")");
      depth--;
      return inner;
    }
    if (token.isWord("TRUE") || token.isWord("FALSE") || token.isWord("NULL")) {
      Token constant = token;
      Literal value = value();
      // TRUE = flag is a comparison that was turned round.
      return isOperator() ? turnedRound(value, constant) : new Filter.Constant(value);
    }
    if (isValue()) {
      Token first = token;
      return turnedRound(value(), first);
    }
    return condition();
  }

  private Filter turnedRound(Literal value, Token at) {
    if (!isOperator()) {
      throw FilterLexer.error(at.at(), "a value stands where a condition is expected");
    }
    String op = symbol();
    return compare(operand(), op, value, true);
  }

  /** A function that is a condition, or a comparison of an operand. */
  private Filter condition() {
    if (token.kind() != Kind.WORD) {
      return comparison(operand());
    }
    Token name = token;
    String function = name.text().toLowerCase(Locale.ROOT);
    switch (function) {
      case "contains",
          "contains_any",
          "contains_all",
          "geo_within",
          "geo_box",
          "match",
          "phrase" -> {
        advance();
        if (!token.is("(")) {
          return comparison(new Operand.FieldValue(checkField(name)));
        }
        advance();
        Filter call = call(function, name);
        expect(")");
        return call;
      }
      default -> {
        return comparison(operand());
      }
    }
  }

  private Filter call(String function, Token at) {
    return switch (function) {
      case "contains" -> {
        String field = field();
        expect(",");
        yield new Filter.Contains(field, List.of(value()), true);
      }
      case "contains_any", "contains_all" -> {
        String field = field();
        expect(",");
        List<Literal> values = token.is("(") || token.is("[") ? list() : values();
        yield new Filter.Contains(field, values, function.endsWith("all"));
      }
      case "geo_within" -> {
        String field = field();
        double[] n = numbers(3);
        checkLatitude(n[0]);
        checkLongitude(n[1]);
        if (n[2] < 0) {
          throw FilterLexer.error(at.at(), "geo_within takes a radius of 0 metres or more");
        }
        yield new Filter.GeoWithin(field, n[0], n[1], n[2]);
      }
      case "geo_box" -> {
        String field = field();
        double[] n = numbers(4);
        checkLatitude(n[0]);
        checkLongitude(n[1]);
        checkLatitude(n[2]);
        checkLongitude(n[3]);
        if (n[0] < n[2]) {
          throw FilterLexer.error(
              at.at(), "geo_box takes top, left, bottom, right; its top lies below its bottom");
        }
        yield new Filter.GeoBox(field, n[0], n[1], n[2], n[3]);
      }
      default ->
          throw new SagittaException(
              ErrorCode.UNIMPLEMENTED, "filter: " + function + "() is not offered yet");
    };
  }

  private Filter comparison(Operand operand) {
    if (isOperator()) {
      String op = symbol();
      return compare(operand, op, value(), false);
    }
    if (acceptWord("IS")) {
      boolean not = acceptWord("NOT");
      expectWord("NULL");
      return negate(new Filter.IsNull(operand), not);
    }
    boolean not = acceptWord("NOT");
    if (acceptWord("IN")) {
      return negate(new Filter.In(operand, list()), not);
    }
    if (acceptWord("BETWEEN")) {
      Literal low = value();
      expectWord("AND");
      Literal high = value();
      return negate(
          new Filter.And(
              List.of(
                  new Filter.Compare(operand, Op.GE, low),
                  new Filter.Compare(operand, Op.LE, high))),
          not);
    }
    if (acceptWord("LIKE")) {
      return negate(like(operand), not);
    }
    throw unexpected("a comparison such as = or IN after a field");
  }

  private static Filter negate(Filter filter, boolean not) {
    return not ? new Filter.Not(filter) : filter;
  }

  private static Filter compare(Operand operand, String op, Literal value, boolean turned) {
    Op known =
        switch (op) {
          case "<" -> Op.LT;
          case "<=" -> Op.LE;
          case ">" -> Op.GT;
          case ">=" -> Op.GE;
          default -> Op.EQ;
        };
    Filter compare = new Filter.Compare(operand, turned ? known.turned() : known, value);
    return negate(compare, op.equals("!=") || op.equals("<>"));
  }

  /** LIKE with no wildcard is equality; with one trailing % it is a prefix. */
  private Filter like(Operand operand) {
    Token at = token;
    if (!(value() instanceof Literal.Text(String pattern))) {
      throw FilterLexer.error(at.at(), "LIKE takes a text");
    }
    StringBuilder prefix = new StringBuilder();
    for (int i = 0; i < pattern.length(); i++) {
      char c = pattern.charAt(i);
      if (c == '\\' && i + 1 < pattern.length() && "%_\\".indexOf(pattern.charAt(i + 1)) >= 0) {
        prefix.append(pattern.charAt(++i));
      } else if (c == '%' && i == pattern.length() - 1) {
        return new Filter.Prefix(operand, prefix.toString());
      } else if (c == '%' || c == '_') {
        throw FilterLexer.error(
            at.at(), "LIKE knows one trailing % only; write \\% and \\_ for the characters");
      } else {
        prefix.append(c);
      }
    }
    return new Filter.Compare(operand, Op.EQ, new Literal.Text(prefix.toString()));
  }

  private Operand operand() {
    if (token.kind() == Kind.WORD) {
      Token name = token;
      boolean length = name.isWord("length");
      if (length || name.isWord("json_path")) {
        advance();
        if (!token.is("(")) {
          return new Operand.FieldValue(checkField(name));
        }
        advance();
        String field = field();
        Operand operand;
        if (length) {
          operand = new Operand.Length(field);
        } else {
          expect(",");
          operand = new Operand.JsonPath(field, path());
        }
        expect(")");
        return operand;
      }
    }
    return new Operand.FieldValue(field());
  }

  private List<String> path() {
    Token at = token;
    if (!(value() instanceof Literal.Text(String path))) {
      throw FilterLexer.error(at.at(), "json_path takes a text such as '$.a.b'");
    }
    return JsonSteps.parse(path);
  }

  private String field() {
    if (token.kind() == Kind.QUOTED) {
      String name = token.text();
      advance();
      return name;
    }
    if (token.kind() != Kind.WORD) {
      throw unexpected("a field");
    }
    Token name = token;
    advance();
    return checkField(name);
  }

  private String checkField(Token name) {
    if (RESERVED.contains(name.text().toLowerCase(Locale.ROOT))) {
      throw FilterLexer.error(
          name.at(), Names.quote(name.text()) + " is a keyword; a field of that name is quoted");
    }
    if (token.is("(")) {
      throw FilterLexer.error(name.at(), "unknown function " + Names.quote(name.text()));
    }
    return name.text();
  }

  private boolean isValue() {
    return switch (token.kind()) {
      case STRING, NUMBER, HEX, PARAM -> true;
      case SYMBOL -> token.is("-") || token.is("+");
      case WORD, QUOTED, END -> false;
    };
  }

  private Literal value() {
    Token first = token;
    advance();
    return switch (first.kind()) {
      case STRING -> placed(new Literal.Text(first.text()), first);
      case HEX -> new Literal.Hex(first.text());
      case NUMBER -> new Literal.Num(FilterLexer.number(first));
      case PARAM -> placed(Literal.of(param(first), "filter, parameter $" + first.text()), first);
      case SYMBOL -> {
        if ((first.is("-") || first.is("+")) && token.kind() == Kind.NUMBER) {
          Token digits = token;
          advance();
          var number = FilterLexer.number(digits);
          yield new Literal.Num(first.is("-") ? number.negate() : number);
        }
        throw FilterLexer.error(first.at(), "expected a value, found " + shown(first));
      }
      case WORD -> word(first);
      case QUOTED, END ->
          throw FilterLexer.error(first.at(), "expected a value, found " + shown(first));
    };
  }

  private Literal placed(Literal literal, Token at) {
    if (literal instanceof Literal.Text) {
      places.put(literal, at.at());
    }
    return literal;
  }

  private Literal word(Token first) {
    if (first.isWord("TRUE") || first.isWord("FALSE")) {
      return new Literal.Bool(first.isWord("TRUE"));
    }
    if (first.isWord("NULL")) {
      return Literal.NULL;
    }
    if ((first.isWord("TIMESTAMP") || first.isWord("DATE") || first.isWord("UUID"))
        && token.kind() == Kind.STRING) {
      return value();
    }
    throw FilterLexer.error(first.at(), "expected a value, found " + shown(first));
  }

  private Object param(Token at) {
    int number = Integer.parseInt(at.text());
    if (number < 1 || number > params.size()) {
      throw FilterLexer.error(
          at.at(), "there is no parameter $" + number + ", " + params.size() + " were given");
    }
    return params.get(number - 1);
  }

  /** {@code (v, ...)}, {@code [v, ...]}, or a parameter that is a list. */
  private List<Literal> list() {
    if (token.kind() == Kind.PARAM && param(token) instanceof List<?> given) {
      Token at = token;
      advance();
      checkValues(given.size());
      return given.stream()
          .map(
              v ->
                  placed(
                      Literal.of(v, "filter, parameter $" + at.text() + ", a value of the list"),
                      at))
          .toList();
    }
    boolean bracket = token.is("[");
    if (!bracket) {
      expect("(");
    } else {
      advance();
    }
    List<Literal> values = values();
    expect(bracket ? "]" : ")");
    return values;
  }

  private List<Literal> values() {
    if (token.kind() == Kind.PARAM && param(token) instanceof List<?>) {
      return list();
    }
    List<Literal> values = new ArrayList<>();
    do {
      values.add(value());
      checkValues(values.size());
    } while (accept(","));
    return values;
  }

  private static void checkValues(int count) {
    if (count > VALUES_MAX) {
      throw limit("a list has more than " + VALUES_MAX + " values", VALUES_MAX + " values");
    }
  }

  private double[] numbers(int count) {
    double[] numbers = new double[count];
    for (int i = 0; i < count; i++) {
      expect(",");
      Token at = token;
      if (!(value() instanceof Literal.Num(var number))) {
        throw FilterLexer.error(at.at(), "expected a number");
      }
      numbers[i] = number.doubleValue();
    }
    return numbers;
  }

  private static void checkLatitude(double lat) {
    if (!(lat >= -90 && lat <= 90)) {
      throw SagittaException.invalid("filter: latitude " + lat + " is outside -90..90");
    }
  }

  private static void checkLongitude(double lon) {
    if (!(lon >= -180 && lon <= 180)) {
      throw SagittaException.invalid("filter: longitude " + lon + " is outside -180..180");
    }
  }

  private boolean isOperator() {
    return token.kind() == Kind.SYMBOL
        && switch (token.text()) {
          case "=", "!=", "<>", "<", "<=", ">", ">=" -> true;
          default -> false;
        };
  }

  private String symbol() {
    String text = token.text();
    advance();
    return text;
  }

  private void enter() {
    if (++depth > DEPTH_MAX) {
      throw limit("NOT and parentheses nest deeper", "a depth of " + DEPTH_MAX);
    }
  }

  private static SagittaException limit(String what, String most) {
    return new SagittaException(ErrorCode.LIMIT, "filter: " + what + ", expected at most " + most);
  }

  private void advance() {
    token = lexer.next();
  }

  private boolean accept(String symbol) {
    if (token.is(symbol)) {
      advance();
      return true;
    }
    return false;
  }

  private boolean acceptWord(String keyword) {
    if (token.isWord(keyword)) {
      advance();
      return true;
    }
    return false;
  }

  private void expect(String symbol) {
    if (!accept(symbol)) {
      throw unexpected("'" + symbol + "'");
    }
  }

  private void expectWord(String keyword) {
    if (!acceptWord(keyword)) {
      throw unexpected(keyword);
    }
  }

  private SagittaException unexpected(String expected) {
    return FilterLexer.error(token.at(), "expected " + expected + ", found " + shown(token));
  }

  private static String shown(Token token) {
    return token.kind() == Kind.END ? "the end" : Names.quote(token.text());
  }
}
