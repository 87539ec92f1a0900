// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.filter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.SagittaException;
import io.sagitta.model.filter.FilterParser;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.TimeZone;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class FilterMeaningTest {

  @Test
  @Tag("B019")
  void nullMissingEmptyAndNullElementsFollowOneTruthTable() {
    try (FilterTable t = new FilterTable("s", "list<utf8>", "one", "utf8")) {
      t.row("s", null).row().row("s", List.of()).row("s", Arrays.asList(null, "a"));
      t.row("s", List.of("a"), "one", "a").row("s", List.of("b"), "one", "b");
      assertThat(t.ids("s IS NULL")).containsExactly(1L, 2L);
      assertThat(t.ids("s IS NOT NULL")).containsExactly(3L, 4L, 5L, 6L);
      assertThat(t.ids("length(s) = 0")).containsExactly(3L);
      assertThat(t.ids("NOT (length(s) = 0)")).containsExactly(4L, 5L, 6L);
      assertThat(t.ids("contains(s, 'a')")).containsExactly(4L, 5L);
      assertThat(t.ids("NOT contains(s, 'a')")).containsExactly(3L, 6L);
      assertThat(t.ids("contains_any(s, 'a', 'b')")).containsExactly(4L, 5L, 6L);
      assertThat(t.ids("contains_all(s, $1)", List.of("a", "b"))).isEmpty();
      assertThat(t.ids("one = 'a'")).containsExactly(5L);
      assertThat(t.ids("one NOT IN ('a')")).containsExactly(6L);
      assertThat(t.ids("NOT (one NOT IN ('a'))")).containsExactly(5L);
      assertThat(t.ids("one IN ('a', NULL)")).containsExactly(5L);
      assertThat(t.ids("one NOT IN ('a', NULL)")).isEmpty();
    }
  }

  @Test
  @Tag("B024")
  void notNeverTurnsAMissingValueIntoAMatch() {
    try (FilterTable t = new FilterTable("t", "int64", "a", "int64", "j", "json")) {
      t.row("t", 1L, "a", 2L, "j", "{\"a\":2}").row("t", 1L, "a", 3L, "j", "{\"a\":3}");
      t.row("t", 1L, "j", "{\"a\":[2]}").row("t", 1L, "a", null, "j", "{\"a\":null}");
      t.row("t", 1L).row("t", 1L, "j", "{\"a\":\"x\"}").row("t", 2L);
      for (String a : List.of("a", "json_path(j, '$.a')")) {
        assertThat(t.ids("NOT(" + a + " > 2)")).containsExactly(1L);
        assertThat(t.ids("NOT(NOT(" + a + " > 2))")).containsExactly(2L);
        assertThat(t.ids("t = 1 AND " + a + " NOT IN (2, 3)")).isEmpty();
        assertThat(t.ids("t = 1 AND " + a + " != 3")).containsExactly(1L);
      }
      assertThat(t.ids("json_path(j, '$.a') IS NULL")).containsExactly(4L, 5L, 7L);
      assertThat(t.ids("a = NULL OR t = 2")).containsExactly(7L);
    }
  }

  @Test
  @Tag("B017")
  void integersBeyondADoublesPrecisionCompareExactly() {
    long[] values = {
      9007199254740992L, 9007199254740993L, 1768907445451174113L, -9223372036854775807L
    };
    try (FilterTable t = new FilterTable("x", "int64")) {
      for (long value : values) {
        t.row("x", value);
      }
      for (int i = 0; i < values.length; i++) {
        BigInteger v = BigInteger.valueOf(values[i]);
        long id = i + 1L;
        assertThat(t.ids("x = " + v)).containsExactly(id);
        assertThat(t.ids("x BETWEEN $1 AND $1", v)).containsExactly(id);
        assertThat(t.ids("x > $1 AND x < $2", v.subtract(BigInteger.ONE), v.add(BigInteger.ONE)))
            .containsExactly(id);
        assertThat(t.ids("x > $1", v)).doesNotContain(id);
        assertThat(t.ids("x IN ($1)", v)).containsExactly(id);
      }
      assertThat(t.ids("x < 9223372036854775808")).hasSize(4);
      assertThat(t.ids("x > -9223372036854775809")).hasSize(4);
      assertThat(t.ids("x = 9007199254740992.5")).isEmpty();
    }
  }

  @Test
  void numbersCompareAsMathematics() {
    try (FilterTable t =
        new FilterTable("i", "int8", "u", "uint64", "f", "float32", "d", "float64")) {
      t.row("i", 42L, "u", -1L, "f", 0.1f, "d", 0.1)
          .row("i", -128L, "u", 0L, "f", Float.NaN, "d", 1e300);
      assertThat(t.ids("i = 42.0")).containsExactly(1L);
      assertThat(t.ids("i > 41.5 AND i < 42.5")).containsExactly(1L);
      assertThat(t.ids("i < 300")).containsExactly(1L, 2L);
      assertThat(t.ids("i = 300")).isEmpty();
      assertThat(t.ids("NOT i = 300")).containsExactly(1L, 2L);
      assertThat(t.ids("u = 18446744073709551615")).containsExactly(1L);
      assertThat(t.ids("u > 9223372036854775807")).containsExactly(1L);
      assertThat(t.ids("u >= -5")).containsExactly(1L, 2L);
      assertThat(t.ids("u < 0")).isEmpty();
      assertThat(t.ids("u IN (0, 18446744073709551615, 1.5)")).containsExactly(1L, 2L);
      assertThat(t.ids("f = 0.1 AND d = 0.1")).containsExactly(1L);
      assertThat(t.ids("f < 0.1 OR f > 0.1")).isEmpty();
      assertThat(t.ids("f != 0.1")).containsExactly(2L);
      assertThat(t.ids("0.05 < d AND 1 >= d")).containsExactly(1L);
    }
  }

  @Test
  @Tag("B023")
  void datesAndTimesAreUtcWhateverTheServersZone() {
    TimeZone before = TimeZone.getDefault();
    try (FilterTable t = new FilterTable("d", "timestamp", "day", "date")) {
      t.row("d", "2024-03-10T00:30:00+01:00", "day", "2024-03-10");
      t.row("d", "2024-03-09T23:30:00Z", "day", "2024-03-09");
      t.row("d", "2024-03-09T23:30:00", "day", "1969-07-20");
      t.row("d", "1969-07-21T20:17:40Z");
      for (String zone : List.of("Asia/Tokyo", "UTC")) {
        TimeZone.setDefault(TimeZone.getTimeZone(zone));
        assertThat(t.ids("d = '2024-03-09T23:30:00Z'")).containsExactly(1L, 2L, 3L);
        assertThat(t.ids("d < TIMESTAMP '1970-01-01'")).containsExactly(4L);
        assertThat(t.ids("d <= '2024-03-09 23:30:00'")).hasSize(4);
        assertThat(t.ids("day = '2024-03-10'")).containsExactly(1L);
        assertThat(t.ids("day < '2024-03-09T12:00:00'")).containsExactly(2L, 3L);
        assertThat(t.ids("day > '1969-07-19T23:59:59.999999999Z'")).hasSize(3);
        assertThat(t.ids("day = '2024-03-09T12:00:00'")).isEmpty();
      }
      refused(t, ErrorCode.INVALID_ARGUMENT, "2024-02-30", "d < '2024-02-30'");
      refused(t, ErrorCode.INVALID_ARGUMENT, "24:30", "d < '2024-02-20T24:30:00'");
    } finally {
      TimeZone.setDefault(before);
    }
  }

  @Test
  @Tag("B025")
  void aValueMatchesItselfAndNothingIsReinterpreted() {
    List<String> notes =
        List.of("say \"hi\"", "it's", "C:\\docs\\x.txt", "50%_*", "6fd5-11-aa", "\uD83D\uDE80");
    try (FilterTable t = new FilterTable("tenant", "utf8", "note", "utf8")) {
      t.row("tenant", "alice").row("tenant", "bob");
      notes.forEach(note -> t.row("note", note));
      for (int i = 0; i < notes.size(); i++) {
        long id = i + 3L;
        assertThat(t.ids("note = $1", notes.get(i))).containsExactly(id);
        assertThat(t.ids("note = '" + notes.get(i).replace("'", "''") + "'")).containsExactly(id);
        assertThat(t.ids("note IN ($1, 'x')", notes.get(i))).containsExactly(id);
      }
      for (String attack : List.of("\") or true or (\"", "x\" OR tenant = \"bob", "x' OR '1'='1")) {
        assertThat(t.ids("tenant = $1", attack)).isEmpty();
        assertThat(t.ids("tenant = '" + attack.replace("'", "''") + "'")).isEmpty();
        String quoted = "\"" + attack.replace("\"", "\"\"") + "\"";
        refused(t, ErrorCode.INVALID_ARGUMENT, "unknown field", quoted + " = 'x'");
      }
      assertThat(t.ids("note LIKE '50\\%%'")).containsExactly(6L);
      assertThat(t.ids("note LIKE 'C:%'")).containsExactly(5L);
      refused(t, ErrorCode.INVALID_ARGUMENT, "LIKE", "note LIKE '%x'");
    }
  }

  @Test
  void halfACharacterEqualsNoOtherAndIsNoFilter() {
    try (FilterTable t = new FilterTable("s", "utf8", "j", "json")) {
      t.row("s", "?", "j", "\"?\"").row("s", "\uFFFD", "j", "\"\\ud800\"").row("j", "\"a\"");
      String half = "\uD83D";
      for (String filter : List.of("s = $1", "s != $1", "s LIKE $1", "json_path(j, '$') = $1")) {
        refused(t, ErrorCode.INVALID_ARGUMENT, "unpaired surrogate", filter, half);
      }
      refused(t, ErrorCode.INVALID_ARGUMENT, "unpaired surrogate", "s IN $1", List.of("a", half));
      refused(
          t, ErrorCode.INVALID_ARGUMENT, "unpaired surrogate at character 6", "s = '" + half + "'");
      assertThat(t.ids("json_path(j, '$') = '?'")).containsExactly(1L);
      assertThat(t.ids("json_path(j, '$') = '\uFFFD'")).isEmpty();
      // By code point: below U+FFFD and every character beyond it.
      assertThat(t.ids("json_path(j, '$') > 'b'")).containsExactly(2L);
      assertThat(t.ids("json_path(j, '$') < '\uFFFD'")).containsExactly(1L, 2L, 3L);
    }
  }

  @Test
  @Tag("B026")
  void longListsWorkAndDeepNestingIsRefusedByName() {
    try (FilterTable t = new FilterTable("x", "int64", "s", "utf8")) {
      t.row("x", 7L, "s", "v7").row("x", -1L, "s", "other");
      for (int count : List.of(100, 10_000)) {
        String ors =
            IntStream.range(0, count).mapToObj(i -> "x = " + i).collect(Collectors.joining(" OR "));
        assertThat(t.ids(ors)).containsExactly(1L);
      }
      List<String> values = IntStream.range(0, 65_536).mapToObj(i -> "v" + i).toList();
      assertThat(t.ids("s IN $1", values)).containsExactly(1L);
      assertThat(t.ids("s NOT IN $1", values)).containsExactly(2L);
      refused(
          t,
          ErrorCode.LIMIT,
          "65536",
          "x IN ("
              + IntStream.range(0, 100_000)
                  .mapToObj(Integer::toString)
                  .collect(Collectors.joining(","))
              + ")");
      refused(t, ErrorCode.LIMIT, "64", "NOT ".repeat(5_000) + "x = 1");
      refused(t, ErrorCode.LIMIT, "64", "NOT(".repeat(5_000) + "x = 1" + ")".repeat(5_000));
      refused(
          t,
          ErrorCode.LIMIT,
          "64",
          "x = 1 AND (x = 1 OR (".repeat(1_000) + "x = 1" + "))".repeat(1_000));
      refused(t, ErrorCode.LIMIT, "bytes", "x = 1 OR ".repeat(200_000) + "x = 1");
      assertThat(t.ids("(".repeat(64) + "x = 7" + ")".repeat(64))).containsExactly(1L);
    }
  }

  @Test
  @Tag("B028")
  void boxesCrossTheAntimeridianAndCirclesThePole() {
    try (FilterTable t = new FilterTable("p", "geo")) {
      t.row("p", new double[] {34.01, -118.23}).row("p", new double[] {51.5, -0.12});
      t.row("p", new double[] {0, -179.9}).row("p", new double[] {89.9, 180}).row();
      assertThat(t.ids("geo_box(p, 74.07, 167, 18.78, -66.89)")).containsExactly(1L);
      assertThat(t.ids("geo_within(p, 0, 179.9, 80000)")).containsExactly(3L);
      assertThat(t.ids("geo_within(p, 89.9, 0, 300000)")).containsExactly(4L);
      assertThat(t.ids("geo_box(p, 90, -180, 80, -170)")).containsExactly(4L);
      assertThat(t.ids("geo_box(p, 51.5, -0.12, 51.5, -0.12)")).containsExactly(2L);
      assertThat(t.ids("NOT geo_within(p, 0, 0, 1)")).containsExactly(1L, 2L, 3L, 4L);
      refused(t, ErrorCode.INVALID_ARGUMENT, "91", "geo_within(p, 91, 0, 1)");
      refused(t, ErrorCode.INVALID_ARGUMENT, "200", "geo_within(p, 0, 200, 1)");
    }
  }

  @Test
  void aPoleIsOnePointAndSoIsThe180thMeridian() {
    try (FilterTable t = new FilterTable("p", "geo")) {
      t.row("p", new double[] {90, 0}).row("p", new double[] {90, -135});
      t.row("p", new double[] {-90, 77}).row("p", new double[] {10, 180});
      assertThat(t.ids("geo_within(p, 90, 77, 0)")).containsExactly(1L, 2L);
      assertThat(t.ids("geo_within(p, -90, -3, 0)")).containsExactly(3L);
      assertThat(t.ids("geo_within(p, 10, -180, 0)")).containsExactly(4L);
      assertThat(t.ids("geo_box(p, 90, 50, 80, 60)")).containsExactly(1L, 2L);
      assertThat(t.ids("geo_box(p, -80, 50, -90, 60)")).containsExactly(3L);
      assertThat(t.ids("geo_box(p, 89.9, -180, 80, 180)")).isEmpty();
    }
  }

  @Test
  void allOfNoValuesAreInEveryListAndNoneIsInAny() {
    try (FilterTable t = new FilterTable("l", "list<utf8>", "d", "float64", "j", "json")) {
      t.row("l", List.of(), "d", 1.0, "j", "{\"a\":1}").row("l", List.of("x")).row();
      List<Object> none = List.of();
      assertThat(t.ids("contains_all(l, $1)", none)).containsExactly(1L, 2L);
      assertThat(t.ids("NOT contains_all(l, $1)", none)).isEmpty();
      assertThat(t.ids("contains_any(l, $1)", none)).isEmpty();
      assertThat(t.ids("NOT contains_any(l, $1)", none)).containsExactly(1L, 2L);
      for (String value : List.of("d", "json_path(j, '$.a')")) {
        assertThat(t.ids(value + " IN $1", none)).isEmpty();
        assertThat(t.ids(value + " NOT IN $1", none)).as(value).containsExactly(1L);
      }
      assertThat(t.ids("length(l) NOT IN $1", none)).containsExactly(1L, 2L);
      assertThat(t.ids("id NOT IN $1", none)).containsExactly(1L, 2L, 3L);
      refused(t, ErrorCode.INVALID_ARGUMENT, "as a whole", "l IN $1", none);
    }
  }

  @Test
  @Tag("B021")
  void aQuotedDotIsPartOfTheNameAndAPathIsNot() {
    try (FilterTable t = new FilterTable("tb_9.6.11", "utf8", "a", "json")) {
      t.row("tb_9.6.11", "x", "a", "{\"a.b\":1}").row("a", "{\"a\":{\"b\":2}}");
      assertThat(t.ids("\"tb_9.6.11\" IS NOT NULL")).containsExactly(1L);
      assertThat(t.ids("\"tb_9.6.11\" = 'x'")).containsExactly(1L);
      assertThat(t.ids("json_path(a, '$[\"a.b\"]') = 1")).containsExactly(1L);
      assertThat(t.ids("json_path(a, '$.a.b') = 2")).containsExactly(2L);
      refused(t, ErrorCode.INVALID_ARGUMENT, "double quotes", "tb_9.6.11 = 'x'");
    }
  }

  @Test
  void aTextThatIsNoValueOfTheFieldIsRefusedByFieldAndPlace() {
    try (FilterTable t = new FilterTable("u", "uuid", "t", "timestamp", "i", "int32")) {
      t.row();
      String uuid = "filter, character 15: field 'u' is uuid: 'nope' is not a UUID";
      refused(t, ErrorCode.INVALID_ARGUMENT, uuid, "i = 1 AND u = 'nope'");
      refused(t, ErrorCode.INVALID_ARGUMENT, uuid, "i = 1 AND u = $1", "nope");
      refused(t, ErrorCode.INVALID_ARGUMENT, "character 6: field 'u'", "u IN $1", List.of("nope"));
      refused(t, ErrorCode.INVALID_ARGUMENT, "character 5: field 't'", "t < 'yesterday'");
      refused(t, ErrorCode.INVALID_ARGUMENT, "character 5: field 'i' is int32", "i = 'x'");
    }
  }

  @Test
  void whatCannotBeComparedIsRefusedByNameAndType() {
    try (FilterTable t =
        new FilterTable("i", "int32", "s", "utf8", "b", "bool", "l", "list<int64>")) {
      t.row("i", 1L, "s", "x", "b", true, "l", Arrays.asList(1L, null));
      refused(t, ErrorCode.INVALID_ARGUMENT, "'nope'", "nope = 1");
      refused(t, ErrorCode.INVALID_ARGUMENT, "int32", "i = 'x'");
      refused(t, ErrorCode.INVALID_ARGUMENT, "utf8", "s = 1");
      refused(t, ErrorCode.INVALID_ARGUMENT, "list<int64>", "l = 1");
      refused(t, ErrorCode.INVALID_ARGUMENT, "no order", "b < TRUE");
      refused(t, ErrorCode.INVALID_ARGUMENT, "finite", "i = $1", Double.NaN);
      refused(t, ErrorCode.INVALID_ARGUMENT, "parameter $2", "i = $2", 1L);
      refused(t, ErrorCode.LIMIT, "exponent", "i = 1e999999999");
      refused(t, ErrorCode.LIMIT, "exponent", "i = 1e-999");
      refused(t, ErrorCode.LIMIT, "exponent", "i = 1e99999999999");
      refused(t, ErrorCode.LIMIT, "exponent", "i = $1", new BigDecimal("1e-999"));
      refused(t, ErrorCode.LIMIT, "1001 characters", "i = 0." + "0".repeat(999));
      refused(t, ErrorCode.LIMIT, "401 digits", "i = 1" + "0".repeat(399) + "1");
      refused(t, ErrorCode.INVALID_ARGUMENT, "parameter $1 is an array", "i = $1", List.of(1L));
      refused(t, ErrorCode.INVALID_ARGUMENT, "\ud83d\ude42' (U+1F642)", "i = \ud83d\ude42");
      refused(t, ErrorCode.UNIMPLEMENTED, "match", "match(s, 'x')");
      refused(t, ErrorCode.INVALID_ARGUMENT, "unknown function", "frob(s)");
      refused(t, ErrorCode.INVALID_ARGUMENT, "", "");
      assertThat(
              t.ids(
                  "id = 1 AND id IN (1, 2) AND b AND contains(l, 1)"
                      .replace("b AND", "b = TRUE AND")))
          .containsExactly(1L);
      assertThat(t.ids("$1 = s", "x")).containsExactly(1L);
      assertThat(t.ids("i = $1", Collections.singletonList(null).toArray())).isEmpty();
    }
  }

  @Test
  void anythingThatIsNoFilterIsRefusedAndNothingElseHappens() {
    String[] pieces = {
      "x",
      "=",
      "<",
      "(",
      ")",
      "NOT",
      "AND",
      "OR",
      "IN",
      "'a'",
      "1",
      "$1",
      ",",
      "IS",
      "NULL",
      "\"x\"",
      "BETWEEN",
      "LIKE",
      "length",
      "json_path",
      "contains",
      "-",
      "X'0",
      "1e",
      ".",
      "'",
      "\u0000",
      "é"
    };
    var random = new java.util.SplittableRandom(7);
    for (int i = 0; i < 20_000; i++) {
      StringBuilder text = new StringBuilder();
      for (int n = random.nextInt(12); n >= 0; n--) {
        text.append(pieces[random.nextInt(pieces.length)]).append(random.nextBoolean() ? " " : "");
      }
      try {
        FilterParser.parse(new FilterText(text.toString(), List.of(1L)));
      } catch (SagittaException e) {
        assertThat(e.getMessage()).isNotBlank();
      }
    }
  }

  private static void refused(
      FilterTable t, ErrorCode code, String named, String filter, Object... params) {
    assertThatThrownBy(() -> t.ids(filter, params))
        .isInstanceOfSatisfying(SagittaException.class, e -> assertThat(e.code()).isEqualTo(code))
        .hasMessageContaining(named);
  }
}
