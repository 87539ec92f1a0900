// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Field;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PayloadType.Kind;
import io.sagitta.model.PointId;
import io.sagitta.model.RowBatch;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriteOutcome;
import io.sagitta.shard.TestShard.Hit;
import io.sagitta.shard.log.ShardEntries;
import io.sagitta.shard.store.CrashableStore;
import io.sagitta.shard.store.FsStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Small inputs behind real reports against stores like this one, as far as a shard decides them;
 * each test carries the number of its case. Where it matters the same question is asked of growing
 * rows, of rows in files, and after a restart.
 */
class CasesTest {
  private interface Check {
    void run() throws IOException;
  }

  private static void atEveryStage(TestShard shard, Check check) throws IOException {
    check.run();
    shard.apply(ShardEntries.freeze(TestShard.ID, 1));
    check.run();
    shard.restart();
    check.run();
  }

  private static CollectionSchema schema(int dimension, Metric metric, PayloadField... payload) {
    List<Field> fields = new ArrayList<>();
    fields.add(new VectorField(1, "v", VectorType.FLOAT32, dimension, metric, false));
    fields.addAll(Arrays.asList(payload));
    return new CollectionSchema(1, IdType.INT64, fields);
  }

  private static PayloadField payload(int fieldId, String name, Kind kind) {
    return new PayloadField(fieldId, name, PayloadType.of(kind));
  }

  private static TestShard start(CollectionSchema schema) throws IOException {
    return TestShard.start(new CrashableStore(), schema);
  }

  private static List<Object> row(long id, float[] vector, Object... payload) {
    List<Object> row = new ArrayList<>();
    row.add(PlainRows.int64(id));
    row.add(PlainRows.floats(vector));
    row.addAll(Arrays.asList(payload));
    return row;
  }

  private static float[] v(float... components) {
    return components;
  }

  private static List<PointId> ids(long... ids) {
    return LongStream.of(ids).mapToObj(id -> (PointId) new PointId.Int64(id)).toList();
  }

  private static List<PointId> idsOf(List<Hit> hits) {
    return hits.stream().map(Hit::id).toList();
  }

  @Test
  @Tag("B001")
  void aSelectiveFilterFindsAllThatMatchBestFirst() throws IOException {
    try (TestShard shard = start(schema(2, Metric.COSINE, payload(2, "tag", Kind.UTF8)))) {
      for (int batch = 0; batch < 5; batch++) {
        List<List<Object>> rows = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
          rows.add(row(batch * 1_000 + i, v(1, i * 1e-5f), PlainRows.text("b")));
        }
        shard.upsert(rows);
      }
      shard.upsert(
          List.of(
              row(9_001, v(0.1f, 1), PlainRows.text("a")),
              row(9_002, v(0.3f, 1), PlainRows.text("a")),
              row(9_003, v(0.2f, 1), PlainRows.text("a"))));
      atEveryStage(
          shard,
          () ->
              assertThat(
                      idsOf(
                          shard.search(
                              "v", 5, Optional.of(TestShard.filter("tag = $1", "a")), 1, 0)))
                  .isEqualTo(ids(9_002, 9_003, 9_001)));
    }
  }

  @Test
  @Tag("B003")
  void aKnotOfIdenticalVectorsHidesNothing() throws IOException {
    try (TestShard shard = start(schema(4, Metric.L2))) {
      List<List<Object>> rows = new ArrayList<>();
      for (int id = 0; id < 8; id++) {
        rows.add(row(id, v(1, 1, 1, 1)));
      }
      rows.add(row(8, v(2, 1, 1, 1)));
      rows.add(row(9, v(2.1f, 1, 1, 1)));
      rows.add(row(10, v(1.9f, 1, 1, 1)));
      shard.upsert(rows);
      atEveryStage(
          shard,
          () -> {
            List<PointId> hits = idsOf(shard.search("v", 3, Optional.empty(), 2.05f, 1, 1, 1));
            assertThat(hits.subList(0, 2)).containsExactlyInAnyOrderElementsOf(ids(8, 9));
            assertThat(hits.get(2)).isEqualTo(new PointId.Int64(10));
          });
      shard.delete(new PointId.Int64(0));
      atEveryStage(
          shard,
          () ->
              assertThat(idsOf(shard.search("v", 7, Optional.empty(), 1, 1, 1, 1)))
                  .isEqualTo(ids(1, 2, 3, 4, 5, 6, 7)));
    }
  }

  @Test
  @Tag("B006")
  void nothingThereIsNoHitsAndNoError() throws IOException {
    try (TestShard shard = start(schema(4, Metric.L2, payload(2, "x", Kind.INT64)))) {
      Check empty =
          () -> {
            assertThat(shard.search("v", 5, Optional.empty(), 1, 2, 3, 4)).isEmpty();
            assertThat(shard.search("v", 5, Optional.of(TestShard.filter("x = 1")), 1, 2, 3, 4))
                .isEmpty();
            assertThat(shard.count()).isZero();
            assertThat(shard.scanIds(10)).isEmpty();
          };
      atEveryStage(shard, empty);
      shard.upsert(List.of(row(1, v(1, 2, 3, 4), PlainRows.int64(1))));
      shard.delete(new PointId.Int64(1));
      atEveryStage(shard, empty);
      List<List<Object>> rows = new ArrayList<>();
      for (int id = 0; id < 500; id++) {
        rows.add(row(id, v(id, 2, 3, 4), id % 2 == 0 ? null : PlainRows.int64(1)));
      }
      shard.upsert(rows);
      shard.apply(ShardEntries.freeze(TestShard.ID, 1));
      assertThat(shard.deleteWhere("x = 1 OR x IS NULL"))
          .isEqualTo(new WriteOutcome.Applied(shard.index(), 500, List.of(), false));
      atEveryStage(shard, empty);
    }
  }

  @Test
  @Tag("B006")
  @Tag("B007")
  void aKBeyondTheRowsGivesThemAllAndNoneIsRefused() throws IOException {
    try (TestShard shard = start(schema(2, Metric.DOT))) {
      shard.upsert(List.of(row(1, v(1, 0)), row(2, v(2, 0)), row(3, v(3, 0))));
      for (int k : new int[] {10, 65_536, Integer.MAX_VALUE}) {
        assertThat(idsOf(shard.search("v", k, Optional.empty(), 1, 0))).isEqualTo(ids(3, 2, 1));
      }
      for (int k : new int[] {0, -1}) {
        assertThatThrownBy(() -> shard.search("v", k, Optional.empty(), 1, 0))
            .isInstanceOf(SagittaException.class)
            .hasMessageContaining("k is " + k);
      }
    }
  }

  @Test
  @Tag("B009")
  void aZeroVectorIsRefusedUnderCosine() throws IOException {
    try (TestShard shard = start(schema(4, Metric.COSINE))) {
      WriteOutcome refused = shard.upsert(List.of(row(2, v(2, 0, 1, 2)), row(1, v(0, 0, 0, 0))));
      assertThat(refused)
          .isInstanceOfSatisfying(
              WriteOutcome.Refused.class,
              r -> {
                assertThat(r.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
                assertThat(r.message()).contains("row 1").contains("zero");
              });
      shard.upsert(List.of(row(2, v(2, 0, 1, 2))));
      atEveryStage(
          shard,
          () -> {
            List<Hit> hits = shard.search("v", 2, Optional.empty(), 2, 0, 1, 2);
            assertThat(idsOf(hits)).isEqualTo(ids(2));
            assertThat(hits.getFirst().score()).isBetween(1 - 1e-5f, 1f);
            assertThatThrownBy(() -> shard.search("v", 2, Optional.empty(), 0, 0, 0, 0))
                .isInstanceOf(SagittaException.class)
                .hasMessageContaining("zero");
          });
    }
  }

  @Test
  @Tag("B010")
  void whatIsNotFiniteIsRefusedWholeAndOverflowKeepsOrder() throws IOException {
    try (TestShard shard = start(schema(2, Metric.L2))) {
      for (float bad : new float[] {Float.NaN, Float.POSITIVE_INFINITY}) {
        assertThat(shard.upsert(List.of(row(1, v(1, 1)), row(2, v(1, bad)))))
            .isInstanceOfSatisfying(
                WriteOutcome.Refused.class,
                r -> assertThat(r.message()).contains("row 1").contains("component 1"));
        assertThat(shard.count()).isZero();
        assertThatThrownBy(() -> shard.search("v", 2, Optional.empty(), 0, bad))
            .isInstanceOf(SagittaException.class);
      }
      shard.upsert(List.of(row(7, v(3e38f, 0)), row(5, v(3e38f, 1)), row(9, v(-3e38f, 0))));
      atEveryStage(
          shard,
          () ->
              assertThat(idsOf(shard.search("v", 3, Optional.empty(), -3e38f, 0)))
                  .isEqualTo(ids(9, 5, 7)));
    }
  }

  @Test
  @Tag("B012")
  void halfFloatsAtTheEdgeAreFoundAndBeyondItRefused() throws IOException {
    CollectionSchema schema =
        new CollectionSchema(
            1,
            IdType.INT64,
            List.of(new VectorField(1, "v", VectorType.FLOAT16, 4, Metric.L2, false)));
    try (TestShard shard = start(schema)) {
      float[] edges = {65_504f, 6e-8f};
      for (int id = 0; id < edges.length; id++) {
        shard.upsert(List.of(List.of(PlainRows.int64(id), halves(edges[id], 0, 0, 0))));
      }
      assertThat(shard.upsert(List.of(List.of(PlainRows.int64(9), halves(70_000f, 0, 0, 0)))))
          .isInstanceOf(WriteOutcome.Refused.class);
      atEveryStage(
          shard,
          () -> {
            for (int id = 0; id < edges.length; id++) {
              float[] query = v(edges[id], 0, 0, 0);
              assertThat(idsOf(shard.search("v", 1, Optional.empty(), query))).isEqualTo(ids(id));
            }
          });
    }
  }

  private static String halves(float... values) {
    StringBuilder hex = new StringBuilder();
    for (float value : values) {
      short bits = Float.floatToFloat16(value);
      hex.append(PlainRows.bytes((byte) bits, (byte) (bits >> 8)));
    }
    return hex.toString();
  }

  @Test
  @Tag("B014")
  void theLastRowOfAnIdWinsWhateverItsCharacters() throws IOException {
    CollectionSchema schema =
        new CollectionSchema(
            1,
            IdType.UTF8,
            List.of(new VectorField(1, "v", VectorType.FLOAT32, 2, Metric.L2, false)));
    try (TestShard shard = start(schema)) {
      List<String> odd =
          List.of("a\\b\\c", "a'b", "a\"b", "nul\0nul", "\u00e9", "e\u0301", "x".repeat(512));
      for (int round = 0; round < 2; round++) {
        for (String id : odd) {
          shard.upsert(
              List.of(
                  List.of(PlainRows.text(id), PlainRows.floats(1, 1)),
                  List.of(PlainRows.text(id), PlainRows.floats(2, round))));
        }
      }
      for (String id : List.of("", "x".repeat(513), "x".repeat(10_000))) {
        assertThat(shard.upsert(List.of(List.of(PlainRows.text(id), PlainRows.floats(1, 1)))))
            .isInstanceOf(WriteOutcome.Refused.class);
      }
      atEveryStage(
          shard,
          () -> {
            assertThat(shard.count()).isEqualTo(odd.size());
            assertThat(shard.scanIds(3)).hasSize(odd.size());
            assertThat(shard.search("v", 100, Optional.empty(), 2, 1)).hasSize(odd.size());
            for (String id : odd) {
              List<List<Object>> rows = shard.get(List.of(new PointId.Utf8(id)), "v");
              assertThat(rows).hasSize(1);
              assertThat(rows.getFirst().get(2)).isEqualTo(PlainRows.floats(2, 1));
            }
          });
    }
  }

  @Test
  @Tag("B015")
  void aWrongLengthIsRefusedAndNothingOfItsBatchApplied() throws IOException {
    try (TestShard shard = start(schema(4, Metric.L2))) {
      RowBatch three =
          PlainRows.batch(
              schema(3, Metric.L2),
              List.of(RowBatch.COLUMN_ID, 1),
              List.of(row(1, v(1, 2, 3)), row(2, v(1, 2, 3))),
              shard.allocator);
      WriteOutcome outcome =
          shard.apply(
              ShardEntries.rows(
                  new ShardWrite.Rows(
                      TestShard.ID, 1, 1, Optional.empty(), "tester", WriteMode.UPSERT, three),
                  1));
      assertThat(outcome).isInstanceOf(WriteOutcome.Refused.class);
      assertThat(shard.count()).isZero();
      assertThatThrownBy(() -> shard.search("v", 1, Optional.empty(), 1, 2, 3))
          .isInstanceOf(SagittaException.class)
          .hasMessageContaining("3")
          .hasMessageContaining("expects 4");
    }
  }

  @Test
  @Tag("B017")
  void integersCompareExactly() throws IOException {
    long[] values = {
      9_007_199_254_740_992L, 9_007_199_254_740_993L, 1_768_907_445_451_174_113L, -Long.MAX_VALUE
    };
    try (TestShard shard = start(schema(2, Metric.L2, payload(2, "x", Kind.INT64)))) {
      List<List<Object>> rows = new ArrayList<>();
      for (int id = 0; id < values.length; id++) {
        rows.add(row(id, v(1, 1), PlainRows.int64(values[id])));
      }
      shard.upsert(rows);
      atEveryStage(
          shard,
          () -> {
            for (int id = 0; id < values.length; id++) {
              long x = values[id];
              assertThat(shard.matching("x = $1", x)).isEqualTo(ids(id));
              assertThat(shard.matching("x >= $1 AND x <= $1", x)).isEqualTo(ids(id));
              assertThat(shard.matching("x > $1 AND x < $2", x - 1, x + 1)).isEqualTo(ids(id));
              assertThat(shard.matching("x > $1", x)).doesNotContain(new PointId.Int64(id));
              assertThat(shard.get(ids(id), "x").getFirst().get(2)).isEqualTo(PlainRows.int64(x));
            }
          });
    }
  }

  @Test
  @Tag("B019")
  void nullMissingAndEmptyListsDiffer() throws IOException {
    PayloadField list = new PayloadField(2, "s", PayloadType.listOf(Kind.UTF8));
    try (TestShard shard = start(schema(2, Metric.L2, list))) {
      String a = PlainRows.text("a");
      shard.upsert(
          List.of(
              row(1, v(1, 1), (Object) null),
              row(3, v(1, 1), List.of()),
              row(4, v(1, 1), Arrays.asList(null, a)),
              row(5, v(1, 1), List.of(a))));
      shard.put(WriteMode.UPSERT, List.of(0, 1), List.of(row(2, v(1, 1))));
      atEveryStage(
          shard,
          () -> {
            assertThat(shard.matching("s IS NULL")).isEqualTo(ids(1, 2));
            assertThat(shard.matching("s IS NOT NULL")).isEqualTo(ids(3, 4, 5));
            assertThat(shard.matching("length(s) = 0")).isEqualTo(ids(3));
            assertThat(shard.matching("NOT length(s) = 0")).isEqualTo(ids(4, 5));
            assertThat(shard.matching("contains(s, 'a')")).isEqualTo(ids(4, 5));
            assertThat(shard.matching("NOT contains(s, 'a')")).isEqualTo(ids(3));
          });
    }
  }

  @Test
  @Tag("B024")
  void notOverANullIsNoMatch() throws IOException {
    CollectionSchema schema =
        schema(2, Metric.L2, payload(2, "t", Kind.INT64), payload(3, "a", Kind.INT64));
    try (TestShard shard = start(schema)) {
      String one = PlainRows.int64(1);
      shard.upsert(
          List.of(
              row(1, v(1, 1), one, PlainRows.int64(2)),
              row(2, v(1, 1), one, PlainRows.int64(3)),
              row(4, v(1, 1), one, null),
              row(7, v(1, 1), PlainRows.int64(2), null)));
      atEveryStage(
          shard,
          () -> {
            assertThat(shard.matching("NOT (a > 2)")).isEqualTo(ids(1));
            assertThat(shard.matching("NOT (NOT (a > 2))")).isEqualTo(ids(2));
            assertThat(shard.matching("t = 1 AND a NOT IN (2, 3)")).isEmpty();
            assertThat(shard.matching("t = 1 AND (a NOT IN (2, 3) OR a IS NULL)"))
                .isEqualTo(ids(4));
          });
    }
  }

  @Test
  @Tag("B029")
  void equalScoresComeInTheOrderOfIds() throws IOException {
    try (TestShard shard = start(schema(4, Metric.COSINE))) {
      for (int part = 0; part < 4; part++) {
        List<List<Object>> rows = new ArrayList<>();
        for (int i = 24; i >= 0; i--) {
          rows.add(row(i * 4L + part, v(1, 2, 3, 4)));
        }
        shard.upsert(rows);
        if (part % 2 == 0) {
          shard.apply(ShardEntries.freeze(TestShard.ID, 1));
        }
      }
      atEveryStage(
          shard,
          () -> {
            List<PointId> all = ids(LongStream.range(0, 100).toArray());
            for (int k : new int[] {10, 50, 100}) {
              assertThat(idsOf(shard.search("v", k, Optional.empty(), 4, 3, 2, 1)))
                  .isEqualTo(all.subList(0, k));
            }
          });
    }
  }

  @Test
  @Tag("B038")
  void aViewOutlivesItsShardAndANewShardStartsEmpty() throws IOException {
    try (TestShard old = start(schema(4, Metric.L2))) {
      old.upsert(List.of(row(1, v(1, 2, 3, 4))));
      old.apply(ShardEntries.freeze(TestShard.ID, 1));
      old.upsert(List.of(row(2, v(1, 2, 3, 4))));
      try (ShardView view = old.shard().view()) {
        Reads reads = old.reads(view);
        old.shard().close();
        assertThat(reads.scanIds(10, Optional.empty())).isEqualTo(ids(1, 2));
        assertThat(idsOf(reads.search("v", 5, Optional.empty(), 1, 2, 3, 4))).isEqualTo(ids(1, 2));
        assertThatThrownBy(() -> old.shard().view()).isInstanceOf(SagittaException.class);
      }
      try (TestShard again = start(schema(8, Metric.L2))) {
        assertThat(again.count()).isZero();
        again.upsert(List.of(row(2, v(1, 2, 3, 4, 5, 6, 7, 8))));
        assertThat(again.scanIds(10)).isEqualTo(ids(2));
      }
    }
  }

  @Test
  @Tag("B040")
  void leftoversAreIgnoredAndAFlippedByteIsFound(@TempDir Path directory) throws IOException {
    try (TestShard shard = TestShard.start(FsStore.open(directory), schema(4, Metric.L2))) {
      shard.upsert(List.of(row(1, v(1, 2, 3, 4)), row(2, v(5, 6, 7, 8))));
      shard.apply(ShardEntries.freeze(TestShard.ID, 1));
      Files.write(directory.resolve("x.tmp"), new byte[] {1, 2, 3});
      Files.write(directory.resolve("unknown"), new byte[0]);
      shard.restart();
      assertThat(shard.shard().recoveredIndex()).isEqualTo(2);
      assertThat(shard.scanIds(10)).isEqualTo(ids(1, 2));
      assertThat(shard.shard().verify(step -> {})).isEmpty();

      Path vectors;
      try (var files = Files.list(directory)) {
        vectors = files.filter(f -> f.toString().endsWith(".vectors.1")).findFirst().orElseThrow();
      }
      byte[] bytes = Files.readAllBytes(vectors);
      bytes[70] ^= 4;
      Files.write(vectors, bytes);
      assertThat(shard.shard().verify(step -> {}))
          .extracting(CheckpointFile::name)
          .containsExactly(vectors.getFileName().toString());
    }
  }

  @Test
  @Tag("B041")
  void overwritingEverythingAgainAndAgainLeavesNoOldSegments() throws IOException {
    FreezePolicy freeze = new FreezePolicy(100, 1L << 20, 1_000);
    try (TestShard shard = TestShard.start(new CrashableStore(), schema(4, Metric.L2), freeze)) {
      for (int round = 0; round < 20; round++) {
        for (int part = 0; part < 4; part++) {
          List<List<Object>> rows = new ArrayList<>();
          for (int i = 0; i < 50; i++) {
            rows.add(row(part * 50L + i, v(round, i, 3, 4)));
          }
          shard.upsert(rows);
        }
        assertThat(shard.count()).isEqualTo(200);
        assertThat(shard.shard().state().segments()).hasSizeLessThanOrEqualTo(5);
      }
      shard.restart();
      assertThat(shard.count()).isEqualTo(200);
      assertThat(shard.shard().state().segments()).hasSizeLessThanOrEqualTo(5);
    }
  }

  @Test
  @Tag("B055")
  void scoresStayInTheirRangeAndNoHitIsDropped() throws IOException {
    for (int dimension : new int[] {1, 3, 7, 8, 15, 17, 1_535, 1_536}) {
      SplittableRandom random = new SplittableRandom(dimension);
      try (TestShard shard = start(schema(dimension, Metric.COSINE))) {
        List<List<Object>> rows = new ArrayList<>();
        List<float[]> units = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
          float[] unit = new float[dimension];
          float[] negative = new float[dimension];
          double length = 0;
          for (int c = 0; c < dimension; c++) {
            unit[c] = (float) random.nextGaussian();
            length += (double) unit[c] * unit[c];
          }
          for (int c = 0; c < dimension; c++) {
            unit[c] /= (float) Math.sqrt(length);
            negative[c] = -unit[c];
          }
          units.add(unit);
          rows.add(row(i, unit));
          rows.add(row(100 + i, negative));
        }
        shard.upsert(rows);
        for (int i = 0; i < 20; i++) {
          List<Hit> hits = shard.search("v", 40, Optional.empty(), units.get(i));
          assertThat(hits).hasSize(40);
          assertThat(hits).allSatisfy(hit -> assertThat(hit.score()).isBetween(-1f, 1f));
          assertThat(hits.getFirst().score()).isGreaterThan(1 - 1e-5f);
          assertThat(hits.getLast().score()).isLessThan(-1 + 1e-5f);
        }
      }
    }
  }
}
