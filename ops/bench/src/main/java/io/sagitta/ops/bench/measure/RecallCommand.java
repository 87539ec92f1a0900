// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import io.sagitta.flight.client.Answer;
import io.sagitta.flight.client.Row;
import io.sagitta.flight.client.SagittaClient;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.ops.bench.Clients;
import io.sagitta.ops.bench.LaneCommand;
import io.sagitta.ops.bench.Progress;
import io.sagitta.ops.bench.engine.LaneVectors;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.process.ClusterProcesses.Plan;
import io.sagitta.ops.bench.process.NodeProcess;
import io.sagitta.ops.bench.report.Report;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code sagitta bench recall}: whether the recall that is asked for is the one that comes. A node
 * is loaded, asked while its rows are one growing segment, asked when they are sealed segments, and
 * asked after a restart, which reads the graphs from files. Every figure is of queries that were
 * not asked before.
 */
@Command(
    name = "recall",
    description =
        "Loads a lane of bench engine into a node and asks for recalls: what comes, against exact"
            + " truth, while the rows grow, once they are sealed, and after a restart.")
public final class RecallCommand extends LaneCommand {
  private static final String COLLECTION = "recall";
  private static final int BATCH_ROWS = 1_000;
  private static final int SEALED_SEGMENTS = 3;

  /** More rows than any lane has. */
  private static final int NEVER_FREEZE = 10_000_000;

  private static final Duration STOP = Duration.ofMinutes(2);

  /** By which the mean over a thousand queries may lie below what was asked. */
  private static final double TOLERANCE = 0.01;

  /** A query that is answered worse than this is a bad one. */
  private static final double BAD = 0.8;

  @Option(
      names = "--lane",
      paramLabel = "LANE",
      split = ",",
      description = "glove-100, minilm-384, hard-384, ood-100, ood-384; all unless given.")
  private List<String> lanes = LaneVectors.names();

  @Option(
      names = "--recall",
      paramLabel = "R",
      split = ",",
      defaultValue = "0.90,0.95,0.99",
      description = "Asked for; default ${DEFAULT-VALUE}.")
  private List<Double> recalls;

  @Option(
      names = "--stage",
      paramLabel = "STAGE",
      split = ",",
      defaultValue = "growing,sealed,restarted",
      description = "Default ${DEFAULT-VALUE}.")
  private List<Stage> stages;

  @Option(
      names = "--queries",
      paramLabel = "N",
      defaultValue = "1000",
      description = "Of each figure; default ${DEFAULT-VALUE}.")
  private int queries;

  /** What the rows are in when they are asked for. */
  enum Stage {
    GROWING,
    SEALED,
    RESTARTED;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Override
  protected List<String> options() {
    return List.of(
        "--lane",
        String.join(",", lanes),
        "--recall",
        String.join(",", recalls.stream().map(String::valueOf).toList()),
        "--stage",
        String.join(",", stages.stream().map(String::valueOf).toList()),
        "--queries",
        Integer.toString(queries));
  }

  @Override
  protected void run(Report report) throws IOException, InterruptedException {
    for (double asked : recalls) {
      if (!(asked > 0 && asked <= 1)) {
        throw SagittaException.invalid("--recall " + asked + ": above 0, at most 1");
      }
    }
    report.put("queries", queries);
    report.figures().putArray("recalls");
    List<LaneVectors> open = new ArrayList<>();
    try {
      Map<String, List<LaneVectors>> byRows = new LinkedHashMap<>();
      for (String name : lanes) {
        LaneVectors lane = LaneVectors.open(name, queries * recalls.size(), seed(), log());
        open.add(lane);
        byRows.computeIfAbsent(lane.rowsKey(), unused -> new ArrayList<>()).add(lane);
      }
      report.put("k", open.getFirst().k());
      boolean kept = true;
      for (List<LaneVectors> same : byRows.values()) {
        if (stages.contains(Stage.GROWING)) {
          kept &= load(report, same, NEVER_FREEZE, List.of(Stage.GROWING));
        }
        List<Stage> later = stages.stream().filter(stage -> stage != Stage.GROWING).toList();
        if (!later.isEmpty()) {
          int freeze = Math.ceilDiv(same.getFirst().rows(), SEALED_SEGMENTS);
          kept &= load(report, same, freeze, later);
        }
      }
      report.ok(kept);
    } finally {
      open.forEach(LaneVectors::close);
    }
  }

  /** Loads the rows of some lanes and asks for each lane's queries in each stage. */
  private boolean load(Report report, List<LaneVectors> lanes, int freezeRows, List<Stage> stages)
      throws IOException, InterruptedException {
    LaneRows rows = new LaneRows(lanes.getFirst());
    int count = lanes.getFirst().rows();
    Plan plan =
        Plan.in(ClusterProcesses.temporaryFolder("recall"))
            .withSettings(
                Map.of(
                    "log.freeze_rows",
                    Integer.toString(freezeRows),
                    "log.freeze_bytes",
                    "4GiB",
                    "memory.growing_bytes",
                    "1GiB"));
    boolean kept = true;
    try (ClusterProcesses cluster = ClusterProcesses.start(plan, 1);
        SagittaClient client = Clients.of(cluster.endpoints())) {
      Progress progress = new Progress(log(), "loading " + lanes.getFirst().name(), count);
      var _ = Loading.run(client, COLLECTION, rows, count, BATCH_ROWS, progress);
      for (Stage stage : stages.stream().sorted().toList()) {
        if (stage == Stage.RESTARTED) {
          NodeProcess node = cluster.nodes().iterator().next();
          var _ = node.stop(STOP);
          node.start();
          cluster.awaitReady();
        }
        var _ = Graphs.await(client, COLLECTION, count, rows.vector(0), log());
        for (LaneVectors lane : lanes) {
          for (int i = 0; i < recalls.size(); i++) {
            kept &= enter(report, lane, stage, recalls.get(i), ask(client, lane, i));
          }
        }
      }
    }
    return kept;
  }

  /**
   * What came for a recall.
   *
   * @param each by query
   */
  private record Asked(double[] each, double visited, Latencies latencies, String strategy) {}

  /** Asks one recall's share of the lane's queries, one after another. */
  private Asked ask(SagittaClient client, LaneVectors lane, int turn) throws IOException {
    int k = lane.k();
    int first = turn * queries;
    int[] answers = new int[queries * k];
    Arrays.fill(answers, -1);
    Latencies latencies = new Latencies();
    double visited = 0;
    String strategy = "";
    for (int query = 0; query < queries; query++) {
      long begin = System.nanoTime();
      try (Answer answer =
          client
              .search(COLLECTION)
              .vectors(lane.query(first + query))
              .k(k)
              .recall(recalls.get(turn))
              .fields()
              .run()) {
        List<Row> hits = answer.rows();
        latencies.since(begin);
        for (int hit = 0; hit < hits.size(); hit++) {
          answers[query * k + hit] = rowNumber(hits.get(hit));
        }
        visited += answer.certificate().orElseThrow().visited();
        strategy = answer.certificate().orElseThrow().strategy().toString();
      }
    }
    return new Asked(lane.recalls(first, answers), visited / queries, latencies, strategy);
  }

  private static int rowNumber(Row hit) {
    return Math.toIntExact(((PointId.Int64) hit.id()).value());
  }

  private static boolean enter(
      Report report, LaneVectors lane, Stage stage, double asked, Asked came) {
    double mean = Arrays.stream(came.each()).average().orElse(0);
    double bad = Arrays.stream(came.each()).filter(recall -> recall < BAD).count();
    boolean kept = mean >= asked - TOLERANCE;
    report
        .line("recalls")
        .put("lane", lane.name())
        .put("stage", stage.toString())
        .put("asked", asked)
        .put("recall", Report.rounded(mean))
        .put("below_0.8", Report.rounded(bad / came.each().length))
        .put("visited", Report.rounded(came.visited()))
        .put("p50_ms", Report.rounded(came.latencies().percentileMs(50)))
        .put("kept", kept)
        .put("strategy", came.strategy());
    return kept;
  }
}
