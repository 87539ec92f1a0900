// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import io.sagitta.flight.client.SagittaClient;
import io.sagitta.ops.bench.Clients;
import io.sagitta.ops.bench.LaneCommand;
import io.sagitta.ops.bench.Progress;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.process.ClusterProcesses.Plan;
import io.sagitta.ops.bench.report.Report;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sagitta bench ingest}. */
@Command(
    name = "ingest",
    description =
        "Loads rows into clusters of one and of three nodes: acknowledged rows per second, each fsynced"
            + " at a majority, applied and searchable.")
public final class IngestCommand extends LaneCommand {
  private static final String COLLECTION = "ingest";

  @Option(names = "--nodes", paramLabel = "N", split = ",", defaultValue = "1,3")
  private List<Integer> nodes;

  @Option(names = "--rows", paramLabel = "N", split = ",", defaultValue = "30000,100000")
  private List<Integer> rows;

  @Option(
      names = "--dim",
      paramLabel = "D",
      defaultValue = "384",
      description = "Dimension; default ${DEFAULT-VALUE}.")
  private int dimension;

  @Option(
      names = "--batch",
      paramLabel = "N",
      defaultValue = "1000",
      description = "Rows of a batch; default ${DEFAULT-VALUE}.")
  private int batchRows;

  @Override
  protected List<String> options() {
    return List.of(
        "--nodes",
        words(nodes),
        "--rows",
        words(rows),
        "--dim",
        Integer.toString(dimension),
        "--batch",
        Integer.toString(batchRows));
  }

  private static String words(List<Integer> numbers) {
    return numbers.stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  @Override
  protected void run(Report report) throws InterruptedException {
    report.put("dim", dimension).put("batch", batchRows);
    boolean complete = true;
    for (int n : nodes) {
      for (int count : rows) {
        complete &= load(report, n, count);
      }
    }
    report.ok(complete);
  }

  private boolean load(Report report, int n, int count) throws InterruptedException {
    RandomRows random = new RandomRows(dimension, seed());
    Path folder = ClusterProcesses.temporaryFolder("ingest");
    try (ClusterProcesses cluster = ClusterProcesses.start(Plan.in(folder), n);
        SagittaClient client = Clients.of(cluster.endpoints())) {
      Progress progress = new Progress(log(), n + " node(s), " + count + " rows", count);
      Loading loading = Loading.run(client, COLLECTION, random, count, batchRows, progress);
      long counted = client.count(COLLECTION);
      boolean found = Checks.findsItsOwn(client, COLLECTION, random, count, seed());
      report
          .line("runs")
          .put("nodes", n)
          .put("rows", count)
          .put("rows_per_second", Report.rounded(loading.rowsPerSecond()))
          .put(
              "mib_per_second",
              Report.rounded(loading.rowsPerSecond() * dimension * Float.BYTES / (1 << 20)))
          .put("seconds", Report.rounded(loading.seconds()))
          .put("ack_p50_ms", Report.rounded(loading.latencies().percentileMs(50)))
          .put("ack_p99_ms", Report.rounded(loading.latencies().percentileMs(99)))
          .put("ack_slowest_ms", Report.rounded(loading.latencies().maxMs()))
          .put("counted", counted)
          .put("searches_right", found);
      boolean complete = counted == count && loading.rows() == count && found;
      if (!complete) {
        keep(cluster);
      }
      return complete;
    }
  }
}
