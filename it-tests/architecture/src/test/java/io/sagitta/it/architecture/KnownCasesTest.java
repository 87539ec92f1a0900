// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Which of the known cases are covered: docs/cases.md is written from the tags of all tests, and
 * this test fails when it is out of date. {@code -Dsagitta.cases=write} writes it anew.
 */
class KnownCasesTest {
  private static final Path LIST = Sources.ROOT.resolve(Path.of("docs", "cases.md"));
  private static final Pattern TAG = Pattern.compile("@Tag\\(\\s*\"(B\\d{3})\"\\s*\\)");
  private static final Pattern LINE = Pattern.compile("(B\\d{3}) ([123]) ([^|]+?)(?: \\| (.+))?");

  /** A known case; {@code waitsFor} is empty where nothing is missing for it. */
  private record Case(String id, String severity, String title, String waitsFor) {}

  @Test
  void theListOfCoveredCasesIsUpToDate() throws IOException {
    String expected = list();
    if ("write".equals(System.getProperty("sagitta.cases"))) {
      Files.writeString(LIST, expected);
    }
    assertThat(LIST)
        .as(
            "docs/cases.md is out of date; write it anew with ./mvnw -Dfast -pl"
                + " it-tests/architecture -am test -Dtest=KnownCasesTest -Dsagitta.cases=write"
                + " -Dsurefire.failIfNoSpecifiedTests=false")
        .hasContent(expected);
  }

  @Test
  void everyTagNamesAKnownCase() throws IOException {
    Set<String> unknown = new TreeSet<>(tests().keySet());
    cases().forEach(known -> unknown.remove(known.id()));
    assertThat(unknown).as("tags of cases that cases.txt does not list").isEmpty();
  }

  private static String list() throws IOException {
    Map<String, Set<String>> tests = tests();
    StringBuilder covered = new StringBuilder();
    StringBuilder waiting = new StringBuilder();
    int coveredCount = 0;
    List<Case> cases = cases();
    for (Case known : cases) {
      Set<String> by = tests.get(known.id());
      if (by != null) {
        coveredCount++;
        covered.append(
            "| %s | %s | %s | %s |\n"
                .formatted(known.id(), known.severity(), known.title(), String.join(", ", by)));
      } else {
        waiting.append(
            "| %s | %s | %s | %s |\n"
                .formatted(
                    known.id(),
                    known.severity(),
                    known.title(),
                    known.waitsFor().isEmpty() ? "a test" : known.waitsFor()));
      }
    }
    return """
        # Known cases

        What has gone wrong in stores like this one, and which test sees to it that it does not here. Severity 1 is
        silent wrong or lost data, 2 an outage, 3 a surprise that shows. Written by `KnownCasesTest` from the tags of the
        tests; do not edit.

        %d of %d are covered.

        | case | severity | right outcome | tests |
        | --- | --- | --- | --- |
        %s
        ## Waiting

        | case | severity | right outcome | for |
        | --- | --- | --- | --- |
        %s"""
        .formatted(coveredCount, cases.size(), covered, waiting);
  }

  private static List<Case> cases() throws IOException {
    try (InputStream in = KnownCasesTest.class.getResourceAsStream("cases.txt")) {
      List<Case> cases = new ArrayList<>();
      for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\\R")) {
        if (line.isBlank() || line.startsWith("#")) {
          continue;
        }
        Matcher matcher = LINE.matcher(line);
        assertThat(matcher.matches()).as(line).isTrue();
        String waitsFor = matcher.group(4) == null ? "" : matcher.group(4);
        cases.add(new Case(matcher.group(1), matcher.group(2), matcher.group(3), waitsFor));
      }
      return cases;
    }
  }

  /** Names of the test classes that carry each tag. */
  private static Map<String, Set<String>> tests() throws IOException {
    Map<String, Set<String>> tests = new TreeMap<>();
    for (Path file : Sources.javaFiles()) {
      if (!Sources.isTest(file)) {
        continue;
      }
      Matcher tags = TAG.matcher(Files.readString(Sources.ROOT.resolve(file)));
      while (tags.find()) {
        String name = file.getFileName().toString().replace(".java", "");
        tests.computeIfAbsent(tags.group(1), unused -> new TreeSet<>()).add(name);
      }
    }
    return tests;
  }
}
