// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.router.rows.IdColumns;
import io.sagitta.router.rows.IdKeys;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Merging against sorting everything. */
@Seeded
class TopKMergerTest {
  private final BufferAllocator allocator = new RootAllocator();

  private record Hit(int query, PointId id, float score) {}

  @AfterEach
  void nothingLeaks() {
    allocator.close();
  }

  private static Comparator<Hit> order(boolean higherIsBetter) {
    Comparator<Hit> byScore = (a, b) -> a.score == b.score ? 0 : a.score < b.score ? -1 : 1;
    return Comparator.comparingInt(Hit::query)
        .thenComparing(higherIsBetter ? byScore.reversed() : byScore)
        .thenComparing(Hit::id);
  }

  private static PointId id(IdType type, RandomGenerator random, int number) {
    return switch (type) {
      case INT64 -> new PointId.Int64((random.nextBoolean() ? -1L : 1L) * number);
      case UTF8 ->
          new PointId.Utf8("\u00e9\uffff\ud800\udc00".substring(0, 1) + number % 37 + "-" + number);
      case UUID -> new PointId.Uuid(new UUID(random.nextLong(), number));
    };
  }

  private VectorSchemaRoot root(IdType type, List<Hit> hits) {
    FieldVector queries = column("query", new ArrowType.Int(32, true));
    FieldVector scores =
        column("_score", new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE));
    VarCharVector tags = (VarCharVector) column("tag", ArrowType.Utf8.INSTANCE);
    for (int row = 0; row < hits.size(); row++) {
      ((IntVector) queries).setSafe(row, hits.get(row).query);
      ((Float4Vector) scores).setSafe(row, hits.get(row).score);
      tags.setSafe(row, tag(hits.get(row).id));
    }
    List<FieldVector> columns =
        List.of(
            queries,
            IdColumns.of(type, hits.stream().map(Hit::id).toList(), allocator),
            scores,
            tags);
    columns.forEach(c -> c.setValueCount(hits.size()));
    return new VectorSchemaRoot(
        columns.stream().map(FieldVector::getField).toList(), columns, hits.size());
  }

  private FieldVector column(String name, ArrowType type) {
    FieldVector vector =
        new Field(name, FieldType.notNullable(type), List.of()).createVector(allocator);
    vector.allocateNew();
    return vector;
  }

  private static byte[] tag(PointId id) {
    return ("tag of " + id).getBytes(StandardCharsets.UTF_8);
  }

  private static List<Hit> read(IdType type, VectorSchemaRoot rows) {
    IdKeys ids = IdKeys.of(type, rows.getVector("id"));
    List<Hit> hits = new ArrayList<>();
    for (int row = 0; row < rows.getRowCount(); row++) {
      Hit hit =
          new Hit(
              ((IntVector) rows.getVector("query")).get(row),
              ids.id(row),
              ((Float4Vector) rows.getVector("_score")).get(row));
      assertThat(((VarCharVector) rows.getVector("tag")).get(row)).isEqualTo(tag(hit.id));
      hits.add(hit);
    }
    return hits;
  }

  @RepeatedTest(40)
  @Tag("B029")
  void mergingIsSortingEverything(Seed seed) {
    RandomGenerator random = seed.random();
    IdType type = IdType.values()[random.nextInt(3)];
    boolean higher = random.nextBoolean();
    int queries = random.nextInt(1, 5);
    int shards = random.nextInt(1, 7);
    int k = random.nextInt(1, 30);
    int offset = random.nextInt(0, 20);
    float[] scores = {-0f, 0f, 1, 1, -1, 0.5f, Float.MAX_VALUE};
    List<Hit> all = new ArrayList<>();
    List<VectorSchemaRoot> answers = new ArrayList<>();
    int number = 0;
    for (int shard = 0; shard < shards; shard++) {
      List<Hit> own = new ArrayList<>();
      for (int query = 0; query < queries; query++) {
        for (int i = random.nextInt(60); i > 0; i--) {
          own.add(
              new Hit(query, id(type, random, ++number), scores[random.nextInt(scores.length)]));
        }
      }
      own.sort(order(higher));
      all.addAll(own);
      answers.add(root(type, firstOfEach(own, offset + k)));
    }
    all.sort(order(higher));
    List<Hit> expected = new ArrayList<>();
    for (int query = 0; query < queries; query++) {
      int q = query;
      all.stream().filter(h -> h.query == q).skip(offset).limit(k).forEach(expected::add);
    }
    TopKMerger merger = new TopKMerger(type, higher, queries, offset, k, 1 << 20);
    try (VectorSchemaRoot merged = merger.merge(answers, allocator)) {
      assertThat(read(type, merged)).isEqualTo(expected);
    }
  }

  /** What a shard answers: at most that many hits of each query. */
  private static List<Hit> firstOfEach(List<Hit> sorted, int count) {
    List<Hit> first = new ArrayList<>();
    int run = 0;
    for (int i = 0; i < sorted.size(); i++) {
      run = i > 0 && sorted.get(i - 1).query == sorted.get(i).query ? run + 1 : 0;
      if (run < count) {
        first.add(sorted.get(i));
      }
    }
    return first;
  }

  @Test
  void oneShardsAnswerIsHandedThrough() {
    VectorSchemaRoot only = root(IdType.INT64, List.of(new Hit(0, new PointId.Int64(1), 1)));
    TopKMerger merger = new TopKMerger(IdType.INT64, true, 1, 0, 10, 1 << 20);
    try (VectorSchemaRoot merged = merger.merge(List.of(only), allocator)) {
      assertThat(merged).isSameAs(only);
    }
  }

  @Test
  @Tag("B050")
  void anAnswerBeyondItsBoundIsRefusedNamingIt() {
    List<Hit> hits = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      hits.add(new Hit(0, new PointId.Int64(i), 1));
    }
    TopKMerger merger = new TopKMerger(IdType.INT64, true, 1, 1, 199, 1_000);
    assertThatThrownBy(() -> merger.merge(List.of(root(IdType.INT64, hits)), allocator))
        .isInstanceOfSatisfying(
            SagittaException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.LIMIT))
        .hasMessageContaining("expected at most 1000");
  }

  @Test
  void shardsOnEitherSideOfASchemaChangeAreAskedAgainLater() {
    VectorSchemaRoot older = root(IdType.INT64, List.of());
    FieldVector other = ArrowSchemas.idField(IdType.INT64).createVector(allocator);
    VectorSchemaRoot newer = VectorSchemaRoot.of(other);
    TopKMerger merger = new TopKMerger(IdType.INT64, true, 1, 0, 9, 1 << 20);
    assertThatThrownBy(() -> merger.merge(List.of(older, newer), allocator))
        .isInstanceOfSatisfying(
            SagittaException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
  }
}
