// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorStorage;
import io.sagitta.model.VectorType;
import io.sagitta.shard.MemoryBudget.Part;
import io.sagitta.shard.TestShard.Hit;
import io.sagitta.shard.index.FieldIndex;
import io.sagitta.shard.index.IndexingOptions;
import io.sagitta.shard.log.ShardEntries;
import io.sagitta.shard.store.FsStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where vectors and graphs are kept, and what the budget says of it. */
@Seeded
class StoredVectorsTest {
  private static final int DIM = 24;
  private static final int ROWS = 3_000;
  private static final int BATCH = 500;

  /** A field of each kind over the same vectors. */
  private static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.INT64,
          List.of(
              new VectorField(
                  1, "held", VectorType.FLOAT32, DIM, Metric.COSINE, false, VectorStorage.MEMORY),
              new VectorField(2, "mapped", VectorType.FLOAT32, DIM, Metric.COSINE, false)));

  /** 24 floats in two cache lines, and the inverse norm. */
  private static final long ROW_BYTES = 128 + 4;

  @TempDir Path directory;
  @TempDir Path other;
  private final ManualScheduler indexing = new ManualScheduler();

  private TestShard start() throws IOException {
    TestShard shard =
        new TestShard(FsStore.open(directory), Runnable::run, 2, Optional.of(indexing()));
    FreezePolicy freeze = new FreezePolicy(ROWS, 1L << 30, 1_000_000);
    shard.apply(ShardEntries.init(TestShard.init(SCHEMA, freeze), 1));
    return shard;
  }

  private IndexingOptions indexing() {
    return new IndexingOptions(indexing, 1, 512L * DIM * Float.BYTES, 256, () -> 0, () -> 0);
  }

  private static void load(TestShard shard, RandomGenerator random, int rows) throws IOException {
    for (int from = 0; from < rows; from += BATCH) {
      List<List<Object>> batch = new ArrayList<>();
      for (int id = from; id < Math.min(rows, from + BATCH); id++) {
        Object vector = PlainRows.floats(vector(random));
        batch.add(List.of(PlainRows.int64(id), vector, vector));
      }
      shard.upsert(batch);
    }
  }

  private static float[] vector(RandomGenerator random) {
    float[] vector = new float[DIM];
    for (int i = 0; i < DIM; i++) {
      vector[i] = (float) random.nextGaussian();
    }
    return vector;
  }

  /** Leaves room for so many bytes. */
  private static void crowd(TestShard shard, long room) {
    long free = shard.memory.residentBytesMax() - shard.memory.residentBytes();
    shard.memory.add(Part.LINKS, free - room);
  }

  private long lengthOf(String suffix) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      long sum = 0;
      for (Path file : files.filter(f -> f.toString().endsWith(suffix)).toList()) {
        sum += Files.size(file);
      }
      return sum;
    }
  }

  private static void assertSameHits(TestShard shard, RandomGenerator random) {
    for (int i = 0; i < 10; i++) {
      float[] query = vector(random);
      List<Hit> held = shard.search("held", 10, Optional.empty(), query);
      assertThat(held).hasSize(10);
      assertThat(shard.search("mapped", 10, Optional.empty(), query)).isEqualTo(held);
    }
  }

  @Test
  void vectorsInMemoryAreCountedFromTheFlushOnAndGivenBack(Seed seed) throws IOException {
    TestShard shard = start();
    load(shard, seed.random(), ROWS - 1);
    assertThat(shard.memory.bytes(Part.VECTORS)).isZero();
    assertThat(shard.memory.bytes(Part.OWED)).isGreaterThanOrEqualTo((ROWS - 1) * ROW_BYTES);
    shard.upsert(List.of(row(ROWS, vector(seed.random()))));
    for (int restarts = 0; restarts < 2; restarts++) {
      indexing.runAll();
      assertThat(shard.memory.bytes(Part.OWED)).isZero();
      assertThat(shard.memory.bytes(Part.VECTORS)).isEqualTo(lengthOf(".vectors.1"));
      assertThat(shard.memory.bytes(Part.VECTORS_MAPPED)).isEqualTo(lengthOf(".vectors.2"));
      assertThat(shard.memory.bytes(Part.DISPLACED)).isZero();
      assertSameHits(shard, seed.random());
      assertThat(shard.shard().verify(step -> {})).isEmpty();
      shard.restart();
    }
    shard.close();
    for (Part part : Part.values()) {
      assertThat(shard.memory.bytes(part)).as(part.name()).isZero();
    }
    assertThat(shard.memory.residentBytes()).isZero();
  }

  private static List<Object> row(int id, float[] vector) {
    return List.of(PlainRows.int64(id), PlainRows.floats(vector), PlainRows.floats(vector));
  }

  @Test
  void whatFindsNoRoomIsReadFromItsFileAndAnswersTheSame(Seed seed) throws IOException {
    try (TestShard shard = start()) {
      load(shard, seed.random(), ROWS);
      indexing.runAll();
      long vectors = shard.memory.bytes(Part.VECTORS);
      long graphs = shard.memory.bytes(Part.CODES) + shard.memory.bytes(Part.LINKS);
      shard.shard().close();
      crowd(shard, 1_000);
      shard.reopen();
      indexing.runAll();
      assertThat(shard.memory.bytes(Part.VECTORS)).isZero();
      assertThat(shard.memory.bytes(Part.CODES)).isZero();
      assertThat(shard.memory.bytes(Part.DISPLACED))
          .isBetween(vectors + graphs / 2, vectors + graphs);
      assertThat(shard.shard().indexer().all())
          .hasSize(2)
          .allMatch(FieldIndex::isDisplaced)
          .allMatch(index -> index.calibration().isPresent());
      assertSameHits(shard, seed.random());
      assertThat(shard.memory.residentBytes()).isLessThanOrEqualTo(shard.memory.residentBytesMax());
      // Graphs come back to memory by themselves; vectors when the segment is opened again.
      shard.memory.add(Part.LINKS, -shard.memory.bytes(Part.LINKS));
      shard.shard().retryPutOff();
      indexing.runAll();
      assertThat(shard.shard().indexer().all()).hasSize(2).noneMatch(FieldIndex::isDisplaced);
      assertThat(shard.memory.bytes(Part.DISPLACED)).isEqualTo(vectors);
      assertSameHits(shard, seed.random());
    }
  }

  @Test
  void aGraphThatFindsNoRoomWaitsAndIsOwedAndWritesThatNeedMoreAreNotAdmitted(Seed seed)
      throws IOException {
    try (TestShard shard = start()) {
      crowd(shard, 2 * ROWS * ROW_BYTES);
      load(shard, seed.random(), ROWS);
      indexing.runAll();
      assertThat(shard.shard().indexer().isIdle()).isTrue();
      assertThat(shard.shard().indexer().all()).noneMatch(FieldIndex::isComplete);
      assertThat(shard.memory.bytes(Part.OWED)).isGreaterThan(2L * ROWS * (128 + 128));
      assertThat(shard.memory.admitsResident(0)).isFalse();
      assertThat(shard.memory.admits(1)).isTrue();
      assertSameHits(shard, seed.random());
      shard.memory.add(Part.LINKS, -(1L << 29));
      shard.shard().retryPutOff();
      indexing.runAll();
      assertThat(shard.shard().indexer().all()).hasSize(2).allMatch(FieldIndex::isComplete);
      assertThat(shard.memory.bytes(Part.OWED)).isZero();
      assertThat(shard.memory.admitsResident(0)).isTrue();
      shard.memory.add(Part.LINKS, (1L << 29));
    }
  }

  @Test
  void aReplicaBroughtUpByInstallKeepsEachFieldWhereItBelongs(Seed seed) throws IOException {
    try (TestShard ahead = start();
        TestShard behind =
            new TestShard(FsStore.open(other), Runnable::run, 2, Optional.of(indexing()))) {
      load(ahead, seed.random(), ROWS + 100);
      ahead.shard().requestCheckpoint();
      ShardCheckpoint checkpoint = ahead.shard().checkpointed().orElseThrow();
      for (CheckpointFile file : behind.shard().missingFiles(checkpoint.manifest())) {
        try (InputStream bytes = ahead.shard().exportFile(file)) {
          behind.shard().importFile(file, bytes);
        }
      }
      behind.shard().install(checkpoint.manifest());
      for (int restarts = 0; restarts < 2; restarts++) {
        indexing.runAll();
        assertThat(behind.schema()).isEqualTo(SCHEMA);
        for (Part part :
            List.of(Part.VECTORS, Part.VECTORS_MAPPED, Part.COLUMNS_MAPPED, Part.OWED)) {
          assertThat(behind.memory.bytes(part))
              .as(part.name())
              .isEqualTo(ahead.memory.bytes(part))
              .isPositive();
        }
        assertThat(behind.memory.bytes(Part.CODES)).isEqualTo(ahead.memory.bytes(Part.CODES));
        assertThat(behind.memory.bytes(Part.DISPLACED)).isZero();
        assertSameHits(behind, seed.random());
        behind.restart();
      }
    }
  }

  @Test
  void aSealedGraphHoldsNothingForTheSakeOfGrowing(Seed seed) throws IOException {
    try (TestShard shard = start()) {
      load(shard, seed.random(), ROWS - 1);
      indexing.runAll();
      long growing = shard.memory.bytes(Part.CODES) + shard.memory.bytes(Part.LINKS);
      shard.upsert(List.of(row(ROWS, vector(seed.random()))));
      indexing.runAll();
      long sealed = shard.memory.bytes(Part.CODES) + shard.memory.bytes(Part.LINKS);
      assertThat(shard.shard().indexer().all()).hasSize(2).allMatch(FieldIndex::isComplete);
      assertThat(sealed).isLessThan(growing);
      assertThat(shard.shard().indexer().all())
          .allMatch(index -> index.index().capacity() == index.index().size());
      assertSameHits(shard, seed.random());
      shard.restart();
      indexing.runAll();
      assertThat(shard.memory.bytes(Part.CODES) + shard.memory.bytes(Part.LINKS)).isEqualTo(sealed);
    }
  }

  /** The formula of docs/operations.md, "Sizing", held to what is counted. */
  @Test
  void memoryIsWhatTheFormulaOfTheManualSays(Seed seed) throws IOException {
    try (TestShard shard = start()) {
      load(shard, seed.random(), ROWS);
      indexing.runAll();
      int fields = 2;
      boolean fourBits =
          shard.shard().indexer().all().stream().allMatch(i -> i.index().image().low() == null);
      double codes = (fourBits ? 1 : 2) * Math.ceil((DIM / 2.0 + 12) / 64) * 64;
      double links = 128 + 4 + 64.0 / 12;
      assertThat((double) shard.memory.bytes(Part.VECTORS) / ROWS)
          .isCloseTo(Math.ceil(DIM * 4 / 64.0) * 64 + 4, within(2.0));
      assertThat((double) shard.memory.bytes(Part.CODES) / ROWS / fields)
          .isCloseTo(codes, within(1.0));
      assertThat((double) shard.memory.bytes(Part.LINKS) / ROWS / fields)
          .isCloseTo(links, within(2.0));
    }
  }
}
