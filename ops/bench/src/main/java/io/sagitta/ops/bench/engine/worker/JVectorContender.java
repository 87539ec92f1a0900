// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import io.github.jbellis.jvector.disk.SimpleMappedReader;
import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.GraphSearcher;
import io.github.jbellis.jvector.graph.ImmutableGraphIndex;
import io.github.jbellis.jvector.graph.ListRandomAccessVectorValues;
import io.github.jbellis.jvector.graph.OnHeapGraphIndex;
import io.github.jbellis.jvector.graph.SearchResult;
import io.github.jbellis.jvector.graph.similarity.BuildScoreProvider;
import io.github.jbellis.jvector.graph.similarity.DefaultSearchScoreProvider;
import io.github.jbellis.jvector.util.Bits;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.jbellis.jvector.vector.types.VectorTypeSupport;
import io.sagitta.ops.bench.engine.VectorFile;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ForkJoinPool;

/**
 * JVector's graph and float32 vectors on the heap. Its degree counts the lowest level's links, so
 * it gets 2 M there and M above; overflow and alpha are those of its own benchmarks.
 */
final class JVectorContender implements Contender {
  private static final VectorTypeSupport TYPES =
      VectorizationProvider.getInstance().getVectorTypeSupport();
  private static final VectorSimilarityFunction SIMILARITY = VectorSimilarityFunction.DOT_PRODUCT;
  private static final float OVERFLOW = 1.2f;
  private static final float ALPHA = 1.2f;
  private static final String GRAPH_FILE = "graph";

  private ListRandomAccessVectorValues vectors;
  private ImmutableGraphIndex graph;

  @Override
  public String version() {
    return "jvector "
        + ownVersion()
        + " ("
        + VectorizationProvider.getInstance().getClass().getSimpleName()
        + ")";
  }

  /** From the file that Maven put into its jar: the manifest does not say. */
  private static String ownVersion() {
    String file = "/META-INF/maven/io.github.jbellis/jvector-base/pom.properties";
    try (InputStream in = GraphIndexBuilder.class.getResourceAsStream(file)) {
      if (in == null) {
        return "of unknown version";
      }
      Properties properties = new Properties();
      properties.load(in);
      return properties.getProperty("version");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ListRandomAccessVectorValues vectors(VectorFile base) throws IOException {
    List<VectorFloat<?>> vectors = new ArrayList<>(base.rows());
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment rows = base.map(arena);
      for (int row = 0; row < base.rows(); row++) {
        vectors.add(TYPES.createFloatVector(base.row(rows, row)));
      }
    }
    return new ListRandomAccessVectorValues(vectors, base.dimension());
  }

  private GraphIndexBuilder builder(BuildPlan plan, ForkJoinPool pool) {
    return GraphIndexBuilder.builder(
            BuildScoreProvider.randomAccessScoreProvider(vectors, SIMILARITY),
            vectors.dimension(),
            List.of(2 * plan.m(), plan.m()))
        .withBeamWidth(plan.efConstruction())
        .withNeighborOverflow(OVERFLOW)
        .withAlpha(ALPHA)
        .withSimdExecutor(pool)
        .withParallelExecutor(pool)
        .build();
  }

  @Override
  @SuppressWarnings("deprecation") // the one way to keep a graph of the heap from run to run
  public int build(VectorFile base, BuildPlan plan, Path folder) throws IOException {
    vectors = vectors(base);
    try (ForkJoinPool pool = new ForkJoinPool(plan.threads());
        GraphIndexBuilder builder = builder(plan, pool);
        DataOutputStream out =
            new DataOutputStream(
                new BufferedOutputStream(Files.newOutputStream(folder.resolve(GRAPH_FILE))))) {
      ((OnHeapGraphIndex) builder.build(vectors)).save(out);
    }
    return plan.threads();
  }

  @Override
  @SuppressWarnings("deprecation") // see build
  public void open(VectorFile base, BuildPlan plan, Path folder) throws IOException {
    vectors = vectors(base);
    ForkJoinPool pool = ForkJoinPool.commonPool();
    try (SimpleMappedReader.Supplier files =
            new SimpleMappedReader.Supplier(folder.resolve(GRAPH_FILE));
        SimpleMappedReader in = files.get()) {
      GraphIndexBuilder builder = builder(plan, pool);
      builder.load(in);
      graph = builder.getGraph();
    }
  }

  @Override
  public Search search(Aim aim, int k) {
    return new JVectorSearch(aim.ef(), k);
  }

  @Override
  public void close() throws IOException {
    if (graph != null) {
      graph.close();
    }
  }

  private final class JVectorSearch implements Search {
    private final int ef;
    private final int k;
    private final GraphSearcher searcher = new GraphSearcher(graph);
    private long visited;

    JVectorSearch(int ef, int k) {
      this.ef = ef;
      this.k = k;
    }

    @Override
    public void run(float[] queries, int query, int[] hits) {
      int dimension = vectors.dimension();
      VectorFloat<?> vector =
          TYPES.createFloatVector(
              Arrays.copyOfRange(queries, query * dimension, (query + 1) * dimension));
      SearchResult result =
          searcher.search(
              DefaultSearchScoreProvider.exact(vector, SIMILARITY, vectors),
              k,
              ef,
              0f,
              0f,
              Bits.ALL);
      visited += result.getVisitedCount();
      SearchResult.NodeScore[] nodes = result.getNodes();
      for (int i = 0; i < Math.min(k, nodes.length); i++) {
        hits[query * k + i] = nodes[i].node;
      }
    }

    @Override
    public long visited() {
      return visited;
    }

    @Override
    public long bytes() {
      return visited * vectors.dimension() * Float.BYTES;
    }
  }
}
