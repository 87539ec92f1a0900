// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import io.sagitta.ops.bench.engine.VectorFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene104.Lucene104Codec;
import org.apache.lucene.codecs.lucene104.Lucene104HnswScalarQuantizedVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.search.VectorScorer;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.Version;
import org.apache.lucene.util.quantization.QuantizedByteVectorValues.ScalarEncoding;

/**
 * Lucene's HNSW in one mapped segment, over float32 or over its optimised scalar quantisation. The
 * quantised ones score all ef candidates anew with the full vectors, as Lucene's own rescoring
 * query does. Documents are added by one thread: only that gives one segment in one go.
 */
final class LuceneContender implements Contender {
  private static final String FIELD = "v";
  private static final double BUFFER_MIB = 2_000;

  private final int bits;
  private Directory directory;
  private DirectoryReader reader;
  private LeafReader leaf;
  private int dimension;

  private LuceneContender(int bits) {
    this.bits = bits;
  }

  static LuceneContender float32() {
    return new LuceneContender(32);
  }

  /** Codes of 8 or 4 bits a component. */
  static LuceneContender quantised(int bits) {
    return new LuceneContender(bits);
  }

  @Override
  public String version() {
    return "lucene " + Version.LATEST + (bits == 32 ? "" : " " + bits + "-bit, rescored");
  }

  private KnnVectorsFormat format(BuildPlan plan) {
    return switch (bits) {
      case 32 -> new Lucene99HnswVectorsFormat(plan.m(), plan.efConstruction());
      case 8, 4 ->
          new Lucene104HnswScalarQuantizedVectorsFormat(
              bits == 8 ? ScalarEncoding.UNSIGNED_BYTE : ScalarEncoding.PACKED_NIBBLE,
              plan.m(),
              plan.efConstruction());
      default -> throw new IllegalStateException(bits + " bits");
    };
  }

  private Codec codec(BuildPlan plan) {
    KnnVectorsFormat format = format(plan);
    return new Lucene104Codec() {
      @Override
      public KnnVectorsFormat getKnnVectorsFormatForField(String field) {
        return format;
      }
    };
  }

  @Override
  public int build(VectorFile base, BuildPlan plan, Path folder) throws IOException {
    IndexWriterConfig config =
        new IndexWriterConfig()
            .setCodec(codec(plan))
            .setUseCompoundFile(false)
            .setMergePolicy(NoMergePolicy.INSTANCE)
            .setMaxBufferedDocs(IndexWriterConfig.DISABLE_AUTO_FLUSH)
            .setRAMBufferSizeMB(BUFFER_MIB);
    config.setRAMPerThreadHardLimitMB((int) BUFFER_MIB + 1);
    try (Arena arena = Arena.ofConfined();
        Directory target = new MMapDirectory(folder);
        IndexWriter writer = new IndexWriter(target, config)) {
      MemorySegment rows = base.map(arena);
      for (int row = 0; row < base.rows(); row++) {
        Document document = new Document();
        document.add(
            new KnnFloatVectorField(
                FIELD, base.row(rows, row), VectorSimilarityFunction.DOT_PRODUCT));
        writer.addDocument(document);
      }
      writer.commit();
    }
    return 1;
  }

  @Override
  public void open(VectorFile base, BuildPlan plan, Path folder) throws IOException {
    directory = new MMapDirectory(folder);
    reader = DirectoryReader.open(directory);
    if (reader.leaves().size() != 1 || reader.maxDoc() != base.rows()) {
      throw new IOException(
          reader.maxDoc() + " documents in " + reader.leaves().size() + " segments");
    }
    leaf = reader.leaves().getFirst().reader();
    dimension = base.dimension();
  }

  @Override
  public Search search(Aim aim, int k) throws IOException {
    return new LuceneSearch(aim.ef(), k);
  }

  @Override
  public void close() throws IOException {
    if (reader != null) {
      reader.close();
      directory.close();
    }
  }

  private final class LuceneSearch implements Search {
    private final int ef;
    private final int k;
    private final FloatVectorValues vectors;
    private final AcceptDocs all = AcceptDocs.fromLiveDocs(null, leaf.maxDoc());
    private long visited;
    private long rescored;

    LuceneSearch(int ef, int k) throws IOException {
      this.ef = ef;
      this.k = k;
      this.vectors = leaf.getFloatVectorValues(FIELD);
    }

    @Override
    public void run(float[] queries, int query, int[] hits) throws IOException {
      float[] vector = Arrays.copyOfRange(queries, query * dimension, (query + 1) * dimension);
      TopKnnCollector collector = new TopKnnCollector(ef, Integer.MAX_VALUE);
      leaf.searchNearestVectors(FIELD, vector, collector, all);
      visited += collector.visitedCount();
      ScoreDoc[] found = collector.topDocs().scoreDocs;
      if (bits < 32) {
        rescore(vector, found);
      }
      for (int i = 0; i < Math.min(k, found.length); i++) {
        hits[query * k + i] = found[i].doc;
      }
    }

    /** Exact scores for all candidates, in the order in which they lie, then best first. */
    private void rescore(float[] vector, ScoreDoc[] found) throws IOException {
      Arrays.sort(found, Comparator.comparingInt(candidate -> candidate.doc));
      VectorScorer scorer = vectors.rescorer(vector);
      for (ScoreDoc candidate : found) {
        scorer.iterator().advance(candidate.doc);
        candidate.score = scorer.score();
      }
      rescored += found.length;
      Arrays.sort(found, (left, right) -> Float.compare(right.score, left.score));
    }

    @Override
    public long visited() {
      return visited;
    }

    @Override
    public long bytes() {
      return visited * dimension * bits / 8 + rescored * dimension * Float.BYTES;
    }
  }
}
