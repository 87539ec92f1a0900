// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.FilterText;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PointId;
import io.sagitta.model.ReadMode;
import io.sagitta.model.ShardRead;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.shard.index.FieldIndex;
import io.sagitta.shard.index.IndexLag;
import io.sagitta.shard.index.IndexingOptions;
import io.sagitta.shard.index.LiveRecall;
import io.sagitta.shard.log.ShardEntries;
import io.sagitta.shard.store.FsStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A shard whose segments have graphs, held to its own exact search. */
@Seeded
class IndexedShardTest {
  private static final int DIM = 24;
  private static final int ROWS = 6_000;
  private static final int BATCH = 500;
  private static final int K = 10;
  private static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.INT64,
          List.of(
              new VectorField(1, "v", VectorType.FLOAT32, DIM, Metric.COSINE, false),
              new PayloadField(2, "n", PayloadType.of(PayloadType.Kind.INT64))));

  @TempDir Path directory;
  private final ManualScheduler indexing = new ManualScheduler();

  /** Stands still unless a test has it run. */
  private LongSupplier nanoTime = () -> 0;

  private TestShard start(FreezePolicy freeze) throws IOException {
    TestShard shard =
        new TestShard(
            FsStore.open(directory),
            Runnable::run,
            2,
            Optional.of(
                new IndexingOptions(
                    indexing,
                    1,
                    512L * DIM * Float.BYTES,
                    256,
                    () -> nanoTime.getAsLong(),
                    () -> 0)));
    shard.apply(ShardEntries.init(TestShard.init(SCHEMA, freeze), 1));
    return shard;
  }

  private static void load(TestShard shard, Clusters clusters) throws IOException {
    for (int from = 0; from < ROWS; from += BATCH) {
      List<List<Object>> rows = new ArrayList<>();
      for (int id = from; id < from + BATCH; id++) {
        rows.add(row(id, clusters.draw()));
      }
      shard.upsert(rows);
    }
  }

  private static List<Object> row(int id, float[] vector) {
    return List.of(PlainRows.int64(id), PlainRows.floats(vector), PlainRows.int64(id));
  }

  @Test
  void aGrowingSegmentIsSearchedByItsGraphAndItsTailByAScan(Seed seed) throws IOException {
    Clusters clusters = new Clusters(seed);
    try (TestShard shard = start(FreezePolicy.DEFAULT)) {
      load(shard, clusters);
      indexing.runAll();
      assertThat(shard.shard().indexer().isIdle()).isTrue();
      Figures figures = measure(shard, clusters, Optional.empty(), 0.95);
      assertThat(figures.graph).isEqualTo(figures.searches);
      assertThat(figures.recall).isGreaterThan(0.94);
      assertThat(search(shard, clusters.draw(), Optional.empty(), 0.95).stats.explain())
          .contains("\"strategy\":\"graph\"", "\"ef\":", "\"bits\":4", "\"recall_planned\":0.9");
      // A row that came later than the graph is found as well.
      float[] late = clusters.draw();
      shard.upsert(List.of(row(ROWS, late)));
      assertThat(search(shard, late, Optional.empty(), 0.95).ids.getFirst())
          .isEqualTo(new PointId.Int64(ROWS));
    }
  }

  @Test
  void whatWaitsForItsGraphIsKnown(Seed seed) throws IOException {
    Clusters clusters = new Clusters(seed);
    try (TestShard shard = start(FreezePolicy.DEFAULT)) {
      assertThat(shard.shard().indexer().lag().waitingBytes()).isZero();
      load(shard, clusters);
      IndexLag loaded = shard.shard().indexer().lag();
      assertThat(loaded.bytesPerRow()).isEqualTo(DIM * Float.BYTES);
      assertThat(loaded.waitingBytes()).isEqualTo((long) ROWS * DIM * Float.BYTES);
      indexing.runAll();
      assertThat(shard.shard().indexer().lag().waitingBytes()).isZero();
    }
  }

  @Test
  void aGraphThatIsReadFromItsFileSaysNothingOfTheSpeedOfIndexing(Seed seed) throws IOException {
    Clusters clusters = new Clusters(seed);
    AtomicLong clock = new AtomicLong();
    nanoTime = () -> clock.addAndGet(1_000_000);
    try (TestShard shard = start(new FreezePolicy(ROWS / 2, 1L << 30, 1_000_000))) {
      load(shard, clusters);
      indexing.runAll();
      assertThat(shard.shard().indexer().lag().bytesPerSecond()).isPositive();
      shard.restart();
      indexing.runAll();
      assertThat(shard.shard().indexer().all()).hasSize(2).allMatch(FieldIndex::isPersisted);
      assertThat(shard.shard().indexer().lag().bytesPerSecond()).isZero();
    }
  }

  @Test
  void frozenSegmentsGetWholeGraphsThatSurviveARestart(Seed seed) throws IOException {
    Clusters clusters = new Clusters(seed);
    try (TestShard shard = start(new FreezePolicy(2_500, 1L << 30, 1_000_000))) {
      load(shard, clusters);
      indexing.runAll();
      assertThat(graphFiles()).hasSize(2);
      Figures before = measure(shard, clusters, Optional.empty(), 0.95);
      assertThat(before.recall).isGreaterThan(0.94);
      shard.restart();
      assertThat(shard.shard().indexer().all()).isEmpty();
      indexing.runAll();
      assertThat(shard.shard().indexer().all())
          .filteredOn(index -> index.isComplete())
          .hasSize(2)
          .allMatch(index -> index.isPersisted());
      Figures after = measure(shard, clusters, Optional.empty(), 0.95);
      assertThat(after.recall).isGreaterThan(0.94);
      assertThat(after.graph).isEqualTo(after.searches);
    }
  }

  @Test
  void aGraphForWhichThereIsNoRoomIsSearchedFromMemoryAndWrittenOnceThereIs(Seed seed)
      throws IOException {
    Clusters clusters = new Clusters(seed);
    try (TestShard shard = start(new FreezePolicy(2_500, 1L << 30, 1_000_000))) {
      shard.roomForGraphs = false;
      load(shard, clusters);
      indexing.runAll();
      assertThat(shard.shard().indexer().isIdle()).isTrue();
      assertThat(directory.resolve("indexes")).doesNotExist();
      assertThat(shard.shard().indexer().all()).anyMatch(FieldIndex::isComplete);
      shard.roomForGraphs = true;
      shard.shard().retryPutOff();
      indexing.runAll();
      assertThat(graphFiles()).hasSize(2);
    }
  }

  @Test
  void aCheckpointForWhichThereIsNoRoomWritesNothingAndIsTakenUpOnceThereIs(Seed seed)
      throws IOException {
    Clusters clusters = new Clusters(seed);
    try (TestShard shard = start(new FreezePolicy(4_000, 1L << 30, 1_000_000))) {
      shard.roomForCheckpoints = false;
      load(shard, clusters);
      assertThat(shard.shard().checkpointed()).isEmpty();
      assertThat(shard.shard().state().flushFailure().orElseThrow()).contains("no room");
      assertThat(directory.toFile().list((folder, name) -> name.endsWith(".vectors.1"))).isEmpty();
      long unflushed = shard.shard().unflushedBytes();
      assertThat(unflushed).isGreaterThan((long) ROWS * DIM * Float.BYTES);
      shard.roomForCheckpoints = true;
      shard.shard().retryPutOff();
      assertThat(shard.shard().checkpointed()).isPresent();
      assertThat(shard.shard().state().flushFailure()).isEmpty();
      assertThat(shard.shard().unflushedBytes()).isLessThan(unflushed / 2);
      assertThat(shard.count()).isEqualTo(ROWS);
    }
  }

  @Test
  void aDamagedGraphIsBuiltAgain(Seed seed) throws IOException {
    Clusters clusters = new Clusters(seed);
    try (TestShard shard = start(new FreezePolicy(3_000, 1L << 30, 1_000_000))) {
      load(shard, clusters);
      indexing.runAll();
      List<Path> files = graphFiles();
      assertThat(files).hasSize(2);
      byte[] bytes = Files.readAllBytes(files.getFirst());
      bytes[seed.branch("damage").random().nextInt(bytes.length)] ^= 0x10;
      Files.write(files.getFirst(), bytes);
      shard.restart();
      indexing.runAll();
      assertThat(graphFiles()).hasSize(2);
      assertThat(shard.shard().indexer().all()).hasSize(2).allMatch(i -> i.isPersisted());
      assertThat(measure(shard, clusters, Optional.empty(), 0.95).recall).isGreaterThan(0.94);
    }
  }

  @Test
  void aFilterGivesAsManyHitsAsThereAreAtEverySelectivity(Seed seed) throws IOException {
    Clusters clusters = new Clusters(seed);
    try (TestShard shard = start(FreezePolicy.DEFAULT)) {
      load(shard, clusters);
      indexing.runAll();
      for (int below : new int[] {0, 1, 5, 30, 300, 1_500, 3_000, 5_000}) {
        Figures figures =
            measure(shard, clusters, Optional.of(TestShard.filter("n < $1", below)), 0.95);
        assertThat(figures.recall).as("n < %s", below).isGreaterThan(0.94);
      }
    }
  }

  @Test
  void theDeadAreNeverFoundAndTheirPlacesAreNoTrap(Seed seed) throws IOException {
    Clusters clusters = new Clusters(seed);
    try (TestShard shard = start(new FreezePolicy(3_000, 1L << 30, 1_000_000))) {
      load(shard, clusters);
      indexing.runAll();
      // Everything near one point dies, and every other row as well.
      float[] centre = clusters.draw();
      List<PointId> near = search(shard, centre, Optional.empty(), 1, 400).ids;
      shard.delete(near.toArray(PointId[]::new));
      shard.deleteWhere("n < 3000");
      Found found = search(shard, centre, Optional.empty(), 0.95);
      assertThat(found.ids).hasSize(K).doesNotContainAnyElementsOf(near);
      Figures figures = measure(shard, clusters, Optional.empty(), 0.95);
      assertThat(figures.recall).isGreaterThan(0.94);
    }
  }

  @Tag("B003")
  @Test
  void thousandsOfEqualVectorsTrapNoSearch(Seed seed) throws IOException {
    Clusters clusters = new Clusters(seed);
    try (TestShard shard = start(FreezePolicy.DEFAULT)) {
      float[] same = clusters.draw();
      for (int from = 0; from < 4_000; from += BATCH) {
        List<List<Object>> rows = new ArrayList<>();
        for (int id = from; id < from + BATCH; id++) {
          rows.add(row(id, id % 8 == 0 ? clusters.draw() : same));
        }
        shard.upsert(rows);
      }
      indexing.runAll();
      Figures figures = measure(shard, clusters, Optional.empty(), 0.95);
      assertThat(figures.recall).isGreaterThan(0.94);
      assertThat(search(shard, same, Optional.empty(), 0.95).scores)
          .hasSize(K)
          .allMatch(score -> score > 0.9999f);
    }
  }

  @Test
  void queriesUnlikeTheRowsAreFoundOutBySamplingAndGetTheirRecall(Seed seed) throws IOException {
    Clusters clusters = new Clusters(seed);
    try (TestShard shard = start(FreezePolicy.DEFAULT)) {
      load(shard, clusters);
      indexing.runAll();
      LiveRecall live = shard.shard().indexer().all().getFirst().live(false);
      Figures before = measure(shard, clusters::anywhere, Optional.empty(), 0.95, 100);
      assertThat(live.samples()).isZero();
      for (int i = 0; i < 400; i++) {
        search(shard, clusters.anywhere(), Optional.empty(), 0.95);
        indexing.runAll();
      }
      assertThat(live.samples()).isGreaterThanOrEqualTo(400);
      // The mean is kept over searches that go on being sampled: the effort moves about the one
      // that
      // just gives it.
      double after = 0;
      for (int i = 0; i < 30; i++) {
        after += measure(shard, clusters::anywhere, Optional.empty(), 0.95, 10).recall / 30;
        indexing.runAll();
      }
      assertThat(after).isGreaterThan(0.93).isGreaterThan(before.recall);
      // What is asked under a filter was not seen, and is not touched.
      assertThat(shard.shard().indexer().all().getFirst().live(true).factor()).isEqualTo(1);
    }
  }

  @Test
  void samplesOfAShardThatWasRestartedAreDropped(Seed seed) throws IOException {
    Clusters clusters = new Clusters(seed);
    try (TestShard shard = start(new FreezePolicy(2_500, 1L << 30, 1_000_000))) {
      load(shard, clusters);
      indexing.runAll();
      search(shard, clusters.draw(), Optional.empty(), 0.95);
      List<FieldIndex> before = shard.shard().indexer().all();
      shard.restart();
      indexing.runAll();
      assertThat(before).allMatch(index -> index.live(false).samples() == 0);
      search(shard, clusters.draw(), Optional.empty(), 0.95);
      indexing.runAll();
      assertThat(shard.shard().indexer().all()).anyMatch(index -> index.live(false).samples() == 1);
    }
  }

  private List<Path> graphFiles() throws IOException {
    try (Stream<Path> files = Files.list(directory.resolve("indexes"))) {
      return files.sorted().toList();
    }
  }

  /** Means over some searches. */
  private record Figures(int searches, double recall, int graph) {}

  private record Found(List<PointId> ids, List<Float> scores, ReadStats stats) {}

  private Figures measure(
      TestShard shard, Clusters clusters, Optional<FilterText> filter, double recall) {
    return measure(shard, clusters::draw, filter, recall, 60);
  }

  private Figures measure(
      TestShard shard,
      Supplier<float[]> queries,
      Optional<FilterText> filter,
      double recall,
      int searches) {
    double sum = 0;
    int graph = 0;
    for (int i = 0; i < searches; i++) {
      float[] query = queries.get();
      Found found = search(shard, query, filter, recall);
      Found truth = search(shard, query, filter, 1);
      assertThat(found.ids).hasSameSizeAs(truth.ids);
      assertThat(Set.copyOf(found.ids)).hasSize(found.ids.size());
      assertThat(truth.stats.exact()).isTrue();
      if (!truth.ids.isEmpty()) {
        float worst = truth.scores.getLast();
        sum += (double) found.scores.stream().filter(s -> s >= worst).count() / truth.ids.size();
      } else {
        sum++;
      }
      graph += found.stats.graph() + found.stats.masked() > 0 ? 1 : 0;
    }
    return new Figures(searches, sum / searches, graph);
  }

  private Found search(TestShard shard, float[] query, Optional<FilterText> filter, double recall) {
    return search(shard, query, filter, recall, K);
  }

  /** Recall 1 stands for an exact search. */
  private Found search(
      TestShard shard, float[] query, Optional<FilterText> filter, double recall, int k) {
    ShardRead.Search search =
        new ShardRead.Search(
            TestShard.ID,
            ReadMode.ANY,
            "v",
            new ShardRead.QueryVectors(1, DIM, query),
            k,
            filter,
            recall == 1 ? new ShardRead.Effort.Exact() : new ShardRead.Effort.Recall(recall),
            OptionalDouble.empty(),
            List.of(),
            true,
            Optional.empty());
    try (ShardView view = shard.shard().view();
        ReadResult result = view.search(search, shard.allocator, StopSignal.NEVER)) {
      List<List<Object>> rows = PlainRows.of(result.rows());
      return new Found(
          rows.stream()
              .map(row -> PlainRows.idOf(IdType.INT64, row.get(1)))
              .collect(Collectors.toList()),
          rows.stream().map(row -> PlainRows.decode(row.get(2)).getFloat()).toList(),
          result.stats());
    }
  }

  /** Points around a few centres. */
  private static final class Clusters {
    private final java.util.random.RandomGenerator random;
    private final float[][] centres = new float[20][DIM];

    Clusters(Seed seed) {
      random = seed.random();
      for (float[] centre : centres) {
        for (int i = 0; i < DIM; i++) {
          centre[i] = (float) random.nextGaussian();
        }
      }
    }

    /** A point in any direction, which no row is near. */
    float[] anywhere() {
      float[] point = new float[DIM];
      for (int i = 0; i < DIM; i++) {
        point[i] = (float) random.nextGaussian();
      }
      return point;
    }

    float[] draw() {
      float[] centre = centres[random.nextInt(centres.length)];
      float[] point = new float[DIM];
      for (int i = 0; i < DIM; i++) {
        point[i] = centre[i] + (float) random.nextGaussian() * 0.6f;
      }
      return point;
    }
  }
}
