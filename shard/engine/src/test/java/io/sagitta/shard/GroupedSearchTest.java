// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.GroupColumn;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PayloadType.Kind;
import io.sagitta.model.PointId;
import io.sagitta.model.ReadMode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardRead;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.shard.index.IndexingOptions;
import io.sagitta.shard.log.ShardEntries;
import io.sagitta.shard.store.FsStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.IntFunction;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VarCharVector;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Grouped searches against a plain exact search of everything, grouped by a map. */
@Seeded
class GroupedSearchTest {
  private static final int DIM = 128;

  /** Directions in which rows of one cluster differ. */
  private static final int SPREAD = 10;

  private static final int ALL = 100_000;

  @TempDir Path directory;
  private final ManualScheduler indexing = new ManualScheduler();

  private static CollectionSchema schema(PayloadType group) {
    return new CollectionSchema(
        1,
        IdType.INT64,
        List.of(
            new VectorField(1, "v", VectorType.FLOAT32, DIM, Metric.L2, true),
            new PayloadField(2, "g", group),
            new PayloadField(3, "n", PayloadType.of(Kind.INT64))));
  }

  private TestShard start(CollectionSchema schema, FreezePolicy freeze) throws IOException {
    TestShard shard =
        new TestShard(
            FsStore.open(directory),
            Runnable::run,
            2,
            Optional.of(
                new IndexingOptions(indexing, 1, 512L * DIM * Float.BYTES, 256, () -> 0, () -> 0)));
    shard.apply(ShardEntries.init(TestShard.init(schema, freeze), 1));
    return shard;
  }

  // ---- exact -----------------------------------------------------------------------------------

  @RepeatedTest(12)
  void anExactSearchGivesTheBestGroupsAndTheirBestRows(Seed seed) throws IOException {
    RandomGenerator random = seed.random();
    try (TestShard shard =
        start(schema(PayloadType.of(Kind.UTF8)), new FreezePolicy(300, 1L << 30, 1_000_000))) {
      int groups = 1 + random.nextInt(60);
      for (int batch = 0; batch < 8; batch++) {
        shard.upsert(randomRows(random, 100, 900, groups));
      }
      shard.deleteWhere("n < $1", (long) random.nextInt(40));
      if (random.nextBoolean()) {
        shard.restart();
      }
      for (int i = 0; i < 25; i++) {
        Ask ask = Ask.draw(random, groups);
        check(shard, ask, List.of());
      }
    }
  }

  @Test
  void groupsAskedForByTheirHashComeBesidesTheBest(Seed seed) throws IOException {
    RandomGenerator random = seed.random();
    try (TestShard shard =
        start(schema(PayloadType.of(Kind.UTF8)), new FreezePolicy(300, 1L << 30, 1_000_000))) {
      for (int batch = 0; batch < 8; batch++) {
        shard.upsert(randomRows(random, 100, 900, 40));
      }
      for (int i = 0; i < 20; i++) {
        Ask ask = Ask.draw(random, 40);
        check(shard, ask, List.of("g" + random.nextInt(40), "g" + random.nextInt(45)));
      }
    }
  }

  private static List<List<Object>> randomRows(
      RandomGenerator random, int count, int ids, int groups) {
    Map<Integer, List<Object>> rows = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      int id = random.nextInt(ids);
      // Few directions and places, so that scores tie.
      float[] vector = new float[DIM];
      vector[random.nextInt(DIM)] = random.nextInt(6);
      vector[0] += random.nextInt(3) == 0 ? (float) random.nextGaussian() : 1;
      rows.put(
          id,
          Arrays.asList(
              PlainRows.int64(id),
              random.nextInt(10) == 0 ? null : PlainRows.floats(vector),
              random.nextInt(6) == 0 ? null : PlainRows.text("g" + random.nextInt(groups)),
              PlainRows.int64(random.nextInt(100))));
    }
    return List.copyOf(rows.values());
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void valuesOfEveryTypeThatAreEqualOrNotCanBeGroupedBy(Kind kind, Seed seed) throws IOException {
    CollectionSchema schema = schema(PayloadType.of(kind));
    RandomGenerator random = seed.random();
    RandomPoints values = new RandomPoints(random);
    PayloadField field = new PayloadField(20, "g", PayloadType.of(kind));
    List<Object> few = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      few.add(values.value(field)); // null, too
    }
    try (TestShard shard = start(schema, new FreezePolicy(120, 1L << 30, 1_000_000))) {
      for (int from = 0; from < 200; from += 50) {
        List<List<Object>> rows = new ArrayList<>();
        for (int id = from; id < from + 50; id++) {
          rows.add(
              Arrays.asList(
                  PlainRows.int64(id),
                  PlainRows.floats(gaussian(random, 1)),
                  few.get(random.nextInt(few.size())),
                  PlainRows.int64(0)));
        }
        shard.upsert(rows);
      }
      Ask ask =
          new Ask(
              List.of(gaussian(random, 1)),
              3,
              2,
              Optional.empty(),
              OptionalDouble.empty(),
              new ShardRead.Effort.Exact());
      switch (kind) {
        case FLOAT32, FLOAT64, GEO, JSON ->
            assertThatThrownBy(() -> grouped(shard, ask, List.of()))
                .isInstanceOfSatisfying(
                    SagittaException.class,
                    e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessageContaining("is of type " + kind.text());
        case BOOL,
            INT8,
            INT16,
            INT32,
            INT64,
            UINT8,
            UINT16,
            UINT32,
            UINT64,
            UTF8,
            BINARY,
            DATE,
            TIMESTAMP,
            UUID ->
            check(shard, ask, List.of());
      }
    }
  }

  @Test
  void listsAndVectorsAreRefused() throws IOException {
    try (TestShard shard = start(schema(PayloadType.listOf(Kind.UTF8)), FreezePolicy.DEFAULT)) {
      for (String field : List.of("g", "v", "nothing")) {
        assertThatThrownBy(() -> GroupColumn.field(shard.schema(), field))
            .isInstanceOf(SagittaException.class)
            .hasMessageContaining(field);
      }
    }
  }

  /** What is asked. */
  private record Ask(
      List<float[]> queries,
      int k,
      int size,
      Optional<FilterText> filter,
      OptionalDouble bound,
      ShardRead.Effort effort) {
    static Ask draw(RandomGenerator random, int groups) {
      List<float[]> queries = new ArrayList<>();
      for (int q = 1 + random.nextInt(3); q > 0; q--) {
        float[] query = new float[DIM];
        query[random.nextInt(DIM)] = random.nextInt(6);
        queries.add(query);
      }
      return new Ask(
          queries,
          1 + random.nextInt(groups + 5),
          random.nextBoolean() ? 1 : 1 + random.nextInt(30),
          random.nextBoolean()
              ? Optional.empty()
              : Optional.of(TestShard.filter("n < $1", random.nextInt(110))),
          random.nextInt(3) > 0
              ? OptionalDouble.empty()
              : OptionalDouble.of(3 * random.nextDouble()),
          new ShardRead.Effort.Exact());
    }
  }

  /** A hit; the group as plain text. */
  private record Hit(int query, PointId id, float score, Object group) {}

  /** Compares with everything, grouped by a map. */
  private static void check(TestShard shard, Ask ask, List<String> also) {
    List<Hit> expected = new ArrayList<>();
    Map<Integer, Map<Object, List<Hit>>> all = allGroups(shard, ask);
    for (int q = 0; q < ask.queries.size(); q++) {
      int rank = 0;
      for (Map.Entry<Object, List<Hit>> group : all.getOrDefault(q, Map.of()).entrySet()) {
        if (rank++ < ask.k
            || also.stream().anyMatch(name -> PlainRows.text(name).equals(group.getKey()))) {
          expected.addAll(group.getValue().subList(0, Math.min(ask.size, group.getValue().size())));
        }
      }
    }
    assertThat(grouped(shard, ask, also)).as(ask.toString()).isEqualTo(expected);
  }

  /** By query, every group with every row of it, best first. */
  private static Map<Integer, Map<Object, List<Hit>>> allGroups(TestShard shard, Ask ask) {
    Map<Integer, Map<Object, List<Hit>>> groups = new HashMap<>();
    Ask everything =
        new Ask(ask.queries, ALL, 1, ask.filter, ask.bound, new ShardRead.Effort.Exact());
    for (Hit hit : search(shard, everything, Optional.empty()).hits) {
      if (hit.group != null) {
        groups
            .computeIfAbsent(hit.query, q -> new LinkedHashMap<>())
            .computeIfAbsent(hit.group, g -> new ArrayList<>())
            .add(hit);
      }
    }
    return groups;
  }

  private static List<Hit> grouped(TestShard shard, Ask ask, List<String> also) {
    long[] hashes = hashes(also);
    List<long[]> each =
        also.isEmpty() ? List.of() : ask.queries.stream().map(query -> hashes).toList();
    return search(shard, ask, Optional.of(new ShardRead.Grouping("g", ask.size, each))).hits;
  }

  private static long[] hashes(List<String> names) {
    try (RootAllocator allocator = new RootAllocator();
        VarCharVector texts = new VarCharVector("g", allocator)) {
      for (int i = 0; i < names.size(); i++) {
        texts.setSafe(i, names.get(i).getBytes(StandardCharsets.UTF_8));
      }
      texts.setValueCount(names.size());
      GroupColumn column = GroupColumn.of(texts);
      long[] hashes = new long[names.size()];
      for (int i = 0; i < hashes.length; i++) {
        hashes[i] = column.value(i).hash();
      }
      return hashes;
    }
  }

  private record Found(List<Hit> hits, ReadStats stats) {}

  private static Found search(TestShard shard, Ask ask, Optional<ShardRead.Grouping> grouping) {
    float[] values = new float[ask.queries.size() * DIM];
    for (int q = 0; q < ask.queries.size(); q++) {
      System.arraycopy(ask.queries.get(q), 0, values, q * DIM, DIM);
    }
    ShardRead.Search search =
        new ShardRead.Search(
            TestShard.ID,
            ReadMode.ANY,
            "v",
            new ShardRead.QueryVectors(ask.queries.size(), DIM, values),
            ask.k,
            ask.filter,
            ask.effort,
            ask.bound,
            List.of("g"),
            true,
            grouping);
    try (ShardView view = shard.shard().view();
        ReadResult result = view.search(search, shard.allocator, StopSignal.NEVER)) {
      List<Hit> hits = new ArrayList<>();
      for (List<Object> row : PlainRows.of(result.rows())) {
        hits.add(
            new Hit(
                PlainRows.decode(row.get(0)).getInt(),
                PlainRows.idOf(IdType.INT64, row.get(1)),
                PlainRows.decode(row.get(2)).getFloat(),
                row.get(4)));
      }
      return new Found(hits, result.stats());
    }
  }

  // ---- graphs ----------------------------------------------------------------------------------

  private static final int ROWS = 8_000;

  /** Rows of 30 clusters; the cluster of row {@code id} is {@code id % 30}. */
  private static float[][] load(TestShard shard, Seed seed, IntFunction<String> group)
      throws IOException {
    RandomGenerator random = seed.branch("rows").random();
    float[][] centres = new float[30][];
    for (int i = 0; i < centres.length; i++) {
      centres[i] = gaussian(random, 1);
    }
    for (int from = 0; from < ROWS; from += 500) {
      List<List<Object>> rows = new ArrayList<>();
      for (int id = from; id < from + 500; id++) {
        float[] vector = near(random);
        for (int i = 0; i < DIM; i++) {
          vector[i] += centres[id % centres.length][i];
        }
        String name = group.apply(id);
        rows.add(
            Arrays.asList(
                PlainRows.int64(id),
                PlainRows.floats(vector),
                name == null ? null : PlainRows.text(name),
                PlainRows.int64(id)));
      }
      shard.upsert(rows);
    }
    return centres;
  }

  private static float[] gaussian(RandomGenerator random, float spread) {
    float[] vector = new float[DIM];
    for (int i = 0; i < DIM; i++) {
      vector[i] = spread * (float) random.nextGaussian();
    }
    return vector;
  }

  /** Where a row of a cluster lies, from its centre. */
  private static float[] near(RandomGenerator random) {
    float[] vector = gaussian(random, 0.02f);
    for (int i = 0; i < SPREAD; i++) {
      vector[i] = (float) random.nextGaussian();
    }
    return vector;
  }

  /** Means over searches near a cluster. */
  private record Figures(double recall, int byGraph, int searches) {}

  /**
   * Searches by graph and checks what holds of every answer: as many groups as there are, each with
   * as many rows as it has, in order, each row with its true score and group.
   */
  private static Figures measure(
      TestShard shard, Seed seed, float[][] centres, int k, int size, Optional<FilterText> filter) {
    RandomGenerator random = seed.branch("queries").random();
    double recall = 0;
    int byGraph = 0;
    int searches = 30;
    for (int i = 0; i < searches; i++) {
      float[] query = near(random);
      float[] centre = centres[random.nextInt(3)];
      for (int j = 0; j < DIM; j++) {
        query[j] += centre[j];
      }
      Ask ask =
          new Ask(
              List.of(query),
              k,
              size,
              filter,
              OptionalDouble.empty(),
              new ShardRead.Effort.Recall(0.95));
      Found found = search(shard, ask, Optional.of(new ShardRead.Grouping("g", size, List.of())));
      recall += recall(found.hits, allGroups(shard, ask).getOrDefault(0, Map.of()), k, size);
      byGraph += found.stats.graph() + found.stats.masked() > 0 ? 1 : 0;
    }
    return new Figures(recall / searches, byGraph, searches);
  }

  private static double recall(List<Hit> hits, Map<Object, List<Hit>> truth, int k, int size) {
    Map<Object, List<Hit>> found = new LinkedHashMap<>();
    hits.forEach(hit -> found.computeIfAbsent(hit.group, g -> new ArrayList<>()).add(hit));
    assertThat(found).hasSize(Math.min(k, truth.size()));
    int wanted = 0;
    int right = 0;
    List<List<Hit>> best = truth.values().stream().limit(k).toList();
    for (List<Hit> group : best) {
      List<Hit> there = found.getOrDefault(group.getFirst().group, List.of());
      wanted += Math.min(size, group.size());
      right +=
          (int)
              group.subList(0, Math.min(size, group.size())).stream()
                  .filter(there::contains)
                  .count();
    }
    Hit before = null;
    int at = 0;
    for (Map.Entry<Object, List<Hit>> group : found.entrySet()) {
      List<Hit> rows = group.getValue();
      assertThat(rows).hasSize(Math.min(size, truth.get(group.getKey()).size()));
      assertThat(truth.get(group.getKey())).containsAll(rows);
      assertThat(rows).isSortedAccordingTo((a, b) -> Float.compare(a.score, b.score));
      assertThat(hits.subList(at, at += rows.size())).isEqualTo(rows);
      assertThat(before == null || before.score <= rows.getFirst().score).isTrue();
      before = rows.getFirst();
    }
    return wanted == 0 ? 1 : (double) right / wanted;
  }

  private interface Check {
    void check(TestShard shard, float[][] centres, Seed seed);
  }

  /** On a growing segment, and on sealed ones that were read from files. */
  private void withGraphs(Seed seed, IntFunction<String> group, Check check) throws IOException {
    for (FreezePolicy freeze :
        List.of(FreezePolicy.DEFAULT, new FreezePolicy(3_500, 1L << 30, 1_000_000))) {
      try (TestShard shard = start(schema(PayloadType.of(Kind.UTF8)), freeze)) {
        float[][] centres = load(shard, seed, group);
        indexing.runAll();
        check.check(shard, centres, seed);
        if (!freeze.equals(FreezePolicy.DEFAULT)) {
          shard.restart();
          indexing.runAll();
          check.check(shard, centres, seed);
        }
      }
      try (var files = java.nio.file.Files.walk(directory)) {
        files
            .sorted(java.util.Comparator.reverseOrder())
            .filter(file -> !file.equals(directory))
            .forEach(file -> file.toFile().delete());
      }
    }
  }

  @Test
  void manySmallGroupsAreFoundByTheGraph(Seed seed) throws IOException {
    withGraphs(
        seed,
        id -> "doc" + id / 10,
        (shard, centres, s) -> {
          Figures one = measure(shard, s, centres, 10, 1, Optional.empty());
          assertThat(one.recall).isGreaterThan(0.94);
          assertThat(one.byGraph).isEqualTo(one.searches);
          assertThat(measure(shard, s, centres, 10, 3, Optional.empty()).recall)
              .isGreaterThan(0.94);
        });
  }

  @Test
  void aGroupThatHoldsThousandsOfTheNearestRowsHidesNoOther(Seed seed) throws IOException {
    // Queries lie near clusters 0 to 2; groups other than "big" lie elsewhere.
    withGraphs(
        seed,
        id -> id % 30 < 20 ? "big" : "small" + id % 300,
        (shard, centres, s) -> {
          for (int size : new int[] {1, 3}) {
            assertThat(measure(shard, s, centres, 10, size, Optional.empty()).recall)
                .isGreaterThan(0.9);
          }
        });
  }

  @Test
  void fewerGroupsThanAskedForAreAllThatComes(Seed seed) throws IOException {
    withGraphs(
        seed,
        id -> "category" + id % 3,
        (shard, centres, s) -> {
          Figures figures = measure(shard, s, centres, 10, 2, Optional.empty());
          assertThat(figures.recall).isGreaterThan(0.94);
          assertThat(figures.byGraph).isEqualTo(figures.searches);
        });
  }

  @Test
  void rowsWithoutAGroupHideNoOther(Seed seed) throws IOException {
    withGraphs(
        seed,
        id -> id % 30 < 25 ? null : "doc" + id / 7,
        (shard, centres, s) ->
            assertThat(measure(shard, s, centres, 10, 2, Optional.empty()).recall)
                .isGreaterThan(0.9));
  }

  @Test
  void aFilterAndDeletedRowsLeaveAsManyGroupsAsMatch(Seed seed) throws IOException {
    withGraphs(
        seed,
        id -> "doc" + id / 10,
        (shard, centres, s) -> {
          try {
            shard.deleteWhere("n >= 1000 AND n < 2000");
          } catch (IOException e) {
            throw new AssertionError(e);
          }
          for (int below : new int[] {0, 5, 95, 3_000, 5_500}) {
            Optional<FilterText> filter = Optional.of(TestShard.filter("n < $1", below));
            assertThat(measure(shard, s, centres, 10, 2, filter).recall).isGreaterThan(0.93);
          }
        });
  }
}
