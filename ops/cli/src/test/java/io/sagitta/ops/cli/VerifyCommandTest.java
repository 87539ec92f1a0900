// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.ops.cli.CannedCluster.Run;
import org.junit.jupiter.api.Test;

/** What {@code verify} prints of answers, and the exit codes it makes of them. */
class VerifyCommandTest {
  private static final String N1 =
      "{\"node\": \"n1\", \"index\": 7, \"rows\": 3, \"digest\": \"ab\", \"verdict\": \"equal\"}";
  private static final String N2 =
      "{\"node\": \"n2\", \"index\": 7, \"rows\": 3, \"digest\": \"ab\", \"verdict\": \"equal\"}";
  private static final String N3 =
      "{\"node\": \"n3\", \"index\": 7, \"rows\": 3, \"digest\": \"ab\", \"verdict\": \"equal\"}";
  private static final String ODD =
      """
      {"node": "n3", "index": 7, "rows": 2, "digest": "cd", "verdict": "different",
       "cause": "differs at log index 7 from n1 and n2, a majority"}
      """;
  private static final String DAMAGED =
      """
      {"node": "n3", "error": "sagitta.CORRUPT: 3.ids is bad", "verdict": "damaged",
       "cause": "3.ids is bad"}
      """;
  private static final String DOWN =
      """
      {"node": "n3", "error": "sagitta.UNAVAILABLE: connection refused",
       "verdict": "unreachable", "cause": "connection refused"}
      """;

  private static String shard(int number, String equal, String... replicas) {
    return "{\"shard\": %d, \"equal\": %s, \"replicas\": [%s]}"
        .formatted(number, equal, String.join(",", replicas));
  }

  private static Run verify(String... shards) {
    return new CannedCluster()
        .answers("verify", "{\"shards\": [" + String.join(",", shards) + "]}")
        .run("verify", "films");
  }

  @Test
  void equalReplicasAreASuccess() {
    Run run = verify(shard(0, "true", N1, N2, N3));
    assertThat(run.code()).isZero();
    assertThat(run.out())
        .isEqualToNormalizingNewlines(
            """
            shard  replica  index  rows  digest  verdict
                0  n1           7     3  ab      equal
                0  n2           7     3  ab      equal
                0  n3           7     3  ab      equal
            """);
  }

  @Test
  void theOneThatDiffersIsNamedAndTheOthersAreNotBlamed() {
    Run run = verify(shard(0, "false", N1, N2, ODD));
    assertThat(run.code()).isEqualTo(10);
    assertThat(run.out())
        .isEqualToNormalizingNewlines(
            """
            shard  replica  index  rows  digest  verdict
                0  n1           7     3  ab      equal
                0  n2           7     3  ab      equal
                0  n3           7     2  cd      DIFFERENT

            shard 0 on n3: differs at log index 7 from n1 and n2, a majority
            """);
  }

  @Test
  void aDamagedReplicaIsAnErrorThoughTheOthersAreEqual() {
    Run run = verify(shard(0, "false", N1, N2, DAMAGED));
    assertThat(run.code()).isEqualTo(10);
    assertThat(run.out())
        .isEqualToNormalizingNewlines(
            """
            shard  replica  index  rows  digest  verdict
                0  n1           7     3  ab      equal
                0  n2           7     3  ab      equal
                0  n3           -     -  -       damaged

            shard 0 on n3: 3.ids is bad
            """);
  }

  @Test
  void whereOneDoesNotAnswerNotAllAreKnownToBeEqual() {
    Run run = verify(shard(0, "null", N1, N2, DOWN));
    assertThat(run.code()).isEqualTo(7);
    assertThat(run.out())
        .contains("    0  n2           7     3  ab      equal\n")
        .contains("    0  n3           -     -  -       unreachable\n")
        .endsWith("\nshard 0 on n3: connection refused\n");
  }

  @Test
  void whatSeveralReplicasHaveInCommonIsSaidOnce() {
    String undecided =
        """
        {"node": "n%d", "index": 7, "rows": 3, "digest": "%s", "verdict": "undecided",
         "cause": "they differ"}
        """;
    Run run =
        verify(
            shard(0, "true", N1, N2),
            shard(1, "false", undecided.formatted(1, "ab"), undecided.formatted(2, "cd")));
    assertThat(run.code()).isEqualTo(10);
    assertThat(run.out())
        .contains("    1  n1           7     3  ab      undecided\n")
        .endsWith("undecided\n\nshard 1 on n1 n2: they differ\n");
  }

  @Test
  void theWorstOfTheShardsDecidesTheExitCode() {
    String equal = shard(0, "true", N1, N2, N3);
    String open = shard(1, "null", N1, N2, DOWN);
    String bad = shard(2, "false", N1, N2, ODD);
    assertThat(verify(equal, open).code()).isEqualTo(7);
    assertThat(verify(bad, open, equal).code()).isEqualTo(10);
    assertThat(verify(open, equal, bad).code()).isEqualTo(10);
    assertThat(verify(equal, equal).code()).isZero();
  }

  @Test
  void aShardWithOneReplicaIsNotCalledEqualAndIsNoFailureEither() {
    String only =
        """
        {"node": "n1", "index": 7, "rows": 3, "digest": "ab", "verdict": "only_replica",
         "cause": "the shard has no other replica"}
        """;
    Run run = verify(shard(0, "null", only));
    assertThat(run.code()).isZero();
    assertThat(run.out())
        .contains("    0  n1           7     3  ab      only replica\n")
        .endsWith("\nshard 0 on n1: the shard has no other replica\n");
    assertThat(verify(shard(0, "null", DOWN)).code()).isEqualTo(7);
    assertThat(verify(shard(0, "false", DAMAGED)).code()).isEqualTo(10);
  }

  @Test
  void theOnlyOneThatCouldBeReadOfSeveralIsNotASuccess() {
    String alone =
        """
        {"node": "n1", "index": 7, "rows": 3, "digest": "ab", "verdict": "not_compared",
         "cause": "no other replica could be read"}
        """;
    Run run = verify(shard(0, "null", alone, DOWN));
    assertThat(run.code()).isEqualTo(7);
    assertThat(run.out()).contains("not compared").doesNotContain("equal");
  }

  @Test
  void asJsonItIsTheAnswerAsItCameWithTheSameExitCode() throws Exception {
    String answer = "{\"shards\": [" + shard(0, "false", N1, N2, ODD) + "]}";
    Run run = new CannedCluster().answers("verify", answer).run("verify", "films", "--json");
    assertThat(run.code()).isEqualTo(10);
    assertThat(run.json()).isEqualTo(CannedCluster.MAPPER.readTree(answer));
  }

  @Test
  void anAnswerOfANodeWithOlderSoftwareHasOneVerdictForAShard() {
    String replicas =
        """
        {"node": "n1", "index": 7, "rows": 3, "digest": "ab"},
        {"node": "n2", "error": "sagitta.UNAVAILABLE: gone"}
        """;
    Run run = verify(shard(0, "null", replicas));
    assertThat(run.code()).isEqualTo(7);
    assertThat(run.out())
        .contains("    0  n1           7     3  ab      not compared\n")
        .endsWith("\nshard 0 on n2: sagitta.UNAVAILABLE: gone\n");
    Run different = verify(shard(0, "false", replicas));
    assertThat(different.code()).isEqualTo(10);
    assertThat(different.out()).contains("DIFFERENT");
    assertThat(verify(shard(0, "true", replicas)).code()).isZero();
  }

  @Test
  void theHelpSaysWhatVerdictsAndExitCodesMean() {
    assertThat(new CannedCluster().run("verify", "--help").out())
        .contains("DIFFERENT")
        .contains("undecided")
        .contains("damaged")
        .contains("exit code is 10");
  }
}
