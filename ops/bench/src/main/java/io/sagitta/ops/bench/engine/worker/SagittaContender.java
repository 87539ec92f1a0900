// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import io.sagitta.ops.bench.engine.VectorFile;
import io.sagitta.shard.distance.HugePages;
import io.sagitta.shard.distance.InverseNorms;
import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.Scorer;
import io.sagitta.shard.distance.TopK;
import io.sagitta.shard.distance.VectorRows;
import io.sagitta.shard.hnsw.CodeQuery;
import io.sagitta.shard.hnsw.Effort;
import io.sagitta.shard.hnsw.ExactRows;
import io.sagitta.shard.hnsw.GraphSearcher;
import io.sagitta.shard.hnsw.IndexImage;
import io.sagitta.shard.hnsw.IndexParameters;
import io.sagitta.shard.hnsw.StopCheck;
import io.sagitta.shard.hnsw.Traversal;
import io.sagitta.shard.hnsw.VectorIndex;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Locale;

/**
 * This engine: the graph over codes, the exact rerank over vectors in memory, metric cosine, as a
 * segment has them. Vectors may be stored in any of the types that hold numbers.
 */
final class SagittaContender implements Contender {
  private static final Metric METRIC = Metric.COSINE;
  private static final long ALIGNMENT = 64;
  private static final int CENTRE_SAMPLE = 10_000;

  /** Rows scored exactly: all of a small pool, of a large one its best part. */
  private static final int RERANK_MIN = 40;

  private static final int RERANK_SHARE = 5;

  private final Traversal traversal;
  private final VectorType type;
  private final boolean neighbours;
  private final Arena arena = Arena.ofShared();
  private IndexParameters parameters;
  private VectorRows rows;
  private VectorIndex index;
  private long codeBytes;

  /**
   * Nothing built or opened yet.
   *
   * @param type in which vectors are stored
   * @param neighbours whether codes of neighbours are tried
   */
  SagittaContender(Traversal traversal, VectorType type, boolean neighbours) {
    this.traversal = traversal;
    this.type = type;
    this.neighbours = neighbours;
  }

  @Override
  public String version() {
    return "sagitta, "
        + switch (traversal) {
          case FOUR -> "4-bit";
          case EIGHT -> "8-bit";
          case BITS -> "bit";
        }
        + " codes, "
        + (index != null && index.hasNeighbourCodes() ? "neighbours' codes, " : "")
        + type.name().toLowerCase(Locale.ROOT)
        + ", "
        + Scorer.kernels();
  }

  private IndexParameters parameters(VectorFile base, BuildPlan plan) {
    return new IndexParameters(type, METRIC, base.dimension(), plan.m(), plan.efConstruction());
  }

  @Override
  public int build(VectorFile base, BuildPlan plan, Path folder)
      throws IOException, InterruptedException {
    rows = inMemory(base);
    GraphBuild build = new GraphBuild(parameters(base, plan), centre(base), rows);
    index = build.run(plan.threads());
    if (traversal == Traversal.FOUR) {
      if (neighbours) {
        build.codeNeighbours(plan.threads());
      }
      index.dropLow();
    }
    new IndexFolder(folder).write(index.image());
    return plan.threads();
  }

  @Override
  public void open(VectorFile base, BuildPlan plan, Path folder) throws IOException {
    parameters = parameters(base, plan);
    rows = inMemory(base);
    IndexImage image = new IndexFolder(folder).read(parameters, arena);
    index = VectorIndex.of(image, () -> {});
    codeBytes = image.high().byteSize() / Math.max(1, image.size());
    if (traversal == Traversal.EIGHT) {
      codeBytes *= 2;
    }
  }

  /** The mean of rows evenly apart. */
  private static float[] centre(VectorFile base) throws IOException {
    double[] sums = new double[base.dimension()];
    int step = Math.max(1, base.rows() / CENTRE_SAMPLE);
    int count = 0;
    try (Arena mapping = Arena.ofConfined()) {
      MemorySegment mapped = base.map(mapping);
      for (int row = 0; row < base.rows(); row += step, count++) {
        float[] vector = base.row(mapped, row);
        for (int d = 0; d < sums.length; d++) {
          sums[d] += vector[d];
        }
      }
    }
    float[] centre = new float[sums.length];
    for (int d = 0; d < centre.length; d++) {
      centre[d] = (float) (sums[d] / count);
    }
    return centre;
  }

  private VectorRows inMemory(VectorFile base) throws IOException {
    int bytes = type.bytes(base.dimension());
    MemorySegment vectors = HugePages.allocate((long) base.rows() * bytes, arena);
    try (Arena mapping = Arena.ofConfined()) {
      MemorySegment mapped = base.map(mapping);
      for (int row = 0; row < base.rows(); row++) {
        StoredComponents.write(
            type, base.row(mapped, row), vectors.asSlice((long) row * bytes, bytes));
      }
    }
    VectorRows packed = VectorRows.packed(type, base.dimension(), base.rows(), vectors);
    MemorySegment norms = arena.allocate((long) base.rows() * Float.BYTES, ALIGNMENT);
    InverseNorms.fill(packed, 0, base.rows(), norms);
    return packed.withInverseNorms(norms);
  }

  @Override
  public Search search(Aim aim, int k) {
    int rerank = Math.min(aim.ef(), Math.max(RERANK_MIN, aim.ef() / RERANK_SHARE));
    return new SagittaSearch(new Effort(aim.ef(), Math.max(k, rerank), traversal), k);
  }

  @Override
  public void close() {
    if (index != null) {
      index.close();
    }
    arena.close();
  }

  private final class SagittaSearch implements Search {
    private final Effort effort;
    private final GraphSearcher searcher = new GraphSearcher();
    private final CodeQuery code = new CodeQuery(parameters);
    private final ExactRows exactRows =
        (query, ordinals, from, to, out, at) ->
            Scorer.score(query, rows, ordinals, from, to, out, at);
    private final TopK best;
    private final float[] scores;
    private final long[] refs;
    private long visited;
    private long reranked;

    SagittaSearch(Effort effort, int k) {
      this.effort = effort;
      this.best = new TopK(k, METRIC, Long::compare);
      this.scores = new float[k];
      this.refs = new long[k];
    }

    @Override
    public void run(float[] queries, int query, int[] hits) {
      int dimension = parameters.dimension();
      code.set(queries, query * dimension);
      PreparedQuery exact = PreparedQuery.of(type, METRIC, dimension, queries, query * dimension);
      reranked +=
          searcher.search(
              index,
              exactRows,
              exact,
              code,
              effort,
              null,
              index.size(),
              Long.MAX_VALUE,
              StopCheck.NEVER,
              best,
              0);
      visited += searcher.visited();
      int found = best.drain(scores, refs);
      for (int i = 0; i < found; i++) {
        hits[query * refs.length + i] = (int) refs[i];
      }
    }

    @Override
    public long visited() {
      return visited;
    }

    @Override
    public long bytes() {
      return visited * codeBytes + reranked * type.bytes(parameters.dimension());
    }
  }
}
