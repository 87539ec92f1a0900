// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.ops.bench.engine.VectorFile;
import io.sagitta.ops.bench.engine.worker.Contender.Aim;
import io.sagitta.ops.bench.engine.worker.Contender.BuildPlan;
import io.sagitta.ops.bench.engine.worker.Contender.Search;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every contender of the JVM against all rows scored in double, on a small set. */
@Seeded
class ContenderTest {
  private static final int ROWS = 3_000;
  private static final int QUERIES = 50;
  private static final int DIMENSION = 36;
  private static final int K = 10;
  private static final BuildPlan PLAN = new BuildPlan(16, 100, 2);

  @TempDir private Path folder;

  private VectorFile vectors(String name, int count, SplittableRandom random) throws IOException {
    try (VectorFile.Writer out = new VectorFile.Writer(folder.resolve(name), DIMENSION)) {
      for (int row = 0; row < count; row++) {
        float[] vector = new float[DIMENSION];
        double squares = 0;
        for (int d = 0; d < DIMENSION; d++) {
          vector[d] = (float) random.nextGaussian();
          squares += vector[d] * vector[d];
        }
        for (int d = 0; d < DIMENSION; d++) {
          vector[d] /= (float) Math.sqrt(squares);
        }
        out.add(vector);
      }
      return out.finish();
    }
  }

  /** The k best rows of every query, best first. */
  private static int[] bruteForce(float[] rows, float[] queries) {
    int[] hits = new int[QUERIES * K];
    for (int query = 0; query < QUERIES; query++) {
      double[] scores = new double[ROWS];
      for (int row = 0; row < ROWS; row++) {
        scores[row] = score(rows, row, queries, query);
      }
      int[] best =
          IntStream.range(0, ROWS)
              .boxed()
              .sorted(Comparator.comparingDouble(row -> -scores[row]))
              .limit(K)
              .mapToInt(Integer::intValue)
              .toArray();
      System.arraycopy(best, 0, hits, query * K, K);
    }
    return hits;
  }

  private static double score(float[] rows, int row, float[] queries, int query) {
    double sum = 0;
    for (int d = 0; d < DIMENSION; d++) {
      sum += (double) rows[row * DIMENSION + d] * queries[query * DIMENSION + d];
    }
    return sum;
  }

  private static double recall(int[] hits, int[] truth) {
    int found = 0;
    for (int query = 0; query < QUERIES; query++) {
      int[] answer = Arrays.copyOfRange(hits, query * K, (query + 1) * K);
      for (int i = query * K; i < (query + 1) * K; i++) {
        int wanted = truth[i];
        found += Arrays.stream(answer).anyMatch(row -> row == wanted) ? 1 : 0;
      }
    }
    return (double) found / truth.length;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sagitta",
        "sagitta-rows",
        "sagitta-8bit",
        "sagitta-bfloat16",
        "sagitta-int8",
        "lucene",
        "lucene-8bit",
        "lucene-4bit",
        "jvector"
      })
  void findsNearlyAllTrueHitsAndCountsItsVisits(String name, Seed seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed.value());
    VectorFile base = vectors("base.f32", ROWS, random);
    float[] queries = vectors("queries.f32", QUERIES, random).read();
    Path index = Files.createDirectory(folder.resolve("index"));
    try (Contender builder = Contenders.of(name)) {
      builder.build(base, PLAN, index);
    }
    try (Contender contender = Contenders.of(name)) {
      assertThat(contender.version()).matches(name.replaceAll("-.*", "") + "[, ].*[0-9].*");
      contender.open(base, PLAN, index);
      Search search = contender.search(new Aim(200), K);
      int[] hits = new int[QUERIES * K];
      Arrays.fill(hits, -1);
      for (int query = 0; query < QUERIES; query++) {
        search.run(queries, query, hits);
      }
      // Rounded to 8 bits, neighbours this close change places however well they are searched.
      double least = name.endsWith("int8") ? 0.85 : 0.95;
      assertThat(recall(hits, bruteForce(base.read(), queries))).isGreaterThan(least);
      assertThat(search.visited()).isBetween(200L * QUERIES, (long) ROWS * QUERIES);
      assertThat(search.bytes()).isGreaterThan(search.visited());
    }
  }

  @Test
  void theTruthIsThatOfAllRowsScoredInDouble(Seed seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed.value());
    VectorFile base = vectors("base.f32", ROWS, random);
    VectorFile queries = vectors("queries.f32", QUERIES, random);
    Path hits = folder.resolve("hits.i32");
    ObjectNode request =
        new ObjectMapper()
            .createObjectNode()
            .put("base", base.path().toString())
            .put("rows", ROWS)
            .put("dim", DIMENSION)
            .put("queries", queries.path().toString())
            .put("k", K)
            .put("threads", 2)
            .put("hits", hits.toString())
            .put("scores", folder.resolve("scores.f32").toString());
    ExactTruth.write(request);
    int[] found = new int[QUERIES * K];
    ByteBuffer.wrap(Files.readAllBytes(hits))
        .order(ByteOrder.LITTLE_ENDIAN)
        .asIntBuffer()
        .get(found);
    float[] scores = VectorFile.of(folder.resolve("scores.f32"), K).read();
    float[] rows = base.read();
    float[] asked = queries.read();
    int[] truth = bruteForce(rows, asked);
    for (int i = 0; i < truth.length; i++) {
      // Rows whose scores differ by less than a float's rounding may have changed places.
      double expected = score(rows, truth[i], asked, i / K);
      assertThat(score(rows, found[i], asked, i / K)).isCloseTo(expected, within(1e-6));
      assertThat((double) scores[i]).isCloseTo(expected, within(1e-6));
    }
    assertThat(recall(found, truth)).isGreaterThan(0.99);
  }
}
