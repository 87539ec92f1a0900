// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import io.sagitta.flight.client.Answer;
import io.sagitta.flight.client.SagittaClient;
import io.sagitta.flight.client.SearchBuilder;
import io.sagitta.model.PointId;
import io.sagitta.ops.bench.Clients;
import io.sagitta.ops.bench.LaneCommand;
import io.sagitta.ops.bench.Progress;
import io.sagitta.ops.bench.engine.LaneVectors;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.process.ClusterProcesses.Plan;
import io.sagitta.ops.bench.report.Report;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sagitta bench serve}. */
@Command(
    name = "serve",
    description =
        "Searches through the Java client over one connection and over several: latency and searches"
            + " per second, the engine's own share of it, and a round trip that asks for nothing.")
public final class ServeCommand extends LaneCommand {
  private static final String COLLECTION = "serve";
  private static final int LANE_QUERIES = 3_000;
  private static final Duration WARM_UP = Duration.ofSeconds(5);

  @Option(names = "--nodes", paramLabel = "N", defaultValue = "1")
  private int nodes;

  @Option(
      names = "--lane",
      paramLabel = "LANE",
      description =
          "Rows and queries of a lane of bench engine (glove-100, ...), searched once they are in"
              + " graphs, in place of random ones.")
  private String lane;

  @Option(
      names = "--rows",
      paramLabel = "N",
      defaultValue = "30000",
      description = "Random rows; default ${DEFAULT-VALUE}.")
  private int rows;

  @Option(
      names = "--dim",
      paramLabel = "D",
      defaultValue = "384",
      description = "Dimension of random rows; default ${DEFAULT-VALUE}.")
  private int dimension;

  @Option(names = "-k", paramLabel = "N", defaultValue = "10")
  private int k;

  @Option(
      names = "--connections",
      paramLabel = "N",
      split = ",",
      defaultValue = "1,8",
      description = "Default ${DEFAULT-VALUE}.")
  private List<Integer> connections;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "10",
      description = "Of each figure; default ${DEFAULT-VALUE}.")
  private int seconds;

  @Option(
      names = "--recall",
      paramLabel = "R",
      defaultValue = "0.95",
      description = "Asked of a lane; default ${DEFAULT-VALUE}.")
  private double recall;

  @Override
  protected List<String> options() {
    List<String> given = new ArrayList<>(List.of("--nodes", Integer.toString(nodes)));
    given.addAll(
        lane == null
            ? List.of("--rows", Integer.toString(rows), "--dim", Integer.toString(dimension))
            : List.of("--lane", lane, "--recall", Double.toString(recall)));
    given.addAll(
        List.of(
            "-k",
            Integer.toString(k),
            "--connections",
            String.join(",", connections.stream().map(String::valueOf).toList()),
            "--seconds",
            Integer.toString(seconds)));
    return given;
  }

  @Override
  protected void run(Report report) throws IOException, InterruptedException {
    if (lane == null) {
      serve(report, new RandomRows(dimension, seed()), rows);
      return;
    }
    try (LaneVectors vectors = LaneVectors.open(lane, LANE_QUERIES, seed(), log())) {
      report.put("lane", lane).put("recall", recall);
      serve(report, new LaneRows(vectors), vectors.rows());
    }
  }

  private void serve(Report report, Rows data, int count) throws InterruptedException {
    report.put("nodes", nodes).put("rows", count).put("dim", data.dimension()).put("k", k);
    Path folder = ClusterProcesses.temporaryFolder("serve");
    try (ClusterProcesses cluster = ClusterProcesses.start(Plan.in(folder), nodes);
        SagittaClient client = Clients.of(cluster.endpoints().subList(0, 1))) {
      Progress progress = new Progress(log(), "loading", count);
      var _ = Loading.run(client, COLLECTION, data, count, 1_000, progress);
      if (lane != null) {
        var _ = Graphs.await(client, COLLECTION, count, data.vector(0), log());
      }
      boolean right = Checks.findsItsOwn(client, COLLECTION, data, count, seed());
      Call search = new Call("search", Engine.times(this::search, data));
      Call nothing = new Call("get of nothing", ServeCommand::getNothing);
      drive(cluster, 1, search, WARM_UP);
      for (int n : connections) {
        for (Call call : List.of(search, nothing)) {
          enter(report, n, call, drive(cluster, n, call, Duration.ofSeconds(seconds)));
        }
      }
      report.ok(right);
    }
  }

  private Answer search(SagittaClient client, float[] vector) {
    SearchBuilder search = client.search(COLLECTION).vectors(vector).k(k);
    return (lane == null ? search : search.recall(recall)).run();
  }

  /** A strong read that finds no point: the round trip and the read barrier, and nothing else. */
  private static void getNothing(
      SagittaClient client, SplittableRandom draw, Consumer<Long> engine) {
    client.get(COLLECTION, List.of(new PointId.Int64(-1))).close();
  }

  /** One kind of call. */
  private record Call(String name, Work work) {}

  private interface Work {
    /** Does it once; {@code engine} takes the time that the answer says it took inside. */
    void run(SagittaClient client, SplittableRandom draw, Consumer<Long> engine);
  }

  /** The share of a search that is the engine's. */
  private static final class Engine {
    private interface Search {
      Answer run(SagittaClient client, float[] vector);
    }

    static Work times(Search search, Rows rows) {
      return (client, draw, engine) -> {
        try (Answer answer = search.run(client, rows.query(draw))) {
          engine.accept(answer.certificate().orElseThrow().tookUs());
        }
      };
    }
  }

  private record Figures(Latencies latencies, double engineUs, double seconds) {}

  private Figures drive(ClusterProcesses cluster, int n, Call call, Duration time)
      throws InterruptedException {
    Latencies latencies = new Latencies();
    LongAdder engineUs = new LongAdder();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    long begin = System.nanoTime();
    long end = begin + time.toNanos();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      SplittableRandom draw = new SplittableRandom(seed() + i);
      String endpoint = cluster.endpoints().get(i % cluster.endpoints().size());
      threads.add(
          Thread.ofPlatform()
              .name("client-" + i)
              .start(
                  () -> {
                    try (SagittaClient client = SagittaClient.connect(endpoint)) {
                      while (System.nanoTime() < end && failure.get() == null) {
                        long sent = System.nanoTime();
                        call.work().run(client, draw, engineUs::add);
                        latencies.since(sent);
                      }
                    } catch (RuntimeException e) {
                      failure.compareAndSet(null, e);
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new IllegalStateException(call.name() + " failed", failure.get());
    }
    return new Figures(
        latencies,
        (double) engineUs.sum() / Math.max(1, latencies.count()),
        (System.nanoTime() - begin) / 1e9);
  }

  private static void enter(Report report, int n, Call call, Figures figures) {
    report
        .line("calls")
        .put("call", call.name())
        .put("connections", n)
        .put("p50_ms", Report.rounded(figures.latencies().percentileMs(50)))
        .put("p99_ms", Report.rounded(figures.latencies().percentileMs(99)))
        .put("per_second", Report.rounded(figures.latencies().count() / figures.seconds()))
        .put("engine_mean_ms", Report.rounded(figures.engineUs() / 1_000));
  }
}
