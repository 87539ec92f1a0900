// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import io.sagitta.ops.bench.engine.VectorFile;
import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.Scorer;
import io.sagitta.shard.distance.TopK;
import io.sagitta.shard.distance.VectorRows;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The true nearest rows by inner product, by scoring every row for every query: blocks of queries
 * go over the rows together, so that a block of rows is read from memory once.
 */
final class ExactTruth {
  private static final int QUERY_BLOCK = 16;
  private static final int ROW_BLOCK = 2_048;

  private final VectorRows rows;
  private final float[] queries;
  private final int k;
  private final int[] hits;
  private final float[] scores;

  private ExactTruth(VectorRows rows, float[] queries, int count, int k) {
    this.rows = rows;
    this.queries = queries;
    this.k = k;
    this.hits = new int[count * k];
    this.scores = new float[count * k];
  }

  /** Name of the kernels that score. */
  static String kernels() {
    return Scorer.kernels();
  }

  /** Answers a request: writes hits, best first, and their scores. */
  static void write(JsonNode request) throws IOException, InterruptedException {
    VectorFile base = WorkerMain.base(request);
    VectorFile queries = VectorFile.of(Path.of(request.path("queries").asText()), base.dimension());
    int k = request.path("k").asInt();
    try (Arena arena = Arena.ofShared()) {
      VectorRows rows =
          VectorRows.packed(VectorType.FLOAT32, base.dimension(), base.rows(), base.map(arena));
      ExactTruth truth = new ExactTruth(rows, queries.read(), queries.rows(), k);
      truth.find(queries.rows(), request.path("threads").asInt());
      ByteBuffer bytes =
          ByteBuffer.allocate(truth.hits.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      bytes.asIntBuffer().put(truth.hits);
      Files.write(Path.of(request.path("hits").asText()), bytes.array());
      bytes.asFloatBuffer().put(truth.scores);
      Files.write(Path.of(request.path("scores").asText()), bytes.array());
    }
  }

  private void find(int count, int threads) throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread[] workers = new Thread[threads];
    for (int w = 0; w < threads; w++) {
      workers[w] =
          Thread.ofPlatform()
              .name("truth-" + w)
              .start(
                  () -> {
                    try {
                      for (int at; (at = next.getAndAdd(QUERY_BLOCK)) < count; ) {
                        block(at, Math.min(at + QUERY_BLOCK, count));
                      }
                    } catch (RuntimeException | Error e) {
                      failure.compareAndSet(null, e);
                      next.set(count);
                    }
                  });
    }
    for (Thread worker : workers) {
      worker.join();
    }
    if (failure.get() != null) {
      throw new IllegalStateException("the true hits could not be computed", failure.get());
    }
  }

  private void block(int from, int to) {
    PreparedQuery[] prepared = new PreparedQuery[to - from];
    TopK[] best = new TopK[to - from];
    for (int q = 0; q < prepared.length; q++) {
      prepared[q] =
          PreparedQuery.of(
              VectorType.FLOAT32,
              Metric.DOT,
              rows.dimension(),
              queries,
              (from + q) * rows.dimension());
      best[q] = new TopK(k, Metric.DOT, Long::compare);
    }
    float[] block = new float[prepared.length * ROW_BLOCK];
    for (int row = 0; row < rows.count(); row += ROW_BLOCK) {
      int end = Math.min(row + ROW_BLOCK, rows.count());
      Scorer.score(prepared, rows, row, end, block);
      for (int q = 0; q < prepared.length; q++) {
        best[q].offerAll(block, q * (end - row), end - row, row);
      }
    }
    long[] refs = new long[k];
    float[] values = new float[k];
    for (int q = 0; q < prepared.length; q++) {
      int found = best[q].drain(values, refs);
      for (int i = 0; i < k; i++) {
        hits[(from + q) * k + i] = i < found ? (int) refs[i] : -1;
        scores[(from + q) * k + i] = i < found ? values[i] : Float.NEGATIVE_INFINITY;
      }
    }
  }
}
