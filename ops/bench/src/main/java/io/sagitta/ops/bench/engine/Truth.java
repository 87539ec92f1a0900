// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;

/**
 * What a perfect search answers, and how much of it an answer has. The true hits come from scoring
 * every row with the engine's own {@link io.sagitta.shard.distance.Scorer}; an answer is judged in
 * double, from the vectors themselves: a hit counts where its inner product is at least that of the
 * true k-th, so that a tie is worth as much as the row that happened to be listed.
 */
final class Truth {
  /** Inner products of unit vectors closer than this are equal: float sums differ by less. */
  private static final double TIE = 1e-6;

  private final VectorFile base;
  private final float[] queries;
  private final int[] hits;
  private final double[] worst;
  private final int k;

  private Truth(VectorFile base, float[] queries, int[] hits, int k) throws IOException {
    this.base = base;
    this.queries = queries;
    this.hits = hits;
    this.k = k;
    this.worst = new double[hits.length / k];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment rows = base.map(arena);
      for (int query = 0; query < worst.length; query++) {
        worst[query] = score(rows, query, hits[query * k + k - 1]);
      }
    }
  }

  /** The truth from the cache, or computed now by a worker. */
  static Truth of(DataSet data, VectorFile queries, String queriesKey, int k, Workers workers)
      throws IOException {
    Path folder = DataSet.folder().resolve("truth");
    Path file = folder.resolve(data.checksum() + "-" + queriesKey + "-k" + k + ".i32");
    if (!Files.exists(file)) {
      Files.createDirectories(folder);
      workers.log().println("true nearest rows of " + queries.rows() + " queries");
      Path made = workers.folder().resolve("truth.i32");
      ObjectNode request =
          workers
              .data("truth", data.base())
              .put("queries", queries.path().toString())
              .put("k", k)
              .put("threads", Runtime.getRuntime().availableProcessors())
              .put("hits", made.toString())
              .put("scores", workers.folder().resolve("truth.f32").toString());
      try (Worker worker = workers.jvm("none")) {
        worker.ask(request);
      }
      Files.move(made, file, StandardCopyOption.REPLACE_EXISTING);
    }
    return new Truth(data.base(), queries.read(), readInts(file), k);
  }

  /** Takes true hits as given: k rows a query, best first. */
  static Truth given(VectorFile base, float[] queries, int[] hits, int k) throws IOException {
    return new Truth(base, queries, hits, k);
  }

  int queries() {
    return worst.length;
  }

  int k() {
    return k;
  }

  /** Mean share of the true k that the answers have. */
  double recall(int[] answers) throws IOException {
    double sum = 0;
    double[] each = recalls(answers);
    for (double recall : each) {
      sum += recall;
    }
    return sum / each.length;
  }

  /** The share for every query. */
  double[] recalls(int[] answers) throws IOException {
    return recalls(0, answers);
  }

  /**
   * The share for some queries.
   *
   * @param first the query that was answered first
   * @param answers k row numbers a query, -1 where there is none
   */
  double[] recalls(int first, int[] answers) throws IOException {
    if (answers.length % k != 0 || first * k + answers.length > hits.length) {
      throw new IOException(
          answers.length + " hits from query " + first + " on, of " + queries() + " queries");
    }
    double[] recalls = new double[answers.length / k];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment rows = base.map(arena);
      for (int i = 0; i < recalls.length; i++) {
        int[] answer = Arrays.copyOfRange(answers, i * k, (i + 1) * k);
        recalls[i] = (double) good(rows, first + i, answer) / k;
      }
    }
    return recalls;
  }

  private int good(MemorySegment rows, int query, int[] answer) throws IOException {
    int good = 0;
    for (int i = 0; i < k; i++) {
      if (answer[i] < 0) {
        continue;
      }
      if (answer[i] >= base.rows()) {
        throw new IOException("query " + query + " was answered with row " + answer[i]);
      }
      boolean again = false;
      for (int before = 0; before < i; before++) {
        again |= answer[before] == answer[i];
      }
      if (!again && score(rows, query, answer[i]) >= worst[query] - TIE) {
        good++;
      }
    }
    return good;
  }

  private double score(MemorySegment rows, int query, int row) {
    float[] vector = base.row(rows, row);
    double sum = 0;
    for (int d = 0; d < vector.length; d++) {
      sum += (double) vector[d] * queries[query * vector.length + d];
    }
    return sum;
  }

  /** The numbers of a file of {@code int32}, little-endian. */
  static int[] readInts(Path file) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    int[] values = new int[bytes.remaining() / Integer.BYTES];
    bytes.asIntBuffer().get(values);
    return values;
  }
}
