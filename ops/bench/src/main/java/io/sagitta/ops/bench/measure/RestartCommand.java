// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import io.sagitta.flight.client.Answer;
import io.sagitta.flight.client.SagittaClient;
import io.sagitta.ops.bench.Clients;
import io.sagitta.ops.bench.LaneCommand;
import io.sagitta.ops.bench.Progress;
import io.sagitta.ops.bench.process.ClusterException;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.process.ClusterProcesses.Plan;
import io.sagitta.ops.bench.process.NodeProcess;
import io.sagitta.ops.bench.report.Report;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sagitta bench restart}. */
@Command(
    name = "restart",
    description =
        "Loads rows, kills the node with kill -9 and starts it again: how long until it is ready, how"
            + " much of the log it replays, and whether the very first search is complete.")
public final class RestartCommand extends LaneCommand {
  private static final String COLLECTION = "restart";
  private static final Duration READY = Duration.ofMinutes(5);
  private static final String REPLAYED = "sagitta_raft_log_replayed_bytes_total{host=\"shards\"}";

  @Option(
      names = "--rows",
      paramLabel = "N",
      defaultValue = "100000",
      description = "Default ${DEFAULT-VALUE}.")
  private int rows;

  @Option(
      names = "--dim",
      paramLabel = "D",
      defaultValue = "384",
      description = "Dimension; default ${DEFAULT-VALUE}.")
  private int dimension;

  @Option(
      names = "--times",
      paramLabel = "N",
      defaultValue = "3",
      description = "How often it is killed; default ${DEFAULT-VALUE}.")
  private int times;

  @Override
  protected List<String> options() {
    return List.of(
        "--rows",
        Integer.toString(rows),
        "--dim",
        Integer.toString(dimension),
        "--times",
        Integer.toString(times));
  }

  @Override
  protected void run(Report report) throws InterruptedException {
    report.put("rows", rows).put("dim", dimension);
    RandomRows random = new RandomRows(dimension, seed());
    Path folder = ClusterProcesses.temporaryFolder("restart");
    try (ClusterProcesses cluster = ClusterProcesses.start(Plan.in(folder), 1);
        SagittaClient client = Clients.of(cluster.endpoints().subList(0, 1))) {
      Progress progress = new Progress(log(), "loading", rows);
      var _ = Loading.run(client, COLLECTION, random, rows, 1_000, progress);
      boolean complete = true;
      double slowest = 0;
      for (int i = 0; i < times; i++) {
        Restart restart = restart(cluster.nodes().getFirst(), client, random);
        slowest = Math.max(slowest, restart.readySeconds());
        complete &= restart.complete();
        report
            .line("restarts")
            .put("ready_seconds", Report.rounded(restart.readySeconds()))
            .put("log_bytes_replayed", restart.logBytesReplayed())
            .put("first_search_ms", Report.rounded(restart.firstSearchMs()))
            .put("first_search_complete", restart.complete());
      }
      report.put("ready_seconds_slowest", slowest).ok(complete);
      if (!complete) {
        keep(cluster);
      }
    }
  }

  private record Restart(
      double readySeconds, long logBytesReplayed, double firstSearchMs, boolean complete) {}

  private Restart restart(NodeProcess node, SagittaClient client, RandomRows random)
      throws InterruptedException {
    node.kill();
    long begin = System.nanoTime();
    node.start();
    node.awaitReady(READY);
    double readySeconds = (System.nanoTime() - begin) / 1e9;
    long searched = System.nanoTime();
    long rowsSeen;
    boolean found = Checks.findsItself(client, COLLECTION, random, rows - 1L);
    double firstSearchMs = (System.nanoTime() - searched) / 1e6;
    // With k = 1 the certificate says how many rows were compared.
    try (Answer answer = client.search(COLLECTION).vectors(random.vector(0)).k(1).exact().run()) {
      rowsSeen = answer.certificate().orElseThrow().visited();
    }
    boolean complete = found && rowsSeen == rows && client.count(COLLECTION) == rows;
    return new Restart(readySeconds, replayed(node), firstSearchMs, complete);
  }

  /** What the node itself counted while it applied its shards' logs anew. */
  private static long replayed(NodeProcess node) {
    return node.metric(REPLAYED)
        .orElseThrow(() -> new ClusterException("the node's metrics lack " + REPLAYED));
  }
}
