// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import io.sagitta.model.SagittaException;
import io.sagitta.ops.bench.LaneCommand;
import io.sagitta.ops.bench.report.Report;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sagitta bench engine}. */
@Command(
    name = "engine",
    description =
        "Measures the graph beside other libraries: queries per second at equal recall@10, on one"
            + " pinned core, on the same data in the same run.")
public final class EngineCommand extends LaneCommand {
  /** Neighbours asked for. */
  static final int K = 10;

  static final List<Double> RECALLS = List.of(0.90, 0.95, 0.99);

  private static final int LAUNCHES_MAX = 99;
  private static final int QUERIES_MIN = 100;

  @Option(
      names = "--lane",
      paramLabel = "LANE",
      split = ",",
      description = "glove-100, minilm-384, hard-384, ood-100, ood-384; all unless given.")
  private List<String> lanes = Arrays.stream(Lane.values()).map(Lane::id).toList();

  @Option(
      names = "--peer",
      paramLabel = "PEER",
      split = ",",
      description =
          "sagitta, sagitta-rows, sagitta-8bit, sagitta-float16, sagitta-bfloat16, sagitta-int8, hnswlib,"
              + " faiss-flat, faiss-sq8, usearch, lucene, lucene-8bit, lucene-4bit, jvector; sagitta"
              + " and all libraries unless given.")
  private List<String> peers =
      Arrays.stream(Peer.values())
          .filter(peer -> peer == Peer.SAGITTA || !peer.isSagitta())
          .map(Peer::id)
          .toList();

  @Option(
      names = "--figure",
      paramLabel = "FIGURE",
      split = ",",
      defaultValue = "search",
      description =
          "search (queries a second at equal recall), first (the first 1,000 queries of a fresh"
              + " process), cores (as many threads as cores), memory; default ${DEFAULT-VALUE}.")
  private List<String> figures;

  @Option(
      names = "--launches",
      paramLabel = "N",
      defaultValue = "3",
      description = "Processes of each peer, interleaved; default ${DEFAULT-VALUE}.")
  private int launches;

  @Option(
      names = "--queries",
      paramLabel = "N",
      defaultValue = "3000",
      description =
          "Different queries, drawn by the seed from vectors no index has; default"
              + " ${DEFAULT-VALUE}. Fewer flatter everybody: caches hold what they touch.")
  private int queries;

  @Option(
      names = "--prepare",
      description = "Make the data, the truths and the peers' indexes, and stop before measuring.")
  private boolean prepareOnly;

  @Override
  protected List<String> options() {
    return List.of(
        "--lane",
        String.join(",", lanes),
        "--peer",
        String.join(",", peers),
        "--figure",
        String.join(",", figures),
        "--launches",
        Integer.toString(launches),
        "--queries",
        Integer.toString(queries));
  }

  @Override
  protected void run(Report report) throws IOException, InterruptedException {
    List<Lane> measured = all(lanes, "--lane", Lane::of, Lane.values());
    List<Figure> wanted = all(figures, "--figure", Figure::of, Figure.values());
    List<Peer> contenders = all(peers, "--peer", Peer::of, Peer.values());
    if (launches < 1 || launches > LAUNCHES_MAX) {
      throw SagittaException.invalid("--launches " + launches + ": 1 to " + LAUNCHES_MAX);
    }
    if (queries < QUERIES_MIN) {
      throw SagittaException.invalid("--queries " + queries + ": at least " + QUERIES_MIN);
    }
    Path folder = Files.createTempDirectory("sagitta-engine-");
    try {
      Workers workers = new Workers(folder, log());
      String kernels = workers.kernels();
      report
          .put("kernels", kernels)
          .put("vector_bits", vectorBits(kernels))
          .put("k", K)
          .put("queries", queries)
          .put("launches", launches);
      report.figures().putArray("lanes");
      boolean complete = true;
      for (Lane lane : measured) {
        complete &= measure(lane, contenders, wanted, workers, report);
      }
      report.ok(complete);
    } finally {
      DataSet.deleteTree(folder);
    }
  }

  private boolean measure(
      Lane lane, List<Peer> contenders, List<Figure> wanted, Workers workers, Report report)
      throws IOException, InterruptedException {
    PreparedLane prepared = PreparedLane.of(lane, queries, seed(), workers);
    LaneRun run = new LaneRun(prepared, contenders, workers);
    run.prepare();
    if (prepareOnly) {
      run.enter(report);
      return run.isComplete();
    }
    boolean complete = run.isComplete();
    for (Figure figure : wanted) {
      switch (figure) {
        case SEARCH -> {
          run.measure(launches);
          run.enter(report);
          complete &= run.isComplete();
        }
        case FIRST, CORES -> {
          ProcessFigures figures = new ProcessFigures(prepared, launches, workers, report);
          complete &= figures.enter(figure, contenders);
        }
        case MEMORY -> {
          int most = Math.min(ProcessFigures.MEMORY_QUERIES, lane.pool(prepared.data()).rows());
          PreparedLane many = PreparedLane.of(lane, most, seed(), workers);
          complete &= new ProcessFigures(many, launches, workers, report).enter(figure, contenders);
        }
      }
    }
    return complete;
  }

  /** What an option's names stand for, each once. */
  static <T> List<T> all(List<String> names, String option, Function<String, T> of, T[] known) {
    try {
      return names.stream().map(of).distinct().toList();
    } catch (IllegalArgumentException e) {
      String which = Arrays.stream(known).map(Object::toString).collect(Collectors.joining(", "));
      throw SagittaException.invalid(option + ": " + e.getMessage() + "; there are " + which);
    }
  }

  /** Width of the kernels' registers: 512 for {@code vector-512}, 0 for scalar ones. */
  static int vectorBits(String kernels) {
    String digits = kernels.replaceAll("[^0-9]", "");
    return digits.isEmpty() ? 0 : Integer.parseInt(digits);
  }
}
