// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import io.sagitta.ops.bench.LaneCommand;
import io.sagitta.ops.bench.process.ClusterException;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.process.ClusterProcesses.Plan;
import io.sagitta.ops.bench.process.PowerCutDevice;
import io.sagitta.ops.bench.process.PowerCutDevice.Cache;
import io.sagitta.ops.bench.report.Report;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code sagitta chaos power-cut}. */
@Command(
    name = "power-cut",
    description = {
      "Cuts the power of all nodes at one moment while writes are under way, round after round. Each"
          + " node's data lies on a disk of its own that forgets what was not flushed.",
      "Needs root, nbdkit and nbdfuse; says what is missing."
    })
public final class PowerCutCommand extends LaneCommand {
  /** Faults that can be planted to see that they are found. */
  enum Plant {
    /** The disks acknowledge flushes without doing them, as if nobody had called fsync. */
    NO_FSYNC
  }

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description = "Default ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--plant",
      paramLabel = "FAULT",
      converter = PlantName.class,
      description = "no-fsync: the disks ignore flushes; the run must then report a loss.")
  private Plant plant;

  /** {@code no-fsync}. */
  static final class PlantName implements ITypeConverter<Plant> {
    @Override
    public Plant convert(String text) {
      if (text.equals("no-fsync")) {
        return Plant.NO_FSYNC;
      }
      throw new TypeConversionException("expected no-fsync");
    }
  }

  @Override
  protected List<String> options() {
    List<String> options = new ArrayList<>(List.of("--rounds", Integer.toString(rounds)));
    if (plant != null) {
      options.addAll(List.of("--plant", "no-fsync"));
    }
    return options;
  }

  @Override
  protected void run(Report report) throws InterruptedException {
    PowerCutDevice.missing()
        .ifPresent(
            missing -> {
              throw new ClusterException("power cuts cannot be played here: " + missing);
            });
    report.put("plant", plant == null ? "none" : "no-fsync");
    SplittableRandom random = new SplittableRandom(seed());
    Path folder = ClusterProcesses.temporaryFolder("power-cut");
    Path images = ClusterProcesses.temporaryFolder("disks");
    List<PowerCutDevice> disks = new ArrayList<>();
    try {
      for (int n = 1; n <= KillCommand.NODES; n++) {
        disks.add(PowerCutDevice.create(images.resolve("n" + n)));
      }
      run(report, random, folder, disks);
    } finally {
      disks.forEach(PowerCutDevice::close);
      ClusterProcesses.delete(images);
    }
  }

  private void run(Report report, SplittableRandom random, Path folder, List<PowerCutDevice> disks)
      throws InterruptedException {
    Plan plan =
        Plan.in(folder)
            .withDataFolders(
                name ->
                    disks
                        .get(Integer.parseInt(name.substring(1)) - 1)
                        .mountPoint()
                        .resolve("data"));
    try (ClusterProcesses cluster = ClusterProcesses.start(plan, KillCommand.NODES);
        PointStore store = new ClusterStore(cluster.endpoints(), NodeNames.of(cluster))) {
      try {
        store.create(KillCommand.SHARDS, KillCommand.NODES);
        new FaultRounds(
                store,
                new PowerCut(cluster, disks, plant != null),
                FaultRounds.Pace.USUAL,
                random,
                folder.resolve("ledger.txt"),
                log())
            .run(rounds, report);
      } finally {
        if (!report.isOk()) {
          keep(cluster);
        }
        cluster.killAll();
      }
    }
  }

  /**
   * The disks go first, so that nothing more can reach them, then the processes.
   *
   * @param lying whether the disks ignore flushes, from the first round on: what was there before
   *     is safe, or there would be no file system to come back to
   */
  private record PowerCut(ClusterProcesses cluster, List<PowerCutDevice> disks, boolean lying)
      implements FaultRounds.Fault {
    @Override
    public void prepare(int round) throws InterruptedException {
      if (lying) {
        cluster.stop();
        for (PowerCutDevice disk : disks) {
          disk.remount(Cache.LYING);
        }
        cluster.restart();
      }
    }

    @Override
    public String strike() throws InterruptedException {
      PowerCutDevice.failAll(disks);
      ClusterProcesses.kill(cluster.nodes());
      for (PowerCutDevice disk : disks) {
        disk.cut();
      }
      return "power of all nodes";
    }

    @Override
    public void recover() throws InterruptedException {
      for (PowerCutDevice disk : disks) {
        disk.powerOn(Cache.WRITE_BACK);
      }
      cluster.restart();
    }
  }
}
