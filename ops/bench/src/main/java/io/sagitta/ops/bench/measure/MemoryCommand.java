// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.flight.client.Answer;
import io.sagitta.flight.client.SagittaClient;
import io.sagitta.flight.client.Writer;
import io.sagitta.flight.client.WriterOptions;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Metric;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorStorage;
import io.sagitta.model.VectorType;
import io.sagitta.ops.bench.Clients;
import io.sagitta.ops.bench.LaneCommand;
import io.sagitta.ops.bench.Progress;
import io.sagitta.ops.bench.process.ClusterException;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.process.ClusterProcesses.Memory;
import io.sagitta.ops.bench.process.ClusterProcesses.Plan;
import io.sagitta.ops.bench.process.MemoryGroup;
import io.sagitta.ops.bench.process.NodeProcess;
import io.sagitta.ops.bench.report.Report;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code sagitta bench memory}: a collection whose vectors do not fit into memory. A node in a
 * control group loads it, starts again, and is searched by graph, its vectors mapped; then the same
 * node without a limit. Between the two it is asked to keep as many vectors in memory, which it
 * must refuse, and read on.
 */
@Command(
    name = "memory",
    description =
        "Searches vectors that are larger than the memory that a node may use, and the same without"
            + " that limit; and has it refuse what would not fit. Needs root: control groups.")
public final class MemoryCommand extends LaneCommand {
  private static final String MAPPED = "mapped";
  private static final String HELD = "held";
  private static final String HEAP = "256m";
  private static final int K = 10;
  private static final int WARM_UP = 50;
  private static final int ROWS_A_CLUSTER = 250;
  private static final int BATCH_BYTES = 4 << 20;
  private static final int WINDOW = 8;
  private static final long MIB = 1 << 20;
  private static final Duration LOADING = Duration.ofMinutes(5);
  private static final Duration STOP = Duration.ofMinutes(2);
  private static final Duration PATIENCE = Duration.ofSeconds(3);
  private static final Duration GRAPHS = Duration.ofMinutes(20);
  private static final Duration POLL = Duration.ofMillis(500);

  /** A segment that has just been flushed is owed a graph only once the node has looked at it. */
  private static final int BUILT_LOOKS = 5;

  /** Graphs over what may be owed to them still. */
  private static final int TAIL = 50;

  /** By which the mean may lie below what was asked. */
  private static final double TOLERANCE = 0.01;

  @Option(
      names = "--rows",
      paramLabel = "N",
      defaultValue = "72000",
      description = "Default ${DEFAULT-VALUE}.")
  private int rows;

  @Option(
      names = "--dim",
      paramLabel = "D",
      defaultValue = "4096",
      description = "Dimension; default ${DEFAULT-VALUE}.")
  private int dimension;

  @Option(
      names = "--limit-mib",
      paramLabel = "M",
      defaultValue = "832",
      description = "Memory of the node, heap of " + HEAP + " included; default ${DEFAULT-VALUE}.")
  private int limitMib;

  @Option(
      names = "--resident-mib",
      paramLabel = "M",
      defaultValue = "232",
      description = "The node's memory.resident_bytes; default ${DEFAULT-VALUE}.")
  private int residentMib;

  @Option(
      names = "--queries",
      paramLabel = "N",
      defaultValue = "200",
      description = "Of each figure; default ${DEFAULT-VALUE}.")
  private int queries;

  @Option(
      names = "--recall",
      paramLabel = "R",
      defaultValue = "0.95",
      description = "Asked for; default ${DEFAULT-VALUE}.")
  private double recall;

  @Override
  protected List<String> options() {
    return List.of(
        "--rows",
        Integer.toString(rows),
        "--dim",
        Integer.toString(dimension),
        "--limit-mib",
        Integer.toString(limitMib),
        "--resident-mib",
        Integer.toString(residentMib),
        "--queries",
        Integer.toString(queries),
        "--recall",
        Double.toString(recall));
  }

  @Override
  protected void run(Report report) throws IOException, InterruptedException {
    Rows data = new ClusteredRows(dimension, Math.max(1, rows / ROWS_A_CLUSTER), seed());
    report
        .put("rows", rows)
        .put("dim", dimension)
        .put("vectors_mib", (long) rows * dimension * Float.BYTES / MIB)
        .put("limit_mib", limitMib);
    SplittableRandom draw = new SplittableRandom(seed());
    float[][] asked = new float[2 * queries][];
    for (int q = 0; q < asked.length; q++) {
      asked[q] = data.query(draw);
    }
    log().println("true nearest rows of " + asked.length + " queries");
    NearestRows truth = NearestRows.of(data, rows, asked, K);
    Plan plan = Plan.in(ClusterProcesses.temporaryFolder("memory"));
    try (MemoryGroup group =
            MemoryGroup.create("sagitta-" + ProcessHandle.current().pid(), limitMib * MIB);
        ClusterProcesses cluster =
            ClusterProcesses.start(
                plan.withSettings(Map.of("memory.resident_bytes", residentMib + "MiB"))
                    .withMemory(new Memory(HEAP, Optional.of(group))),
                1);
        SagittaClient client = Clients.of(cluster.endpoints())) {
      boolean kept;
      try {
        kept = measure(report, group, cluster.nodes().getFirst(), client, data, truth, asked);
      } catch (SagittaException | ClusterException e) {
        // The folder goes with the cluster: what the node said last is all that stays.
        throw new ClusterException(e.getMessage() + cluster.nodes().getFirst().lastLines(), e);
      }
      report.ok(kept);
      if (!kept) {
        keep(cluster);
      }
    }
  }

  /** The figures; whether all is as it should be. */
  private boolean measure(
      Report report,
      MemoryGroup group,
      NodeProcess node,
      SagittaClient client,
      Rows data,
      NearestRows truth,
      float[][] asked)
      throws IOException, InterruptedException {
    load(report, node, client, data);
    boolean kept = restart(node, client) && group.killed() == 0;
    ObjectNode limited = report.line("searches").put("limit_mib", limitMib);
    kept &= search(limited, node, client, data, truth, asked, 0);
    Optional<String> refusal = overfill(report, client, data);
    report.put("refusal", refusal.orElse("none"));
    kept &= refusal.filter(why -> why.contains("memory.resident_bytes")).isPresent();
    kept &= readsGoOn(client, asked[0]);
    kept &= group.killed() == 0;
    report.put("killed", group.killed());
    group.peakBytes().ifPresent(peak -> report.put("peak_mib", peak / MIB));
    group.unlimit();
    client.drop(HELD);
    kept &= restart(node, client);
    ObjectNode free = report.line("searches").put("limit_mib", "none");
    kept &= search(free, node, client, data, truth, asked, queries);
    return kept;
  }

  private boolean readsGoOn(SagittaClient client, float[] query) {
    try (Answer answer = client.search(MAPPED).vectors(query).k(K).recall(recall).run()) {
      return answer.rows().size() == K && client.count(MAPPED) == rows;
    }
  }

  private static CollectionSchema schema(Rows data, VectorStorage storage) {
    CollectionSchema plain = data.schema();
    return new CollectionSchema(
        1,
        plain.idType(),
        List.of(
            new VectorField(
                1,
                Rows.VECTOR,
                VectorType.FLOAT32,
                data.dimension(),
                Metric.COSINE,
                false,
                storage),
            plain.fields().get(1)));
  }

  private void load(Report report, NodeProcess node, SagittaClient client, Rows data)
      throws InterruptedException {
    client.create(MAPPED, schema(data, VectorStorage.MAPPED));
    Progress progress = new Progress(log(), "loading", rows);
    // Writes may wait for disks: pages of the files must be written before the group can drop them.
    WriterOptions options =
        WriterOptions.of(MAPPED).withWindow(WINDOW, WINDOW * BATCH_BYTES).withBatchTimeout(LOADING);
    AtomicLong taken = new AtomicLong();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    long begin = System.nanoTime();
    try (BufferAllocator allocator = new RootAllocator();
        Writer writer = client.writer(options)) {
      for (long from = 0; from < rows && failure.get() == null; from += batchRows()) {
        long to = Math.min(rows, from + batchRows());
        try (VectorSchemaRoot batch = data.batch(from, to, allocator)) {
          var _ =
              writer
                  .put(batch)
                  .whenComplete(
                      (done, refused) -> {
                        if (refused != null) {
                          failure.compareAndSet(null, refused);
                        } else {
                          progress.at(taken.addAndGet(done.rows()));
                        }
                      });
        }
      }
      writer.flush();
    }
    if (failure.get() != null) {
      throw new ClusterException("loading failed: " + failure.get().getMessage(), failure.get());
    }
    report.put("load_seconds", (System.nanoTime() - begin) / 1e9);
    report.put("graph_seconds", awaitGraphs(node));
  }

  private int batchRows() {
    return Math.max(1, BATCH_BYTES / (dimension * Float.BYTES));
  }

  /**
   * Waits until graphs hold all but the last rows of a growing segment, which have none. How many
   * rows a search looks at would not tell: many small segments let it look at a good part of each.
   *
   * @return seconds waited
   */
  private double awaitGraphs(NodeProcess node) throws InterruptedException {
    log().println("waiting for graphs");
    long begin = System.nanoTime();
    int built = 0;
    while (built < BUILT_LOOKS) {
      if (!node.isAlive()) {
        throw new ClusterException("the node ended while it built graphs");
      }
      if (System.nanoTime() - begin > GRAPHS.toNanos()) {
        throw new ClusterException("graphs are not built after " + GRAPHS.toMinutes() + " minutes");
      }
      Thread.sleep(POLL);
      String metrics = node.metrics();
      long resident = part(metrics, "resident");
      built = resident > 0 && part(metrics, "resident_owed") < resident / TAIL ? built + 1 : 0;
    }
    return (System.nanoTime() - begin) / 1e9;
  }

  /** Bytes of a part; 0 where the page does not have it. */
  private static long part(String metrics, String name) {
    return NodeProcess.metric(metrics, "sagitta_memory_bytes{part=\"" + name + "\"}").orElse(0);
  }

  private boolean restart(NodeProcess node, SagittaClient client) throws InterruptedException {
    boolean clean = node.stop(STOP);
    node.start();
    node.awaitReady(STOP);
    var _ = awaitGraphs(node);
    return clean && client.count(MAPPED) == rows;
  }

  /** Asks {@link #queries} queries, one after another; whether the recall is kept, by graph. */
  private boolean search(
      ObjectNode line,
      NodeProcess node,
      SagittaClient client,
      Rows data,
      NearestRows truth,
      float[][] asked,
      int first)
      throws IOException {
    SplittableRandom others = new SplittableRandom(~seed());
    for (int i = 0; i < WARM_UP; i++) {
      client.search(MAPPED).vectors(data.query(others)).k(K).recall(recall).run().close();
    }
    Latencies latencies = new Latencies();
    double sum = 0;
    boolean graph = true;
    long visited = 0;
    long read = node.bytesRead();
    for (int q = first; q < first + queries; q++) {
      long begin = System.nanoTime();
      try (Answer answer =
          client.search(MAPPED).vectors(asked[q]).k(K).recall(recall).fields().run()) {
        latencies.since(begin);
        List<Long> hits =
            answer.rows().stream().map(hit -> ((PointId.Int64) hit.id()).value()).toList();
        sum += truth.recall(q, hits);
        graph &= !answer.certificate().orElseThrow().exact();
        visited += answer.certificate().orElseThrow().visited();
      }
    }
    double mean = sum / queries;
    line.put("recall", Report.rounded(mean))
        .put("by_graph", graph)
        .put("visited", visited / queries)
        .put("p50_ms", Report.rounded(latencies.percentileMs(50)))
        .put("p99_ms", Report.rounded(latencies.percentileMs(99)))
        .put("disk_kib_per_search", Report.rounded((node.bytesRead() - read) / 1024.0 / queries));
    JsonNode memory = client.status().at("/nodes/0/memory");
    for (String part : List.of("codes", "links", "vectors_mapped", "displaced", "growing")) {
      line.put(part + "_mib", memory.path(part).asLong() / MIB);
    }
    return graph && mean >= recall - TOLERANCE && memory.path("displaced").asLong() == 0;
  }

  /** Puts the same rows where vectors stay in memory, until the node says no; what it says. */
  private Optional<String> overfill(Report report, SagittaClient client, Rows data)
      throws InterruptedException {
    client.create(HELD, schema(data, VectorStorage.MEMORY));
    WriterOptions options = WriterOptions.of(HELD).withBatchTimeout(PATIENCE);
    long taken = 0;
    try (BufferAllocator allocator = new RootAllocator();
        Writer writer = client.writer(options)) {
      for (long from = 0; from < rows; from += batchRows()) {
        long to = Math.min(rows, from + batchRows());
        try (VectorSchemaRoot batch = data.batch(from, to, allocator)) {
          writer.putAndWait(batch);
          taken = to;
        }
      }
      return Optional.empty();
    } catch (SagittaException e) {
      if (e.code() != ErrorCode.UNAVAILABLE) {
        throw new ClusterException("expected UNAVAILABLE: " + e.getMessage(), e);
      }
      return Optional.of(e.getMessage());
    } finally {
      report.put("taken_in_memory_mib", taken * dimension * Float.BYTES / MIB);
    }
  }
}
