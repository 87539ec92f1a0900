// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.bench;

import com.sun.management.ThreadMXBean;
import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import io.sagitta.shard.distance.HugePages;
import io.sagitta.shard.distance.InverseNorms;
import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.Scorer;
import io.sagitta.shard.distance.TopK;
import io.sagitta.shard.distance.VectorRows;
import io.sagitta.shard.hnsw.CodeQuery;
import io.sagitta.shard.hnsw.Effort;
import io.sagitta.shard.hnsw.ExactRows;
import io.sagitta.shard.hnsw.GraphBuilder;
import io.sagitta.shard.hnsw.GraphConnector;
import io.sagitta.shard.hnsw.GraphSearcher;
import io.sagitta.shard.hnsw.IndexImage;
import io.sagitta.shard.hnsw.IndexParameters;
import io.sagitta.shard.hnsw.NeighbourCoding;
import io.sagitta.shard.hnsw.NeighbourTrial;
import io.sagitta.shard.hnsw.StopCheck;
import io.sagitta.shard.hnsw.Traversal;
import io.sagitta.shard.hnsw.VectorIndex;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How fast one graph is built and searched, without a shard around it: {@code GraphSpeed [key=value
 * ...]}. Prints for each effort recall@10 against exact scoring, queries a second of one thread's
 * processor time (median of the passes, least and most), rows visited, nanoseconds for each, and
 * bytes allocated a query.
 *
 * <p>{@code base=FILE queries=FILE dimension=D} are float32 rows; without them, 100,000 made rows
 * in clusters. {@code index=FILE} keeps the graph and the truth for the next run. Further: {@code
 * metric=cosine} {@code count=} queries, {@code threads=} of the build, {@code efs=} {@code
 * rerank=} {@code bits=} as comma-separated lists, {@code passes=}, {@code centre=true}; with
 * {@code neighbours=true} neighbours' codes lie beside the links.
 */
public final class GraphSpeed {
  private static final int K = 10;
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final Map<String, String> options = new HashMap<>();
  private final Arena arena = Arena.ofShared();
  private final Metric metric;
  private final int dimension;
  private final VectorRows rows;
  private final float[][] queries;
  private float[] kthScore;

  private GraphSpeed(String[] args) throws IOException {
    for (String arg : args) {
      int equals = arg.indexOf('=');
      options.put(arg.substring(0, equals), arg.substring(equals + 1));
    }
    metric = Metric.valueOf(option("metric", "cosine").toUpperCase(Locale.ROOT));
    dimension = number("dimension", 384);
    MemorySegment base;
    MemorySegment asked;
    if (options.containsKey("base")) {
      base = read(Path.of(options.get("base")));
      asked = read(Path.of(options.get("queries")));
    } else {
      base = arena.allocate(4L * dimension * 100_000 + 64, 64);
      asked = arena.allocate(4L * dimension * 3_000, 64);
      make(base.asSlice(0, 4L * dimension * 100_000), asked);
    }
    VectorRows plain =
        VectorRows.packed(
            VectorType.FLOAT32, dimension, (int) (base.byteSize() / 4 / dimension), base);
    MemorySegment norms = arena.allocate(4L * plain.count(), 64);
    InverseNorms.fill(plain, 0, plain.count(), norms);
    rows = plain.withInverseNorms(norms);
    int count = (int) Math.min(number("count", 3_000), asked.byteSize() / 4 / dimension);
    queries = new float[count][dimension];
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < dimension; j++) {
        queries[i][j] = asked.get(FLOAT, 4L * ((long) i * dimension + j));
      }
    }
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    new GraphSpeed(args).run();
  }

  private void run() throws Exception {
    System.out.printf(
        "%,d x %d, %s, %d queries, kernels %s%n",
        rows.count(), dimension, metric, queries.length, Scorer.kernels());
    try (VectorIndex index = index()) {
      readOrFindTruth();
      if (option("neighbours", "false").equals("true")) {
        codeNeighbours(index);
      }
      for (String bits : option("bits", "four").split(",")) {
        for (String rerank : option("rerank", "40").split(",")) {
          for (String ef : option("efs", "24,32,48,64,96,128,192,256,512").split(",")) {
            Traversal traversal = Traversal.valueOf(bits.toUpperCase(Locale.ROOT));
            int depth = Math.min(Integer.parseInt(rerank), Integer.parseInt(ef));
            measure(index, new Effort(Integer.parseInt(ef), depth, traversal));
          }
        }
      }
    }
  }

  private String option(String key, String otherwise) {
    return options.getOrDefault(key, otherwise);
  }

  private int number(String key, int otherwise) {
    return Integer.parseInt(option(key, Integer.toString(otherwise)));
  }

  // Data

  private MemorySegment read(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
      // Whole blocks are read behind the last row.
      MemorySegment memory = arena.allocate(channel.size() + 64, HugePages.SIZE);
      HugePages.advise(memory);
      MemorySegment.copy(mapped, 0, memory, 0, channel.size());
      return memory.asSlice(0, channel.size());
    }
  }

  /** 200 clusters, as hard as they come for few bits. */
  private void make(MemorySegment base, MemorySegment asked) {
    SplittableRandom random = new SplittableRandom(7);
    float[][] centres = new float[200][dimension];
    for (float[] centre : centres) {
      for (int i = 0; i < dimension; i++) {
        centre[i] = (float) (random.nextGaussian() / Math.sqrt(dimension));
      }
    }
    for (MemorySegment memory : List.of(base, asked)) {
      for (long at = 0; at < memory.byteSize(); at += 4L * dimension) {
        float[] centre = centres[random.nextInt(centres.length)];
        for (int i = 0; i < dimension; i++) {
          double noise = 0.6 * random.nextGaussian() / Math.sqrt(dimension);
          memory.set(FLOAT, at + 4L * i, (float) (centre[i] + noise));
        }
      }
    }
  }

  // Index

  private VectorIndex index() throws Exception {
    IndexParameters parameters = IndexParameters.of(VectorType.FLOAT32, metric, dimension);
    if (options.containsKey("index") && Files.exists(Path.of(options.get("index") + ".high"))) {
      return stored(parameters);
    }
    float[] centre = new float[dimension];
    if (option("centre", "true").equals("true")) {
      mean(centre);
    }
    long start = System.nanoTime();
    VectorIndex index = VectorIndex.empty(parameters, centre);
    index.reserve(rows.count());
    long[] hashes = new long[rows.count()];
    Arrays.setAll(hashes, i -> i);
    index.encode(0, rows, 0, rows.count(), null, hashes);
    double encode = seconds(start);
    int threads = number("threads", 2);
    long cpu = processCpuNs();
    start = System.nanoTime();
    insertAll(index, threads);
    index.publish(rows.count());
    double insert = seconds(start);
    double insertCpu = (processCpuNs() - cpu) / 1e9;
    start = System.nanoTime();
    int added = GraphConnector.connect(index);
    System.out.printf(
        "encode %.1f s; insert %.1f s on %d threads, %.1f s of CPU; connect %.2f s, %d links; %.1f"
            + " MB%n",
        encode, insert, threads, insertCpu, seconds(start), added, index.bytes() / 1e6);
    if (options.containsKey("index")) {
      store(index.image());
    }
    return index;
  }

  private void mean(float[] centre) {
    float[] row = new float[dimension];
    int step = Math.max(1, rows.count() / 10_000);
    int sampled = (rows.count() - 1) / step + 1;
    for (int i = 0; i < rows.count(); i += step) {
      rows.read(i, row);
      float scale = metric == Metric.COSINE ? rows.inverseNorm(i) : 1;
      for (int j = 0; j < dimension; j++) {
        centre[j] += row[j] * scale / sampled;
      }
    }
  }

  private void insertAll(VectorIndex index, int threads) throws Exception {
    AtomicInteger next = new AtomicInteger();
    runAll(
        threads,
        () -> {
          GraphBuilder builder = new GraphBuilder(index);
          for (int i = next.getAndIncrement(); i < rows.count(); i = next.getAndIncrement()) {
            builder.insert(i);
          }
        });
  }

  private void codeNeighbours(VectorIndex index) throws Exception {
    long start = System.nanoTime();
    try (NeighbourCoding coding = NeighbourCoding.begin(index, StopCheck.NEVER).orElseThrow()) {
      double train = seconds(start);
      start = System.nanoTime();
      AtomicInteger next = new AtomicInteger();
      int threads = number("threads", 2);
      runAll(
          threads,
          () -> {
            NeighbourCoding.Writer writer = coding.writer();
            for (int i = next.getAndIncrement(); i < index.size(); i = next.getAndIncrement()) {
              writer.write(i);
            }
          });
      coding.show();
      System.out.printf(
          "codes of neighbours: train %.1f s, code %.1f s on %d threads, %.1f MB; %s%n",
          train,
          seconds(start),
          threads,
          NeighbourCoding.bytes(index.parameters(), index.size()) / 1e6,
          new NeighbourTrial(
                  index,
                  new Effort(96, 40, Traversal.FOUR),
                  THREADS::getCurrentThreadCpuTime,
                  StopCheck.NEVER)
              .run());
    }
  }

  private static void runAll(int threads, Runnable work)
      throws ExecutionException, InterruptedException {
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      List<Future<?>> done = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        done.add(executor.submit(work));
      }
      for (Future<?> future : done) {
        future.get();
      }
    }
  }

  private void store(IndexImage image) throws IOException {
    String name = options.get("index");
    write(name + ".high", image.high());
    write(name + ".low", image.low());
    write(name + ".links", image.links());
    write(name + ".levels", image.levels());
    write(name + ".upper", image.upper());
    MemorySegment head = arena.allocate(16 + 4L * dimension);
    int[] values = {image.size(), image.entry(), image.entryLevel(), image.upperBlocks()};
    for (int i = 0; i < values.length; i++) {
      head.set(INT, 4L * i, values[i]);
    }
    for (int i = 0; i < dimension; i++) {
      head.set(FLOAT, 16 + 4L * i, image.centre()[i]);
    }
    write(name + ".head", head);
  }

  private VectorIndex stored(IndexParameters parameters) throws IOException {
    String name = options.get("index");
    MemorySegment head = read(Path.of(name + ".head"));
    float[] centre = new float[dimension];
    for (int i = 0; i < dimension; i++) {
      centre[i] = head.get(FLOAT, 16 + 4L * i);
    }
    return VectorIndex.of(
        new IndexImage(
            parameters,
            centre,
            head.get(INT, 0),
            head.get(INT, 4),
            head.get(INT, 8),
            head.get(INT, 12),
            read(Path.of(name + ".high")),
            read(Path.of(name + ".low")),
            read(Path.of(name + ".links")),
            read(Path.of(name + ".levels")),
            read(Path.of(name + ".upper")),
            null),
        () -> {});
  }

  private static void write(String file, MemorySegment memory) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            Path.of(file),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      long step = 1 << 30;
      for (long at = 0; at < memory.byteSize(); at += step) {
        channel.write(
            memory.asSlice(at, Math.min(step, memory.byteSize() - at)).asByteBuffer(), at);
      }
    }
  }

  // Truth

  /** The score of the tenth best row of every query: a hit is whatever is as good. */
  private void readOrFindTruth() throws Exception {
    kthScore = new float[queries.length];
    Path file = Path.of(option("index", "/nowhere") + ".truth" + queries.length);
    if (Files.exists(file)) {
      MemorySegment stored = read(file);
      for (int i = 0; i < kthScore.length; i++) {
        kthScore[i] = stored.get(FLOAT, 4L * i);
      }
      return;
    }
    AtomicInteger next = new AtomicInteger();
    runAll(
        2,
        () -> {
          float[] scores = new float[16 * rows.count()];
          float[] best = new float[K];
          TopK heap = new TopK(K, metric, Long::compare);
          for (int from = next.getAndAdd(16); from < queries.length; from = next.getAndAdd(16)) {
            int count = Math.min(16, queries.length - from);
            PreparedQuery[] prepared = new PreparedQuery[count];
            for (int i = 0; i < count; i++) {
              prepared[i] = prepare(queries[from + i]);
            }
            Scorer.score(prepared, rows, 0, rows.count(), scores);
            for (int i = 0; i < count; i++) {
              heap.offerAll(scores, i * rows.count(), rows.count(), 0);
              heap.drain(best, new long[K]);
              kthScore[from + i] = best[K - 1];
            }
          }
        });
    if (options.containsKey("index")) {
      MemorySegment memory = arena.allocate(4L * kthScore.length);
      MemorySegment.copy(kthScore, 0, memory, FLOAT, 0, kthScore.length);
      write(file.toString(), memory);
    }
  }

  private PreparedQuery prepare(float[] query) {
    return PreparedQuery.of(VectorType.FLOAT32, metric, dimension, query, 0);
  }

  // Measurement

  private void measure(VectorIndex index, Effort effort) {
    Pass pass = new Pass(index, effort);
    for (int i = 0; i < number("warm", 2); i++) {
      pass.run();
    }
    double[] rates = new double[number("passes", 5)];
    for (int i = 0; i < rates.length; i++) {
      pass.run();
      rates[i] = queries.length * 1e9 / pass.cpuNs;
    }
    Arrays.sort(rates);
    double perQuery = 1e9 / rates[rates.length / 2];
    System.out.printf(
        "%-5s ef %4d rerank %3d: recall %.4f  %,7.0f q/s [%,.0f-%,.0f]  visited %,6d  %5.1f ns each"
            + "  %d bytes%n",
        effort.traversal(),
        effort.ef(),
        effort.rerank(),
        pass.recall(),
        rates[rates.length / 2],
        rates[0],
        rates[rates.length - 1],
        pass.visited / queries.length,
        perQuery * queries.length / pass.visited,
        pass.allocated / queries.length);
  }

  /** All queries once, as a request would ask them. Times are of the processor, not the clock. */
  private final class Pass {
    private final VectorIndex index;
    private final Effort effort;
    private final GraphSearcher searcher = new GraphSearcher();
    private final CodeQuery coded;
    private final ExactRows exact = GraphSpeed.this::scoreExactly;
    private final TopK heap = new TopK(K, metric, Long::compare);
    private final PreparedQuery[] prepared = new PreparedQuery[queries.length];
    private final float[] scores = new float[K];
    private final long[] refs = new long[K];
    private final float[] found = new float[K * queries.length];
    private long cpuNs;
    private long visited;
    private long allocated;

    private Pass(VectorIndex index, Effort effort) {
      this.index = index;
      this.effort = effort;
      this.coded = new CodeQuery(index.parameters());
      Arrays.setAll(prepared, i -> prepare(queries[i]));
    }

    private void run() {
      Arrays.fill(found, metric.higherIsBetter() ? -Float.MAX_VALUE : Float.MAX_VALUE);
      visited = 0;
      long bytes = THREADS.getCurrentThreadAllocatedBytes();
      long start = THREADS.getCurrentThreadCpuTime();
      for (int i = 0; i < queries.length; i++) {
        coded.set(queries[i], 0);
        searcher.search(
            index,
            exact,
            prepared[i],
            coded,
            effort,
            null,
            index.size(),
            Long.MAX_VALUE,
            StopCheck.NEVER,
            heap,
            0);
        int count = heap.drain(scores, refs);
        System.arraycopy(scores, 0, found, K * i, count);
        visited += searcher.visited();
      }
      cpuNs = THREADS.getCurrentThreadCpuTime() - start;
      allocated = THREADS.getCurrentThreadAllocatedBytes() - bytes;
    }

    private double recall() {
      int hits = 0;
      for (int i = 0; i < found.length; i++) {
        float last = kthScore[i / K];
        hits += (metric.higherIsBetter() ? found[i] >= last : found[i] <= last) ? 1 : 0;
      }
      return (double) hits / found.length;
    }
  }

  private void scoreExactly(
      PreparedQuery query, int[] ordinals, int from, int to, float[] out, int at) {
    Scorer.score(query, rows, ordinals, from, to, out, at);
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }

  private static long processCpuNs() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
