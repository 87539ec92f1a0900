// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.SagittaException;
import io.sagitta.ops.bench.report.Report;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The driver against three nodes in memory, with and without a read barrier. */
@Seeded
class StaleReadsTest {
  private static final List<String> NODES = List.of("n1", "n2", "n3");

  /**
   * Replicates at once to whoever is there; a leader that is taken away believes it still leads.
   */
  private static final class Nodes implements Register, StaleReads.Hand {
    private final boolean barrier;
    private final long[] values = new long[3];
    private int leader;
    private int away = -1;
    private int asleep = -1;

    Nodes(boolean barrier) {
      this.barrier = barrier;
    }

    @Override
    public synchronized void write(String node, long edition) {
      if (away == leader) {
        leader = (leader + 1) % 3;
      }
      if (NODES.indexOf(node) == away) {
        throw SagittaException.unavailable("away", 1);
      }
      for (int n = 0; n < 3; n++) {
        if (n != away) {
          values[n] = Math.max(values[n], edition);
        }
      }
    }

    @Override
    public synchronized boolean sees(String node, long edition) {
      int asked = NODES.indexOf(node);
      try {
        while (asleep == asked) {
          wait(10);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      if (barrier && (away == asked || values[asked] < values[leader])) {
        throw SagittaException.unavailable("not the leader", 1);
      }
      return values[asked] >= edition;
    }

    @Override
    public synchronized Optional<String> leader(String node) {
      values[NODES.indexOf(node)] = values[leader];
      return Optional.of(NODES.get(leader));
    }

    @Override
    public synchronized void pause(String node) {
      away = NODES.indexOf(node);
      asleep = away;
    }

    @Override
    public synchronized void resume(String node) {
      asleep = -1;
      away = -1;
      notifyAll();
    }

    @Override
    public synchronized void cutOff(String node) {
      away = NODES.indexOf(node);
    }

    @Override
    public synchronized void heal(String node) {
      away = -1;
    }

    @Override
    public void close() {}
  }

  private static ObjectNode run(Nodes nodes, Seed seed) throws InterruptedException {
    Report report = Report.of(seed.value());
    try (PrintStream nowhere =
        new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8)) {
      new StaleReads(nodes, nodes, NODES, new SplittableRandom(seed.value()), nowhere)
          .run(8, report);
    }
    return report.figures();
  }

  @Test
  void aLeaderThatAsksTheOthersFirstIsNeverStale(Seed seed) throws InterruptedException {
    ObjectNode figures = run(new Nodes(true), seed);
    assertThat(figures.path("stale").asInt()).as(figures.toString()).isZero();
    assertThat(figures.path("ok").asBoolean()).isTrue();
    assertThat(figures.path("reads_refused").asInt()).isPositive();
  }

  @Test
  void aLeaderThatDoesNotIsFoundStale(Seed seed) throws InterruptedException {
    ObjectNode figures = run(new Nodes(false), seed);
    assertThat(figures.path("stale").asInt()).as(figures.toString()).isPositive();
    assertThat(figures.path("ok").asBoolean()).isFalse();
    assertThat(figures.at("/violations/0/kind").asText()).isEqualTo("STALE");
  }
}
