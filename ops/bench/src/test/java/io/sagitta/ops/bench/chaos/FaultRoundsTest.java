// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.ops.bench.report.Report;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** The whole driver against a cluster in memory: it must name each promise that is broken. */
@Seeded
class FaultRoundsTest {
  @TempDir Path folder;

  private ObjectNode run(MemoryStore store, int rounds, Seed seed) throws InterruptedException {
    Report report = Report.of(seed.value());
    try (store;
        PrintStream nowhere =
            new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8)) {
      new FaultRounds(
              store,
              store,
              new FaultRounds.Pace(150, 30, 250, 5),
              new SplittableRandom(seed.value()),
              folder.resolve("ledger"),
              nowhere)
          .run(rounds, report);
    }
    return report.figures();
  }

  @Test
  void aClusterThatKeepsItsPromisesPasses(Seed seed) throws InterruptedException {
    MemoryStore store =
        new MemoryStore(MemoryStore.Plant.NOTHING, new SplittableRandom(seed.value()));
    ObjectNode figures = run(store, 3, seed);

    assertThat(figures.path("ok").asBoolean()).as(figures.toString()).isTrue();
    assertThat(figures.path("rounds").asInt()).isEqualTo(3);
    assertThat(figures.path("under_way_at_fault_min").asInt())
        .isGreaterThanOrEqualTo(FaultRounds.UNDER_WAY_MIN);
    assertThat(figures.path("writes_unknown").asInt()).isPositive();
    assertThat(figures.path("writes_acknowledged").asInt()).isGreaterThan(100);
    assertThat(figures.path("by_round")).hasSize(3);
    assertThat(figures.path("slowest_served_again_ms").asInt()).as(figures.toString()).isPositive();
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "NOTHING")
  void eachBrokenPromiseIsNamed(MemoryStore.Plant plant, Seed seed) throws InterruptedException {
    MemoryStore store = new MemoryStore(plant, new SplittableRandom(seed.value()));
    ObjectNode figures = run(store, 6, seed);

    assertThat(store.isPlanted()).isTrue();
    assertThat(figures.path("ok").asBoolean()).isFalse();
    String kind =
        switch (plant) {
          case NOTHING -> throw new AssertionError();
          case LOSE_AN_ACKNOWLEDGED_WRITE -> "lost";
          case UNDO_A_DELETE -> "resurrected";
          case APPLY_HALF -> "half";
          case APPLY_TWICE -> "twice";
          case MIX_CONTENT -> "torn";
          case MISCOUNT -> "disagreement";
          case LET_A_REPLICA_DIFFER -> "diverged";
        };
    assertThat(figures.path(kind).asInt()).as(figures.toString()).isPositive();
    assertThat(figures.path("violations")).isNotEmpty();
  }
}
