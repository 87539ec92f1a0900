// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.flight.Certificate;
import io.sagitta.flight.Command;
import io.sagitta.flight.Command.Consistency;
import io.sagitta.flight.Command.IdText;
import io.sagitta.flight.Command.Query;
import io.sagitta.flight.RequestHandler.RowsAnswer;
import io.sagitta.flight.RequestHandler.ScanSink;
import io.sagitta.flight.internal.NotLeaderException;
import io.sagitta.flight.internal.ShardDoor.ShardAnswer;
import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.CommitToken;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PointId;
import io.sagitta.model.ReadMode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardRead.Effort;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Seeded
class RouterReadTest {
  private static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.UTF8,
          List.of(
              new VectorField(1, "v", VectorType.FLOAT32, 3, Metric.L2, false),
              new PayloadField(2, "tag", PayloadType.of(PayloadType.Kind.UTF8)),
              new PayloadField(3, "n", PayloadType.of(PayloadType.Kind.INT64))));

  private final FakeCluster cluster = new FakeCluster(3);
  private final Router router = cluster.router(FakeCluster.FAST);

  @AfterEach
  void nothingLeaks() {
    cluster.close();
  }

  /** Puts points straight into their shards. */
  private Map<String, float[]> fill(RandomGenerator random, int points, int shards) {
    ShardMap.Collection collection = cluster.createKnown("c", SCHEMA, shards);
    Map<String, float[]> all = new HashMap<>();
    for (int i = 0; i < points; i++) {
      // Few distinct components, so that scores tie.
      float[] vector = {random.nextInt(3), random.nextInt(3), random.nextInt(3)};
      PointId id = new PointId.Utf8("p" + i);
      Map<String, Object> values = new HashMap<>();
      values.put("v", vector);
      values.put("tag", "tag of " + i);
      values.put("n", (long) i);
      FakeShard shard =
          cluster.shards.get(collection.shardOf(io.sagitta.model.HashSlot.of(id).value()).id());
      shard.points.put(id, new FakeShard.Point(id, i, values));
      all.put(id.toString(), vector);
    }
    return all;
  }

  private static Command.Search search(Query query, int k, int offset) {
    return new Command.Search(
        "c",
        Optional.empty(),
        query,
        k,
        offset,
        Optional.empty(),
        new Effort.Exact(),
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        Optional.empty(),
        Consistency.STRONG,
        false,
        OptionalLong.empty(),
        false,
        Optional.empty());
  }

  private static Command.Search partial(Command.Search s, Duration timeout) {
    return new Command.Search(
        s.collection(),
        s.field(),
        s.query(),
        s.k(),
        s.offset(),
        s.filter(),
        s.effort(),
        s.minScore(),
        s.maxDistance(),
        s.fields(),
        s.consistency(),
        true,
        OptionalLong.of(timeout.toMillis()),
        s.explain(),
        Optional.empty());
  }

  private static Query vectors(float[]... rows) {
    return new Query.Vectors(rows);
  }

  private record Hit(int query, String id, float score) {}

  private static List<Hit> hits(VectorSchemaRoot rows) {
    List<Hit> hits = new ArrayList<>();
    for (int row = 0; row < rows.getRowCount(); row++) {
      hits.add(
          new Hit(
              ((IntVector) rows.getVector("query")).get(row),
              ((VarCharVector) rows.getVector("id")).getObject(row).toString(),
              ((Float4Vector) rows.getVector("_score")).get(row)));
    }
    return hits;
  }

  private static List<Hit> expected(
      Map<String, float[]> points, float[][] queries, int k, int offset) {
    List<Hit> all = new ArrayList<>();
    for (int query = 0; query < queries.length; query++) {
      int q = query;
      points.entrySet().stream()
          .map(p -> new Hit(q, p.getKey(), distance(queries[q], p.getValue())))
          .sorted(
              Comparator.<Hit>comparingDouble(Hit::score)
                  .thenComparing(h -> new PointId.Utf8(h.id)))
          .skip(offset)
          .limit(k)
          .forEach(all::add);
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

  @RepeatedTest(10)
  @Tag("B029")
  void hitsOfAllShardsComeByScoreThenId(Seed seed) {
    RandomGenerator random = seed.random();
    Map<String, float[]> points = fill(random, random.nextInt(0, 300), random.nextInt(1, 6));
    float[][] queries = {{1, 1, 1}, {0, 2, 0.5f}, {random.nextFloat(), 0, 0}};
    int k = random.nextInt(1, 50);
    int offset = random.nextInt(0, 40);
    try (RowsAnswer answer =
        router.search(search(vectors(queries), k, offset), FakeCluster.call()).join()) {
      assertThat(hits(answer.rows())).isEqualTo(expected(points, queries, k, offset));
      List<String> columns =
          answer.rows().getSchema().getFields().stream().map(f -> f.getName()).toList();
      assertThat(columns).containsExactly("query", "id", "_score", "_version", "tag", "n");
    }
  }

  @Test
  void theCertificateNamesEveryShardAndItsIndex(Seed seed) {
    fill(seed.random(), 50, 3);
    try (RowsAnswer answer =
        router.search(search(vectors(new float[3]), 5, 0), FakeCluster.call()).join()) {
      Certificate certificate = Certificate.parse(answer.certificateJson());
      assertThat(certificate.shards())
          .extracting(Certificate.ShardPart::shard)
          .containsExactly(0, 1, 2);
      assertThat(certificate.missing()).isEmpty();
      assertThat(certificate.exact()).isTrue();
      assertThat(certificate.consistency()).isEqualTo("strong");
      assertThat(certificate.strategy().scan()).isEqualTo(3);
    }
  }

  @Test
  @Tag("B015")
  void whatDoesNotFitTheFieldIsRefusedBeforeAnyShardIsAsked(Seed seed) {
    fill(seed.random(), 5, 2);
    assertInvalid(search(vectors(new float[2]), 5, 0), "2 components, expected 3");
    assertInvalid(search(vectors(new float[0]), 5, 0), "0 components, expected 3");
    assertInvalid(search(vectors(new float[3]), 0, 0), "k is 0");
    assertInvalid(search(vectors(new float[3]), 10_000, 1), "offset + k is 10001");
    assertInvalid(
        search(vectors(new float[3]), Integer.MAX_VALUE, Integer.MAX_VALUE), "offset + k");
    assertInvalid(search(vectors(new float[] {1, Float.NaN, 1}), 1, 0), "component 1 is NaN");
    assertInvalid(
        search(new Query.PackedVectors(new byte[16]), 1, 0), "16 bytes, expected a multiple of 12");
    Command.Search s = search(vectors(new float[3]), 1, 0);
    assertInvalid(
        new Command.Search(
            s.collection(),
            s.field(),
            s.query(),
            1,
            0,
            s.filter(),
            s.effort(),
            OptionalDouble.of(0.5),
            OptionalDouble.empty(),
            s.fields(),
            s.consistency(),
            false,
            OptionalLong.empty(),
            false,
            Optional.empty()),
        "'min_score' does not go with metric l2");
    assertInvalid(
        new Command.Search(
            s.collection(),
            s.field(),
            s.query(),
            1,
            0,
            s.filter(),
            s.effort(),
            s.minScore(),
            s.maxDistance(),
            Optional.of(List.of("colour")),
            s.consistency(),
            false,
            OptionalLong.empty(),
            false,
            Optional.empty()),
        "unknown field 'colour'");
    assertThat(cluster.reads).hasValue(0);
  }

  private void assertInvalid(Command.Search search, String words) {
    assertThatThrownBy(() -> router.search(search, FakeCluster.call()).join())
        .hasMessageContaining(words)
        .cause()
        .isInstanceOfSatisfying(
            SagittaException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
  }

  @Test
  void likeSearchesWithTheStoredVector(Seed seed) {
    Map<String, float[]> points = fill(seed.random(), 60, 3);
    Query like = new Query.Like(new IdText("p0", true));
    try (RowsAnswer answer = router.search(search(like, 9, 0), FakeCluster.call()).join()) {
      assertThat(hits(answer.rows()))
          .isEqualTo(expected(points, new float[][] {points.get("p0")}, 9, 0));
      // Of all ids the smallest, so that no point with the same vector comes before it.
      assertThat(answer.rows().getVector("id").getObject(0)).hasToString("p0");
    }
    Query absent = new Query.Like(new IdText("nobody", true));
    assertThatThrownBy(() -> router.search(search(absent, 9, 0), FakeCluster.call()).join())
        .hasMessageContaining("no point with id 'nobody'");
  }

  @Test
  void aReplicaThatRefusesIsPassedOver(Seed seed) {
    Map<String, float[]> points = fill(seed.random(), 60, 3);
    cluster.readFault =
        (node, read, answer) ->
            switch (node.number()) {
              case 1 ->
                  CompletableFuture.failedFuture(
                      new NotLeaderException("no", Optional.of(cluster.nodes.get(1).id())));
              case 2 -> CompletableFuture.failedFuture(new IllegalStateException("reset"));
              default -> null;
            };
    try (RowsAnswer answer =
        router.search(search(vectors(new float[3]), 9, 0), FakeCluster.call()).join()) {
      assertThat(hits(answer.rows())).isEqualTo(expected(points, new float[1][3], 9, 0));
      assertThat(Certificate.parse(answer.certificateJson()).shards())
          .extracting(Certificate.ShardPart::replica)
          .containsOnly("n3");
    }
  }

  @Test
  void aMissingShardFailsTheCallUnlessPartialWasAsked(Seed seed) {
    fill(seed.random(), 60, 3);
    var away = cluster.shard("c", 1).shard.id();
    cluster.readFault =
        (node, read, answer) ->
            read.shard().equals(away)
                ? CompletableFuture.failedFuture(SagittaException.unavailable("away", 1))
                : null;
    Command.Search search = search(vectors(new float[3]), 60, 0);
    assertThatThrownBy(() -> router.search(search, FakeCluster.call(Duration.ofMillis(200))).join())
        .hasMessageContaining("shard 1 of 'c'");
    try (RowsAnswer answer =
        router.search(partial(search, Duration.ofMillis(400)), FakeCluster.call()).join()) {
      Certificate certificate = Certificate.parse(answer.certificateJson());
      assertThat(certificate.missing()).containsExactly(1);
      assertThat(answer.rows().getRowCount()).isEqualTo(60 - cluster.shard("c", 1).points.size());
    }
  }

  @Test
  void aRefusalOfTheRequestItselfFailsThePartialCallToo(Seed seed) {
    fill(seed.random(), 60, 3);
    var picky = cluster.shard("c", 2).shard.id();
    cluster.readFault =
        (node, read, answer) ->
            read.shard().equals(picky)
                ? CompletableFuture.failedFuture(SagittaException.invalid("bad filter"))
                : null;
    assertThatThrownBy(
            () ->
                router
                    .search(
                        partial(search(vectors(new float[3]), 5, 0), Duration.ofSeconds(5)),
                        FakeCluster.call())
                    .join())
        .hasMessageContaining("bad filter");
  }

  @Test
  void aReadThatIsGivenUpClosesTheAnswerThatComesLate(Seed seed) {
    fill(seed.random(), 20, 1);
    CompletableFuture<ShardAnswer> late = new CompletableFuture<>();
    AtomicReference<ShardAnswer> made = new AtomicReference<>();
    cluster.readFault =
        (node, read, answer) -> {
          made.compareAndSet(null, answer.get());
          return late;
        };
    assertThatThrownBy(
            () ->
                router
                    .search(
                        search(vectors(new float[3]), 5, 0),
                        FakeCluster.call(Duration.ofMillis(100)))
                    .join())
        .cause()
        .isInstanceOfSatisfying(
            SagittaException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE_EXCEEDED));
    late.complete(made.get()); // nothingLeaks() sees whether it was closed.
  }

  @Test
  void aLateReplicaIsHedgedWhereAnyMayAnswer(Seed seed) {
    fill(seed.random(), 20, 1);
    Router hedging =
        cluster.router(FakeCluster.fast(Duration.ofMillis(20), FakeCluster.FAST.silence()));
    CompletableFuture<ShardAnswer> never = new CompletableFuture<>();
    cluster.readFault = (node, read, answer) -> node.number() == 1 ? never : null;
    Command.Search s = search(vectors(new float[3]), 5, 0);
    Command.Search any =
        new Command.Search(
            s.collection(),
            s.field(),
            s.query(),
            s.k(),
            0,
            s.filter(),
            s.effort(),
            s.minScore(),
            s.maxDistance(),
            s.fields(),
            new Consistency(Consistency.Level.ANY, Optional.empty(), OptionalLong.empty()),
            false,
            OptionalLong.empty(),
            false,
            Optional.empty());
    try (RowsAnswer answer = hedging.search(any, FakeCluster.call()).join()) {
      assertThat(answer.rows().getRowCount()).isEqualTo(5);
      assertThat(cluster.reads).hasValue(2);
    }
  }

  private static final Duration SOON = Duration.ofMillis(20);

  @Test
  void aLeaderThatIsGoneIsPassedOverLongBeforeTheDeadline(Seed seed) {
    fill(seed.random(), 20, 1);
    cluster.readFault =
        (node, read, answer) -> node.number() == 1 ? new CompletableFuture<>() : null;
    cluster.pulse =
        node ->
            node.number() == 1
                ? new CompletableFuture<>()
                : CompletableFuture.completedFuture(null);
    Router router = cluster.router(FakeCluster.fast(FakeCluster.FAST.hedgeAfter(), SOON));
    try (RowsAnswer answer =
        router.search(search(vectors(new float[3]), 5, 0), FakeCluster.call()).join()) {
      assertThat(answer.rows().getRowCount()).isEqualTo(5);
      assertThat(cluster.reads).hasValue(2);
    }
  }

  @Test
  void aReplicaThatOnlyTakesItsTimeIsWaitedFor(Seed seed) {
    fill(seed.random(), 20, 1);
    CompletableFuture<ShardAnswer> late = new CompletableFuture<>();
    AtomicReference<Supplier<ShardAnswer>> made = new AtomicReference<>();
    cluster.readFault =
        (node, read, answer) -> {
          made.set(answer);
          return late;
        };
    AtomicInteger pulses = new AtomicInteger();
    cluster.pulse =
        node -> {
          if (pulses.incrementAndGet() == 3) {
            late.complete(made.get().get());
          }
          return CompletableFuture.completedFuture(null);
        };
    Router router = cluster.router(FakeCluster.fast(FakeCluster.FAST.hedgeAfter(), SOON));
    try (RowsAnswer answer =
        router.search(search(vectors(new float[3]), 5, 0), FakeCluster.call()).join()) {
      assertThat(answer.rows().getRowCount()).isEqualTo(5);
      assertThat(cluster.reads).hasValue(1);
      assertThat(pulses).hasValue(3);
    }
  }

  @Test
  void aLeaderIsNotWaitedForOnceAnotherIsKnown(Seed seed) {
    fill(seed.random(), 20, 1);
    cluster.hints = shard -> Optional.of(cluster.nodes.get(0).id());
    cluster.readFault =
        (node, read, answer) -> {
          if (node.number() != 1) {
            return null;
          }
          cluster.hints = shard -> Optional.of(cluster.nodes.get(1).id());
          return new CompletableFuture<>();
        };
    try (RowsAnswer answer =
        router.search(search(vectors(new float[3]), 5, 0), FakeCluster.call()).join()) {
      assertThat(answer.rows().getRowCount()).isEqualTo(5);
      assertThat(cluster.reads).hasValue(2);
    }
  }

  @Test
  void aSessionReadAsksForTheIndexOfItsToken(Seed seed) {
    fill(seed.random(), 5, 2);
    var collection = cluster.current().collections().get("c");
    CommitToken token = new CommitToken(Map.of(collection.shards().get(1).id(), 42L));
    Map<Integer, ReadMode> modes = new java.util.concurrent.ConcurrentHashMap<>();
    cluster.readFault =
        (node, read, answer) -> {
          modes.put(cluster.shards.get(read.shard()).shard.number(), read.mode());
          return null;
        };
    Consistency session =
        new Consistency(Consistency.Level.SESSION, Optional.of(token.text()), OptionalLong.empty());
    byte[] json =
        router.act(new Command.Count("c", Optional.empty(), session), FakeCluster.call()).join();
    assertThat(new String(json, java.nio.charset.StandardCharsets.UTF_8))
        .isEqualTo("{\"count\": 5}");
    assertThat(modes).isEqualTo(Map.of(0, ReadMode.ANY, 1, new ReadMode.Session(42)));
  }

  @Test
  @Tag("B038")
  void aCollectionDroppedAndCreatedAgainIsReadAnew(Seed seed) {
    fill(seed.random(), 20, 2);
    cluster.dropUnknown("c");
    cluster.createUnknown("c", SCHEMA, 1);
    // This node still has the old map, whose shards are gone.
    byte[] json =
        router
            .act(new Command.Count("c", Optional.empty(), Consistency.STRONG), FakeCluster.call())
            .join();
    assertThat(new String(json, java.nio.charset.StandardCharsets.UTF_8))
        .isEqualTo("{\"count\": 0}");
  }

  @Test
  @Tag("B038")
  void aQueryForTheNewDimensionIsNotRefusedByTheOldSchema(Seed seed) {
    fill(seed.random(), 20, 2);
    cluster.dropUnknown("c");
    cluster.createUnknown(
        "c",
        new CollectionSchema(
            1,
            IdType.UTF8,
            List.of(new VectorField(1, "v", VectorType.FLOAT32, 8, Metric.L2, false))),
        1);
    router.search(search(vectors(new float[8]), 5, 0), FakeCluster.call()).join().close();
    assertThatThrownBy(
            () -> router.search(search(vectors(new float[3]), 5, 0), FakeCluster.call()).join())
        .hasMessageContaining("3 components, expected 8");
  }

  @Test
  void pointsComeInTheOrderAsked(Seed seed) {
    fill(seed.random(), 30, 3);
    List<IdText> ids =
        List.of("p9", "nobody", "p1", "p9", "p20").stream().map(t -> new IdText(t, true)).toList();
    Command.Get get = new Command.Get("c", ids, Optional.of(List.of("v", "n")), Consistency.STRONG);
    try (RowsAnswer answer = router.get(get, FakeCluster.call()).join()) {
      List<String> found = new ArrayList<>();
      for (int row = 0; row < answer.rows().getRowCount(); row++) {
        found.add(
            answer.rows().getVector("id").getObject(row)
                + " "
                + ((BigIntVector) answer.rows().getVector("n")).get(row));
      }
      assertThat(found).containsExactly("p9 9", "p1 1", "p9 9", "p20 20");
      assertThat(answer.rows().getSchema().getFields())
          .extracting(f -> f.getName())
          .containsExactly("id", "_version", "v", "n");
    }
  }

  /** Collects ids, and what else a scan gives. */
  private static final class Collected implements ScanSink {
    private final List<String> ids = new ArrayList<>();
    private Schema schema;

    @Override
    public void start(Schema started) {
      schema = started;
    }

    @Override
    public void next(VectorSchemaRoot batch) {
      assertThat(batch.getRowCount()).isPositive();
      for (int row = 0; row < batch.getRowCount(); row++) {
        ids.add(batch.getVector("id").getObject(row).toString());
      }
    }
  }

  private Command.Scan scan(Optional<String> cursor, OptionalInt limit, OptionalInt shard) {
    return new Command.Scan(
        "c", Optional.empty(), Optional.empty(), cursor, limit, Consistency.STRONG, shard);
  }

  @RepeatedTest(5)
  void aScanGivesEveryPointOnceInIdOrder(Seed seed) {
    Map<String, float[]> points = fill(seed.random(), 2_000, 4);
    Collected all = new Collected();
    String cursor =
        router
            .scan(
                scan(Optional.empty(), OptionalInt.empty(), OptionalInt.empty()),
                FakeCluster.call(),
                all)
            .join();
    assertThat(cursor).isEmpty();
    assertThat(all.ids).containsExactlyElementsOf(new TreeSet<>(points.keySet()));
    assertThat(all.schema.getFields()).extracting(f -> f.getName()).startsWith("id", "_version");

    List<String> parts = new ArrayList<>();
    for (int shard = 0; shard < 4; shard++) {
      Collected part = new Collected();
      router
          .scan(
              scan(Optional.empty(), OptionalInt.empty(), OptionalInt.of(shard)),
              FakeCluster.call(),
              part)
          .join();
      assertThat(part.ids).isSorted();
      parts.addAll(part.ids);
    }
    assertThat(parts).containsExactlyInAnyOrderElementsOf(points.keySet());
  }

  @RepeatedTest(5)
  void aScanGoesOnAtItsCursorAlsoOnAnotherRouter(Seed seed) {
    RandomGenerator random = seed.random();
    Map<String, float[]> points = fill(random, random.nextInt(1, 400), 3);
    List<String> ids = new ArrayList<>();
    Optional<String> cursor = Optional.empty();
    do {
      Collected page = new Collected();
      cursor =
          Optional.of(
              cluster
                  .router(FakeCluster.FAST)
                  .scan(
                      scan(cursor, OptionalInt.of(random.nextInt(1, 90)), OptionalInt.empty()),
                      FakeCluster.call(),
                      page)
                  .join());
      ids.addAll(page.ids);
    } while (!cursor.get().isEmpty());
    assertThat(ids).containsExactlyElementsOf(new TreeSet<>(points.keySet()));
  }

  @RepeatedTest(5)
  void pagesThatLargeRowsCutShortDoNotEndAScan(Seed seed) {
    RandomGenerator random = seed.random();
    Map<String, float[]> points = fill(random, 700, 3);
    for (FakeShard shard : cluster.shards.values()) {
      shard.pageRowsMax = random.nextInt(1, 40);
    }
    Collected all = new Collected();
    String end =
        router
            .scan(
                scan(Optional.empty(), OptionalInt.empty(), OptionalInt.empty()),
                FakeCluster.call(),
                all)
            .join();
    assertThat(end).isEmpty();
    assertThat(all.ids).containsExactlyElementsOf(new TreeSet<>(points.keySet()));
    int limit = random.nextInt(1, 600);
    Collected some = new Collected();
    String cursor =
        router
            .scan(
                scan(Optional.empty(), OptionalInt.of(limit), OptionalInt.empty()),
                FakeCluster.call(),
                some)
            .join();
    assertThat(cursor).isNotEmpty();
    assertThat(some.ids).containsExactlyElementsOf(all.ids.subList(0, limit));
  }

  @Test
  void aCursorOfADroppedCollectionIsRefused(Seed seed) {
    fill(seed.random(), 50, 2);
    String cursor =
        router
            .scan(
                scan(Optional.empty(), OptionalInt.of(5), OptionalInt.empty()),
                FakeCluster.call(),
                new Collected())
            .join();
    cluster.dropUnknown("c");
    cluster.createKnown("c", SCHEMA, 2);
    assertThatThrownBy(
            () ->
                router
                    .scan(
                        scan(Optional.of(cursor), OptionalInt.empty(), OptionalInt.empty()),
                        FakeCluster.call(),
                        new Collected())
                    .join())
        .hasMessageContaining("'cursor' is of another collection");
  }

  @Test
  void moreReadsThanTheLimitAreRefusedAtOnceAndTheRestGoOn(Seed seed) throws Exception {
    fill(seed.random(), 5, 1);
    CompletableFuture<Void> gate = new CompletableFuture<>();
    CountDownLatch waiting = new CountDownLatch(64);
    cluster.readFault =
        (node, read, answer) -> {
          waiting.countDown();
          return gate.thenApply(open -> answer.get());
        };
    List<CompletableFuture<RowsAnswer>> running =
        LongStream.range(0, 64)
            .mapToObj(i -> router.search(search(vectors(new float[3]), 1, 0), FakeCluster.call()))
            .toList();
    waiting.await();
    assertThatThrownBy(
            () -> router.search(search(vectors(new float[3]), 1, 0), FakeCluster.call()).join())
        .cause()
        .isInstanceOfSatisfying(
            SagittaException.class,
            e -> {
              assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE);
              assertThat(e.retryAfterMs()).isPresent();
            });
    gate.complete(null);
    running.forEach(answer -> answer.join().close());
    router.search(search(vectors(new float[3]), 1, 0), FakeCluster.call()).join().close();
  }

  @Test
  void describeSaysWhatCreateTookAndWhereShardsAre(Seed seed) {
    fill(seed.random(), 12, 2);
    String json =
        new String(
            router.act(new Command.Describe("c"), FakeCluster.call()).join(),
            java.nio.charset.StandardCharsets.UTF_8);
    assertThat(json)
        .contains(
            "\"collection\":\"c\"",
            "\"id\":\"utf8\"",
            "{\"name\":\"v\",\"type\":\"float32\",\"dim\":3,\"metric\":\"l2\",\"nullable\":false,"
                + "\"storage\":\"mapped\"}",
            "\"slots\":[0,2048]",
            "\"replicas\":[\"n1\",\"n2\",\"n3\"]",
            "\"rows\":12",
            "\"extra\":true");
  }

  @Test
  void aWriteByFilterGoesToEveryShardAndSumsUp(Seed seed) {
    fill(seed.random(), 12, 3);
    String json =
        new String(
            router
                .act(
                    new Command.Delete("c", new io.sagitta.model.FilterText("n >= 0", List.of())),
                    FakeCluster.call())
                .join(),
            java.nio.charset.StandardCharsets.UTF_8);
    assertThat(json).startsWith("{\"rows\":12,\"token\":\"");
    assertThat(cluster.pointCount()).isZero();
  }

  @Test
  void setByIdsUpdatesThoseThatExist(Seed seed) {
    fill(seed.random(), 12, 3);
    Map<String, Object> values = new HashMap<>();
    values.put("tag", "new");
    Command.SetPayload set =
        new Command.SetPayload(
            "c",
            Optional.empty(),
            Optional.of(
                List.of(new IdText("p3", true), new IdText("p4", true), new IdText("no", true))),
            values);
    String json =
        new String(
            router.act(set, FakeCluster.call()).join(), java.nio.charset.StandardCharsets.UTF_8);
    assertThat(json).startsWith("{\"rows\":2,");
    PointId id = new PointId.Utf8("p3");
    FakeShard shard =
        cluster.shards.values().stream()
            .filter(s -> s.points.containsKey(id))
            .findFirst()
            .orElseThrow();
    assertThat(shard.points.get(id).values()).containsEntry("tag", "new").containsEntry("n", 3L);
    assertThat(ShardRead.class).isNotNull();
  }
}
