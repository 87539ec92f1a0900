// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.ops.cli.CannedCluster.Run;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How the command line fails: exit code, one line, JSON, no trace. */
@Tag("B049")
class FailureTest {
  private static final String DESCRIPTION = "{\"collection\": \"films\", \"id\": \"int64\"}";

  private final CannedCluster cluster = new CannedCluster().answers("describe", DESCRIPTION);

  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void everyErrorHasItsExitCodeAndOneLine(ErrorCode code) {
    cluster.fails("drop", new SagittaException(code, "no collection 'films'\n  at row 3"));

    Run run = cluster.run("drop", "films");

    assertThat(run.code()).isEqualTo(code.exitCode()).isNotZero();
    assertThat(run.out()).isEmpty();
    assertThat(run.err().lines()).hasSize(1);
    assertThat(run.err()).startsWith("sagitta ctl: no collection 'films'; at row 3");
  }

  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void withJsonAnErrorIsAnObjectToo(ErrorCode code) {
    cluster.fails("drop", new SagittaException(code, "refused", 250, null));

    Run run = cluster.run("drop", "films", "--json");

    assertThat(run.code()).isEqualTo(code.exitCode());
    assertThat(run.json().at("/error/code").asText()).isEqualTo(code.qualified());
    assertThat(run.json().at("/error/message").asText()).isEqualTo("refused");
    assertThat(run.json().at("/error/exit_code").asInt()).isEqualTo(code.exitCode());
    assertThat(run.json().at("/error/retry_after_ms").asInt()).isEqualTo(250);
    assertThat(run.err().lines()).hasSize(1);
  }

  @Test
  void aClusterThatCannotBeReachedIsNamedByItsOption() {
    Run run = cluster.unreachable().run("--endpoint", "localhost:1", "status");

    assertThat(run.code()).isEqualTo(7);
    assertThat(run.err())
        .isEqualToIgnoringNewLines(
            "sagitta ctl: cannot connect: connection refused (--endpoint localhost:1)");
  }

  @Test
  void aBugShowsNoTraceUnlessAskedFor() {
    cluster.fails("status", new IllegalStateException("lost\nmy mind"));

    Run plain = cluster.run("status");
    assertThat(plain.code()).isEqualTo(10);
    assertThat(plain.err().lines()).hasSize(1);
    assertThat(plain.err()).contains("lost; my mind").doesNotContain("\tat ");

    Run debug = cluster.run("status", "--debug");
    assertThat(debug.code()).isEqualTo(10);
    assertThat(debug.err()).contains("\tat io.sagitta");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "serch films",
        "search",
        "search films",
        "search films --vector 1 --like 2",
        "search films --vector 1 --exact --ef 10",
        "search films --vector 1 -k many",
        "search films --vector 1 --colour red",
        "count films --timeout soon",
        "count films --timeout 0s",
        "status --endpoint nowhere",
        "status --endpoint h:70000",
        "get films",
        ""
      })
  void aCommandLineThatCannotBeUnderstoodIsAUsageError(String line) {
    Run run = cluster.run(line.isEmpty() ? new String[0] : line.split(" "));

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().lines()).hasSize(1);
    assertThat(run.err()).startsWith("sagitta ctl: ").contains("--help");
  }

  @Test
  void aUsageErrorIsJsonTooWhereverTheOptionStands() {
    for (Run run :
        new Run[] {
          cluster.run("--json", "serch"), cluster.run("count", "films", "--nope", "--json")
        }) {
      assertThat(run.code()).isEqualTo(2);
      assertThat(run.json().at("/error/code").asText()).isEqualTo("sagitta.INVALID_ARGUMENT");
    }
  }

  @Test
  void refusalsSpeakOfOptionsNotOfKeys() {
    assertThat(cluster.run("search", "films", "--vector", "1,2", "-k", "0").err())
        .startsWith("sagitta ctl: -k is 0, expected an integer from 1 to 10000");
    assertThat(cluster.run("search", "films", "--vector", "1,x").err())
        .startsWith("sagitta ctl: --vector is not comma-separated numbers");
    assertThat(cluster.run("search", "films", "--vector", "1,2", "--recall", "1.5").err())
        .startsWith("sagitta ctl: --recall is 1.5");
    assertThat(cluster.run("search", "films", "--vector", "1,2", "--param", "3").err())
        .contains("--param")
        .contains("--filter");
    assertThat(cluster.run("scan", "films", "--limit", "0").err())
        .startsWith("sagitta ctl: --limit is 0");
    assertThat(cluster.run("create", "films", "--field", "v:float99[3]").err())
        .startsWith("sagitta ctl: --field (fields[0]): ");
    assertThat(cluster.run("get", "films", "ten").err())
        .startsWith("sagitta ctl: ID: id 'ten' is not an int64");
  }

  @Test
  void theServersWordsAreTranslatedToo() {
    cluster.fails(
        "count", SagittaException.invalid("'count.filter' has an unknown field 'filter'"));
    assertThat(cluster.run("count", "films", "--filter", "filter = 1").err())
        .isEqualToIgnoringNewLines("sagitta ctl: --filter has an unknown field 'filter'");
  }

  @ParameterizedTest
  @Tag("B045")
  @ValueSource(
      strings = {
        "..", ".", "../x", "a/b", "a\\b", "%2e%2e", "a\0b", "a\nb", "", "Foo", "名前", "CON", "é",
        "é", "-a", "_a", "a b"
      })
  void aNameOutsideTheRuleIsRefusedBeforeAnythingIsSent(String name) {
    String[][] commands = {
      {"create", "--field", "v:float32[2]", "--", name},
      {"describe", "--", name},
      {"drop", "--", name},
      {"verify", "--", name},
      {"count", "--", name},
      {"scan", "--", name},
      {"get", "--", name, "1"},
      {"search", "--vector", "1,2", "--", name},
      {"delete", "--filter", "true", "--", name}
    };
    for (String[] command : commands) {
      Run run = cluster.run(command);
      assertThat(run.code()).as(command[0]).isEqualTo(2);
      assertThat(run.err()).contains("expected [a-z0-9][a-z0-9_-]{0,62}");
      assertThat(run.err().lines()).hasSize(1);
    }
    assertThat(cluster.asked).isEmpty();
  }

  @Test
  @Tag("B045")
  void aNameOfThreeHundredLettersIsRefused() {
    assertThat(cluster.run("describe", "a".repeat(300)).code()).isEqualTo(2);
    assertThat(cluster.run("describe", "a".repeat(63)).code()).isZero();
  }

  @Test
  void whatIsNotThereIsNotASuccess() {
    Run run = cluster.run("get", "films", "1");
    assertThat(run.code()).isEqualTo(3);
  }
}
