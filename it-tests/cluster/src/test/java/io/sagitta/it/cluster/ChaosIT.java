// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.it.cluster.Launcher.Run;
import io.sagitta.ops.bench.process.PowerCutDevice;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Faults against three real nodes, by the commands that a user has. A failure prints the seed and
 * the command that replays it, and keeps the nodes' logs.
 *
 * <p>A round takes some ten seconds, most of them three JVMs starting at once, and several times
 * that on a machine with little to spare. A run that takes longer than {@link #PATIENCE} hangs; it
 * is ended with all it has said, which JUnit's own limit, somewhat later, would not show.
 */
@Timeout(value = ChaosIT.LIMIT_MINUTES, unit = TimeUnit.MINUTES)
class ChaosIT {
  static final int LIMIT_MINUTES = 14;
  private static final Duration PATIENCE = Duration.ofMinutes(LIMIT_MINUTES - 2);

  private static void assertNothingBroken(Run run) throws Exception {
    String all = run.err() + run.out();
    assertThat(run.code()).as(all).isZero();
    JsonNode figures = run.json();
    assertThat(figures.path("ok").asBoolean()).as(all).isTrue();
    for (String kind :
        new String[] {
          "lost", "resurrected", "half", "twice", "torn", "invented", "disagreement", "diverged"
        }) {
      assertThat(figures.path(kind).asInt(-1)).as(kind).isZero();
    }
    assertThat(figures.path("under_way_at_fault_min").asInt()).isGreaterThanOrEqualTo(8);
    assertThat(figures.path("seed").isNumber()).isTrue();
    assertThat(figures.path("cpu").asText()).isNotEmpty();
  }

  @Test
  @Tag("B040")
  void killingLeadersAndAllNodesLosesNothing() throws Exception {
    Run run = Launcher.run(PATIENCE, "chaos", "kill", "--rounds", "10", "--json");
    assertNothingBroken(run);
    assertThat(run.json().path("by_round")).hasSize(10);
  }

  @Test
  void aLeaderThatWasAwayNeverAnswersWithWhatWasTrueBefore() throws Exception {
    Run run = Launcher.run(PATIENCE, "chaos", "stale-read", "--rounds", "10", "--json");
    assertThat(run.code()).as(run.err() + run.out()).isZero();
    assertThat(run.json().path("stale").asInt(-1)).isZero();
    assertThat(run.json().path("reads").asInt()).isPositive();
  }

  @Test
  void nodesThatSkipTheReadBarrierAreFoundOut() throws Exception {
    Run run =
        Launcher.run(
            PATIENCE, "chaos", "stale-read", "--rounds", "20", "--plant", "no-barrier", "--json");
    assertThat(run.code()).as(run.err() + run.out()).isEqualTo(1);
    assertThat(run.json().path("ok").asBoolean()).isFalse();
    assertThat(run.json().path("stale").asInt()).isPositive();
  }

  /** Needs root and nbdkit; CI installs it. */
  @Nested
  class PowerCuts {
    @BeforeEach
    void onlyWhereTheyCanBePlayed() {
      String missing = PowerCutDevice.missing().orElse("");
      assertThat(missing.isEmpty() || System.getenv("CI") == null)
          .as("CI must be able to play power cuts: " + missing)
          .isTrue();
      assumeTrue(missing.isEmpty(), () -> "SKIPPED: power cuts cannot be played here: " + missing);
    }

    @Test
    void cuttingThePowerOfAllNodesLosesNothing() throws Exception {
      assertNothingBroken(Launcher.run(PATIENCE, "chaos", "power-cut", "--rounds", "2", "--json"));
    }

    @Test
    void disksThatIgnoreFlushesAreFoundOut() throws Exception {
      Run run =
          Launcher.run(
              PATIENCE, "chaos", "power-cut", "--rounds", "3", "--plant", "no-fsync", "--json");
      assertThat(run.code()).as(run.err() + run.out()).isEqualTo(1);
      assertThat(run.json().path("ok").asBoolean()).isFalse();
      assertThat(run.json().path("lost").asInt()).isPositive();
    }
  }
}
