// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import io.sagitta.ops.bench.LaneCommand;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.process.ClusterProcesses.Plan;
import io.sagitta.ops.bench.process.NodeProcess;
import io.sagitta.ops.bench.report.Report;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code sagitta chaos stale-read}. */
@Command(
    name = "stale-read",
    description = {
      "Pauses the leader, or cuts it off from the others, lets the others write, and asks the old"
          + " leader for strong reads: none may be stale."
    })
public final class StaleReadCommand extends LaneCommand {
  /** Elections are what takes the time: short timeouts make many rounds. */
  private static final Map<String, String> TIMEOUTS =
      Map.of("timeouts.shard_election_ms", "250", "timeouts.meta_election_ms", "400");

  /** Faults that can be planted to see that they are found. */
  enum Plant {
    /** The leader answers strong reads without asking the others whether it still leads. */
    NO_BARRIER
  }

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "50",
      description = "Default ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--plant",
      paramLabel = "FAULT",
      converter = PlantName.class,
      description =
          "no-barrier: nodes skip the read barrier; the run must then report stale reads.")
  private Plant plant;

  /** {@code no-barrier}. */
  static final class PlantName implements ITypeConverter<Plant> {
    @Override
    public Plant convert(String text) {
      if (text.equals("no-barrier")) {
        return Plant.NO_BARRIER;
      }
      throw new TypeConversionException("expected no-barrier");
    }
  }

  @Override
  protected List<String> options() {
    List<String> options = new ArrayList<>(List.of("--rounds", Integer.toString(rounds)));
    if (plant != null) {
      options.addAll(List.of("--plant", "no-barrier"));
    }
    return options;
  }

  @Override
  protected void run(Report report) throws InterruptedException {
    report.put("plant", plant == null ? "none" : "no-barrier");
    Path folder = ClusterProcesses.temporaryFolder("stale-read");
    Plan plan = Plan.in(folder).withSettings(TIMEOUTS).withNetwork();
    if (plant != null) {
      plan = plan.withProperties(Map.of("sagitta.plant", "no-barrier"));
    }
    try (ClusterProcesses cluster = ClusterProcesses.start(plan, KillCommand.NODES);
        ClusterRegister register = new ClusterRegister(cluster)) {
      List<String> nodes = cluster.nodes().stream().map(NodeProcess::name).toList();
      try {
        new StaleReads(register, new Fingers(cluster), nodes, new SplittableRandom(seed()), log())
            .run(rounds, report);
      } finally {
        if (!report.isOk()) {
          keep(cluster);
        }
      }
    }
  }

  /** Takes hold of real processes and links. */
  private record Fingers(ClusterProcesses cluster) implements StaleReads.Hand {
    @Override
    public void pause(String node) {
      cluster.node(node).pause();
    }

    @Override
    public void resume(String node) {
      cluster.node(node).resume();
    }

    @Override
    public void cutOff(String node) {
      cluster.network().cutOff(node);
    }

    @Override
    public void heal(String node) {
      cluster.network().heal(node);
    }
  }
}
