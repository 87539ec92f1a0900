// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.flight.Command;
import io.sagitta.flight.Command.Consistency;
import io.sagitta.flight.Command.Query;
import io.sagitta.flight.RequestHandler.RowsAnswer;
import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.HashSlot;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardRead.Effort;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Grouped searches over several shards, against a map of all points. */
@Seeded
class RouterGroupTest {
  private static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.UTF8,
          List.of(
              new VectorField(1, "v", VectorType.FLOAT32, 3, Metric.L2, false),
              new PayloadField(2, "tag", PayloadType.of(PayloadType.Kind.UTF8)),
              new PayloadField(3, "n", PayloadType.of(PayloadType.Kind.INT64)),
              new PayloadField(4, "x", PayloadType.of(PayloadType.Kind.FLOAT64))));

  private final FakeCluster cluster = new FakeCluster(3);
  private final Router router = cluster.router(FakeCluster.FAST);
  private ShardMap.Collection collection;

  @AfterEach
  void nothingLeaks() {
    cluster.close();
  }

  private record Point(PointId id, float[] vector, String tag) {}

  private record Hit(int query, String id, float score, String tag) {}

  private List<Point> fill(RandomGenerator random, int points, int shards, int groups) {
    collection = cluster.createKnown("c", SCHEMA, shards);
    List<Point> all = new ArrayList<>();
    for (int i = 0; i < points; i++) {
      // Few distinct components, so that scores tie.
      float[] vector = {random.nextInt(4), random.nextInt(4), random.nextInt(4)};
      String tag = random.nextInt(8) == 0 ? null : "t" + random.nextInt(groups);
      all.add(put(new Point(new PointId.Utf8("p" + i), vector, tag)));
    }
    return all;
  }

  private Point put(Point point) {
    Map<String, Object> values = new HashMap<>();
    values.put("v", point.vector);
    values.put("tag", point.tag);
    FakeShard shard = cluster.shards.get(collection.shardOf(HashSlot.of(point.id).value()).id());
    synchronized (shard) {
      shard.points.put(point.id, new FakeShard.Point(point.id, 1, values));
    }
    return point;
  }

  private static Command.Search search(
      String field, int k, int offset, int size, float[]... queries) {
    return new Command.Search(
        "c",
        Optional.empty(),
        new Query.Vectors(queries),
        k,
        offset,
        Optional.empty(),
        new Effort.Exact(),
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        Optional.of(List.of()),
        Consistency.STRONG,
        false,
        OptionalLong.empty(),
        false,
        Optional.of(new Command.GroupBy(field, size)));
  }

  private List<Hit> ask(Command.Search search) {
    try (RowsAnswer answer = router.search(search, FakeCluster.call()).join()) {
      VectorSchemaRoot rows = answer.rows();
      List<Hit> hits = new ArrayList<>();
      for (int row = 0; row < rows.getRowCount(); row++) {
        hits.add(
            new Hit(
                ((IntVector) rows.getVector("query")).get(row),
                ((VarCharVector) rows.getVector("id")).getObject(row).toString(),
                ((Float4Vector) rows.getVector("_score")).get(row),
                ((VarCharVector) rows.getVector("tag")).getObject(row).toString()));
      }
      return hits;
    }
  }

  private static List<Hit> expected(
      List<Point> points, float[][] queries, int k, int offset, int size) {
    List<Hit> all = new ArrayList<>();
    for (int query = 0; query < queries.length; query++) {
      int q = query;
      Map<String, List<Hit>> groups = new LinkedHashMap<>();
      points.stream()
          .filter(p -> p.tag != null)
          .map(p -> new Hit(q, p.id.toString(), distance(queries[q], p.vector), p.tag))
          .sorted(
              Comparator.<Hit>comparingDouble(Hit::score)
                  .thenComparing(h -> new PointId.Utf8(h.id)))
          .forEach(hit -> groups.computeIfAbsent(hit.tag, t -> new ArrayList<>()).add(hit));
      groups.values().stream()
          .skip(offset)
          .limit(k)
          .forEach(group -> all.addAll(group.subList(0, Math.min(size, group.size()))));
    }
    return all;
  }

  private static float distance(float[] a, float[] b) {
    float sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return (float) Math.sqrt(sum);
  }

  private static float[][] queries(RandomGenerator random) {
    float[][] queries = new float[1 + random.nextInt(3)][];
    for (int i = 0; i < queries.length; i++) {
      queries[i] = new float[] {random.nextInt(4), random.nextInt(4), random.nextInt(4)};
    }
    return queries;
  }

  @RepeatedTest(30)
  void groupsOfSeveralShardsAreThoseOfAllPoints(Seed seed) {
    RandomGenerator random = seed.random();
    int groups = 1 + random.nextInt(40);
    List<Point> points = fill(random, random.nextInt(200), 1 + random.nextInt(6), groups);
    for (int i = 0; i < 10; i++) {
      int k = 1 + random.nextInt(groups + 2);
      int offset = random.nextInt(4);
      int size = 1 + random.nextInt(6);
      float[][] queries = queries(random);
      assertThat(ask(search("tag", k, offset, size, queries)))
          .isEqualTo(expected(points, queries, k, offset, size));
    }
  }

  @Test
  void aShardIsAskedAgainOnlyWhereItMayHoldMoreOfAGroup(Seed seed) {
    List<Point> points = fill(seed.random(), 300, 4, 40);
    float[][] queries = {{1, 2, 3}};
    int before = cluster.reads.get();
    assertThat(ask(search("tag", 5, 0, 1, queries))).isEqualTo(expected(points, queries, 5, 0, 1));
    assertThat(cluster.reads.get() - before).isEqualTo(4);
    before = cluster.reads.get();
    assertThat(ask(search("tag", 5, 0, 4, queries))).isEqualTo(expected(points, queries, 5, 0, 4));
    assertThat(cluster.reads.get() - before).isBetween(5, 8);
  }

  @Test
  void anAnswerIsRightAlsoWhereTheBestGroupChangesWhileItIsRead(Seed seed) {
    List<Point> points = fill(seed.random(), 300, 4, 40);
    AtomicInteger asked = new AtomicInteger();
    cluster.readFault =
        (node, read, answer) -> {
          // Between the first questions and the next, a group appears that is the best of all.
          if (((ShardRead.Search) read).grouping().orElseThrow().also().size() == 1
              && asked.getAndIncrement() == 0) {
            for (int i = 0; i < 40; i++) {
              PointId id = new PointId.Utf8("new" + i);
              if (collection.shardOf(HashSlot.of(id).value()).id().equals(read.shard())) {
                points.add(put(new Point(id, new float[] {1, 2, 3}, "new")));
              }
            }
          }
          return null;
        };
    float[][] queries = {{1, 2, 3}};
    assertThat(ask(search("tag", 5, 0, 4, queries))).isEqualTo(expected(points, queries, 5, 0, 4));
    assertThat(asked.get()).isPositive();
  }

  @Test
  void whatCannotBeGroupedIsRefusedBeforeAnyShardIsAsked(Seed seed) {
    fill(seed.random(), 1, 2, 1);
    float[] query = {1, 2, 3};
    refused(search("x", 1, 0, 1, query), ErrorCode.INVALID_ARGUMENT, "'x' is of type float64");
    refused(search("v", 1, 0, 1, query), ErrorCode.INVALID_ARGUMENT, "'v' is a vector field");
    refused(search("y", 1, 0, 1, query), ErrorCode.INVALID_ARGUMENT, "unknown field 'y'");
    refused(search("tag", 101, 0, 100, query), ErrorCode.INVALID_ARGUMENT, "at most 10000");
    float[][] many = new float[101][];
    java.util.Arrays.fill(many, query);
    refused(search("tag", 100, 0, 100, many), ErrorCode.LIMIT, "expected at most 1000000");
    assertThat(cluster.reads).hasValue(0);
  }

  private void refused(Command.Search search, ErrorCode code, String words) {
    assertThatThrownBy(() -> router.search(search, FakeCluster.call()).join())
        .hasMessageContaining(words)
        .cause()
        .isInstanceOfSatisfying(SagittaException.class, e -> assertThat(e.code()).isEqualTo(code));
  }
}
