// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import io.sagitta.model.SagittaException;
import io.sagitta.ops.bench.LaneCommand;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.process.ClusterProcesses.Plan;
import io.sagitta.ops.bench.process.NodeProcess;
import io.sagitta.ops.bench.report.Report;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sagitta chaos kill}. */
@Command(
    name = "kill",
    description = {
      "Kills nodes with kill -9 while writes are under way, round after round: usually the leader of"
          + " a shard, sometimes all nodes, sometimes a follower.",
      "After each round everything that was acknowledged must be there, everything deleted gone, no"
          + " write half or twice, and all replicas equal."
    })
public final class KillCommand extends LaneCommand {
  static final int NODES = 3;
  static final int SHARDS = 3;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "10",
      description = "Default ${DEFAULT-VALUE}.")
  private int rounds;

  @Override
  protected List<String> options() {
    return List.of("--rounds", Integer.toString(rounds));
  }

  @Override
  protected void run(Report report) throws InterruptedException {
    SplittableRandom random = new SplittableRandom(seed());
    Path folder = ClusterProcesses.temporaryFolder("kill");
    try (ClusterProcesses cluster = ClusterProcesses.start(Plan.in(folder), NODES);
        PointStore store = new ClusterStore(cluster.endpoints(), NodeNames.of(cluster))) {
      try {
        store.create(SHARDS, NODES);
        new FaultRounds(
                store,
                new Kill(cluster, store, random.split()),
                FaultRounds.Pace.USUAL,
                random,
                folder.resolve("ledger.txt"),
                log())
            .run(rounds, report);
      } finally {
        if (!report.isOk()) {
          keep(cluster);
        }
      }
    }
  }

  /** kill -9. */
  private record Kill(ClusterProcesses cluster, PointStore store, SplittableRandom random)
      implements FaultRounds.Fault {
    @Override
    public String strike() throws InterruptedException {
      double dice = random.nextDouble();
      List<NodeProcess> victims = new ArrayList<>();
      String what;
      if (dice < 0.2) {
        victims.addAll(cluster.nodes());
        what = "all nodes";
      } else {
        int shard = random.nextInt(SHARDS);
        Optional<String> leader = leader(shard);
        NodeProcess victim =
            leader.isPresent() && dice < 0.9
                ? cluster.node(leader.get())
                : cluster.nodes().get(random.nextInt(NODES));
        victims.add(victim);
        what =
            leader.equals(Optional.of(victim.name()))
                ? "leader of shard " + shard + " (" + victim.name() + ")"
                : "node " + victim.name();
      }
      ClusterProcesses.kill(victims);
      return what;
    }

    private Optional<String> leader(int shard) {
      try {
        return store.leader(shard);
      } catch (SagittaException e) {
        return Optional.empty();
      }
    }

    @Override
    public void recover() throws InterruptedException {
      cluster.restart();
    }
  }
}
