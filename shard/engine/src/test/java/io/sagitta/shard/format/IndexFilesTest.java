// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.model.Metric;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.shard.distance.VectorRows;
import io.sagitta.shard.hnsw.Calibration;
import io.sagitta.shard.hnsw.CodeQuery;
import io.sagitta.shard.hnsw.Effort;
import io.sagitta.shard.hnsw.GraphBuilder;
import io.sagitta.shard.hnsw.GraphSearcher;
import io.sagitta.shard.hnsw.IndexImage;
import io.sagitta.shard.hnsw.IndexParameters;
import io.sagitta.shard.hnsw.NeighbourCoding;
import io.sagitta.shard.hnsw.StopCheck;
import io.sagitta.shard.hnsw.Traversal;
import io.sagitta.shard.hnsw.VectorIndex;
import io.sagitta.shard.store.FsStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Graphs in files. The golden file was written when its version was born and never again; for a new
 * version run this class with {@code -Dsagitta.golden=DIRECTORY} and move the file to the
 * resources.
 */
class IndexFilesTest {
  private static final int ROWS = 120;
  private static final int DIM = 12;
  private static final UUID SEGMENT = new UUID(3, 5);
  private static final VectorField FIELD =
      new VectorField(1, "v", VectorType.FLOAT32, DIM, Metric.L2, false);
  private static final Effort EFFORT = new Effort(ROWS, 10, Traversal.EIGHT);
  private static final Calibration CALIBRATION =
      new Calibration(
          100,
          20,
          List.of(
              new Calibration.Step(1, new Effort(12, 4, Traversal.FOUR), 0.96875, 40.5),
              new Calibration.Step(10, new Effort(24, 20, Traversal.FOUR), 0.984375, 77.25)));
  private static final String FILE = "indexes/" + SEGMENT + ".graph.1";

  @TempDir Path directory;

  @Test
  void aGraphComesBackAsItWasWritten() throws IOException {
    IndexFiles files = new IndexFiles(FsStore.open(directory));
    assertThat(files.open(SEGMENT, FIELD, ROWS, any -> true)).isEmpty();
    int[] found;
    try (Arena arena = Arena.ofShared();
        VectorIndex index = build(arena)) {
      found = search(index);
      files.write(SEGMENT, FIELD, index.image(), CALIBRATION);
    }
    IndexFiles.Opened opened = files.open(SEGMENT, FIELD, ROWS, any -> true).orElseThrow();
    try (VectorIndex index = opened.index()) {
      assertThat(opened.calibration()).isEqualTo(CALIBRATION);
      assertThat(index.size()).isEqualTo(ROWS);
      assertThat(search(index)).isEqualTo(found);
    }
  }

  @Test
  void codesOfNeighboursAndWhatIsFarComeBackToo() throws IOException {
    Calibration far =
        new Calibration(100, 20, CALIBRATION.steps(), -0.25f, CALIBRATION.steps().reversed());
    VectorField dot = new VectorField(1, "v", VectorType.FLOAT32, DIM, Metric.DOT, false);
    IndexFiles files = new IndexFiles(FsStore.open(directory));
    byte[] codes;
    IndexImage.Neighbours written;
    int[] found;
    try (Arena arena = Arena.ofShared();
        VectorIndex index = build(arena, Metric.DOT);
        NeighbourCoding coding = NeighbourCoding.begin(index, StopCheck.NEVER).orElseThrow()) {
      NeighbourCoding.Writer writer = coding.writer();
      for (int row = 0; row < ROWS; row++) {
        writer.write(row);
      }
      coding.show();
      found = search(index);
      written = index.image().neighbours();
      codes = written.codes().toArray(ValueLayout.JAVA_BYTE);
      files.write(SEGMENT, dot, index.image(), far);
    }
    IndexFiles.Opened opened = files.open(SEGMENT, dot, ROWS, any -> true).orElseThrow();
    try (VectorIndex index = opened.index()) {
      assertThat(opened.calibration()).isEqualTo(far);
      assertThat(index.hasNeighbourCodes()).isTrue();
      IndexImage.Neighbours read = index.image().neighbours();
      assertThat(read.codes().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(codes);
      assertThat(read.codebook()).isEqualTo(written.codebook());
      assertThat(read.deviation()).isEqualTo(written.deviation());
      assertThat(search(index)).isEqualTo(found);
    }
  }

  @Test
  void theReaderOfTodayReadsVersion1() throws Exception {
    Files.createDirectories(directory.resolve("indexes"));
    Files.copy(
        Path.of(IndexFilesTest.class.getResource("graph-v1").toURI()), directory.resolve(FILE));
    IndexFiles.Opened opened =
        new IndexFiles(FsStore.open(directory))
            .open(SEGMENT, FIELD, ROWS, any -> true)
            .orElseThrow();
    try (Arena arena = Arena.ofShared();
        VectorIndex fresh = build(arena);
        VectorIndex index = opened.index()) {
      assertThat(opened.calibration()).isEqualTo(CALIBRATION);
      // Every row is within reach of so large an effort, whatever the links.
      assertThat(search(index)).isEqualTo(search(fresh));
    }
  }

  @Test
  void whateverByteIsDamagedTheGraphIsNotRead(@TempDir Path other) throws IOException {
    try (Arena arena = Arena.ofShared();
        VectorIndex index = build(arena)) {
      new IndexFiles(FsStore.open(directory)).write(SEGMENT, FIELD, index.image(), CALIBRATION);
    }
    byte[] whole = Files.readAllBytes(directory.resolve(FILE));
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 200; i++) {
      byte[] damaged = whole.clone();
      damaged[random.nextInt(whole.length)] ^= (byte) (1 << random.nextInt(8));
      Files.createDirectories(other.resolve("indexes"));
      Files.write(other.resolve(FILE), damaged);
      IndexFiles files = new IndexFiles(FsStore.open(other));
      Optional<IndexFiles.Opened> opened;
      try {
        opened = files.open(SEGMENT, FIELD, ROWS, any -> true);
      } catch (CorruptFileException e) {
        opened = Optional.empty();
      }
      assertThat(opened).isEmpty();
      assertThat(other.resolve(FILE)).doesNotExist();
    }
    Files.write(other.resolve(FILE), Arrays.copyOf(whole, whole.length / 2));
    assertThatThrownBy(
            () -> new IndexFiles(FsStore.open(other)).open(SEGMENT, FIELD, ROWS, any -> true))
        .isInstanceOf(CorruptFileException.class)
        .hasMessageContaining(FILE);
  }

  @Test
  void theGraphsOfOtherSegmentsAreRemoved() throws IOException {
    IndexFiles files = new IndexFiles(FsStore.open(directory));
    try (Arena arena = Arena.ofShared();
        VectorIndex index = build(arena)) {
      files.write(SEGMENT, FIELD, index.image(), CALIBRATION);
      files.write(new UUID(3, 6), FIELD, index.image(), CALIBRATION);
    }
    Files.write(directory.resolve(FILE + ".tmp"), new byte[1]);
    files.retain(List.of(SEGMENT));
    try (Stream<Path> left = Files.list(directory.resolve("indexes"))) {
      assertThat(left).containsExactly(directory.resolve(FILE));
    }
  }

  @EnabledIfSystemProperty(named = "sagitta.golden", matches = ".+")
  @Test
  void writeTheGoldenFile() throws IOException {
    Path target = Path.of(System.getProperty("sagitta.golden"));
    try (Arena arena = Arena.ofShared();
        VectorIndex index = build(arena)) {
      new IndexFiles(FsStore.open(target)).write(SEGMENT, FIELD, index.image(), CALIBRATION);
    }
    Files.move(target.resolve(FILE), target.resolve("graph-v1"));
  }

  private static VectorIndex build(Arena arena) {
    return build(arena, Metric.L2);
  }

  private static VectorIndex build(Arena arena, Metric metric) {
    SplittableRandom random = new SplittableRandom(42);
    MemorySegment memory = arena.allocate((long) ROWS * DIM * Float.BYTES + 64, 64);
    for (int i = 0; i < ROWS * DIM; i++) {
      memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) random.nextGaussian());
    }
    VectorRows rows = VectorRows.packed(VectorType.FLOAT32, DIM, ROWS, memory);
    VectorIndex index =
        VectorIndex.empty(IndexParameters.of(VectorType.FLOAT32, metric, DIM), new float[DIM]);
    index.reserve(ROWS);
    long[] hashes = random.longs(ROWS).toArray();
    index.encode(0, rows, 0, ROWS, null, hashes);
    GraphBuilder builder = new GraphBuilder(index);
    for (int row = 0; row < ROWS; row++) {
      builder.insert(row);
    }
    index.publish(ROWS);
    return index;
  }

  private static int[] search(VectorIndex index) {
    CodeQuery query = new CodeQuery(index.parameters());
    float[] values = new float[DIM];
    Arrays.fill(values, 0.25f);
    query.set(values, 0);
    GraphSearcher searcher = new GraphSearcher();
    int count =
        searcher.search(index, query, EFFORT, 10, null, ROWS, Long.MAX_VALUE, StopCheck.NEVER);
    return Arrays.copyOf(searcher.hits(), count);
  }
}
