// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.FilterText;
import io.sagitta.model.filter.Filter;
import io.sagitta.model.filter.Filter.Op;
import io.sagitta.model.filter.FilterParser;
import io.sagitta.model.filter.Literal;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/** Random filters on random rows against an interpreter that looks at one plain value at a time. */
class FilterOracleTest {
  private static final String[] TEXTS = {"", "a", "ab", "abc", "b", "é", "z"};

  @Seeded
  void columnsAndPlainValuesAgree(Seed seed) {
    RandomGenerator random = seed.random();
    for (int round = 0; round < 60; round++) {
      try (FilterTable t =
          new FilterTable(
              "i", "int64", "d", "float64", "s", "utf8", "b", "bool", "l", "list<utf8>")) {
        int rows = random.nextInt(1, 300);
        for (int row = 0; row < rows; row++) {
          t.row(
              "i", maybe(random, (long) random.nextInt(-4, 5)),
              "d", maybe(random, random.nextInt(-4, 5) / 2.0),
              "s", maybe(random, text(random)),
              "b", maybe(random, random.nextBoolean()),
              "l", maybe(random, list(random)));
        }
        for (int n = 0; n < 40; n++) {
          String filter = filter(random, 4);
          Object[] params = {List.of(), Arrays.asList((Object) null)};
          Filter parsed = FilterParser.parse(new FilterText(filter, Arrays.asList(params)));
          List<Long> expected = new ArrayList<>();
          for (int row = 0; row < rows; row++) {
            if (Boolean.TRUE.equals(truth(parsed, t.rows.get(row), row + 1L))) {
              expected.add(row + 1L);
            }
          }
          assertThat(t.ids(filter, params)).as(filter).isEqualTo(expected);
        }
      }
    }
  }

  private static Object maybe(RandomGenerator random, Object value) {
    return random.nextInt(5) == 0 ? null : value;
  }

  private static String text(RandomGenerator random) {
    return TEXTS[random.nextInt(TEXTS.length)];
  }

  private static List<String> list(RandomGenerator random) {
    String[] items = new String[random.nextInt(4)];
    Arrays.setAll(items, i -> random.nextInt(5) == 0 ? null : text(random));
    return Arrays.asList(items);
  }

  private static String filter(RandomGenerator random, int depth) {
    if (depth > 0 && random.nextInt(3) > 0) {
      return switch (random.nextInt(3)) {
        case 0 -> "NOT (" + filter(random, depth - 1) + ")";
        case 1 -> "(" + filter(random, depth - 1) + ") AND (" + filter(random, depth - 1) + ")";
        default -> "(" + filter(random, depth - 1) + ") OR " + leaf(random) + " OR " + leaf(random);
      };
    }
    return leaf(random);
  }

  private static String leaf(RandomGenerator random) {
    String op = List.of("=", "!=", "<", "<=", ">", ">=").get(random.nextInt(6));
    String number = List.of("-1", "0", "1.5", "2", "NULL", "-2.0").get(random.nextInt(6));
    String text = "'" + text(random) + "'";
    // No values, and only a NULL.
    String param = random.nextBoolean() ? "$1" : "$2";
    String not = random.nextBoolean() ? "NOT IN " : "IN ";
    return switch (random.nextInt(15)) {
      case 0 -> "i " + op + " " + number;
      case 1 -> "d " + op + " " + number;
      case 2 -> "s " + op + " " + text;
      case 3 -> "b = " + (random.nextBoolean() ? "TRUE" : "FALSE");
      case 4 -> "i NOT IN (1, " + number + ", -3)";
      case 5 -> "s IN (" + text + ", 'ab')";
      case 6 -> "s LIKE 'a%'";
      case 7 -> List.of("i", "d", "s", "b", "l").get(random.nextInt(5)) + " IS NULL";
      case 8 -> "contains(l, " + text + ")";
      case 9 -> "length(l) " + op + " 2";
      case 10 -> "id " + op + " 100";
      case 11 ->
          List.of("i ", "d ", "s ", "b ", "id ", "length(l) ").get(random.nextInt(6)) + not + param;
      case 12 -> "contains_all(l, $1)";
      case 13 -> "contains_any(l, $1)";
      default -> "contains_all(l, " + text + ", 'a')";
    };
  }

  /** TRUE, FALSE, or null for unknown. */
  private static Boolean truth(Filter filter, Map<String, Object> row, long id) {
    return switch (filter) {
      case Filter.And(var parts) -> {
        boolean unknown = false;
        for (Filter part : parts) {
          Boolean truth = truth(part, row, id);
          if (Boolean.FALSE.equals(truth)) {
            yield false;
          }
          unknown |= truth == null;
        }
        yield unknown ? null : true;
      }
      case Filter.Or(var parts) -> {
        boolean unknown = false;
        for (Filter part : parts) {
          Boolean truth = truth(part, row, id);
          if (Boolean.TRUE.equals(truth)) {
            yield true;
          }
          unknown |= truth == null;
        }
        yield unknown ? null : false;
      }
      case Filter.Not(var part) -> {
        Boolean truth = truth(part, row, id);
        yield truth == null ? null : !truth;
      }
      case Filter.Compare(var operand, var op, var value) ->
          compare(value(operand, row, id), op, value);
      case Filter.In(var operand, var values) -> {
        Object value = value(operand, row, id);
        boolean unknown = value == null;
        for (Literal literal : values) {
          Boolean equal = compare(value, Op.EQ, literal);
          if (Boolean.TRUE.equals(equal)) {
            yield true;
          }
          unknown |= equal == null;
        }
        yield unknown ? null : false;
      }
      case Filter.Prefix(var operand, var prefix) ->
          value(operand, row, id) instanceof String s ? s.startsWith(prefix) : null;
      case Filter.IsNull(var operand) -> value(operand, row, id) == null;
      case Filter.Contains(var field, var values, var all) -> {
        if (!(row.get(field) instanceof List<?> items)) {
          yield null;
        }
        List<String> wanted = values.stream().map(v -> ((Literal.Text) v).value()).toList();
        yield all ? items.containsAll(wanted) : wanted.stream().anyMatch(items::contains);
      }
      default -> throw new IllegalStateException(filter.toString());
    };
  }

  private static Object value(Filter.Operand operand, Map<String, Object> row, long id) {
    if (operand instanceof Filter.Operand.Length(var field)) {
      return row.get(field) instanceof List<?> items ? (Object) (long) items.size() : null;
    }
    return operand.field().equals("id") ? (Object) id : row.get(operand.field());
  }

  private static Boolean compare(Object value, Op op, Literal literal) {
    if (value == null || literal instanceof Literal.Null) {
      return null;
    }
    int order =
        switch (literal) {
          case Literal.Num(var number) -> new BigDecimal(value.toString()).compareTo(number);
          // Code points of the texts used here order as their UTF-8 bytes do.
          case Literal.Text(var text) -> ((String) value).compareTo(text);
          case Literal.Bool(var bool) -> Boolean.compare((Boolean) value, bool);
          case Literal.Hex _, Literal.Null _ -> throw new IllegalStateException();
        };
    return switch (op) {
      case EQ -> order == 0;
      case LT -> order < 0;
      case LE -> order <= 0;
      case GT -> order > 0;
      case GE -> order >= 0;
    };
  }
}
