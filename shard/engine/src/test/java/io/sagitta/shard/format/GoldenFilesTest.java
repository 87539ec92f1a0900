// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.RandomRows;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.RowSelection;
import io.sagitta.model.VectorField;
import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.segment.RowChunk;
import io.sagitta.shard.store.FileStore;
import io.sagitta.shard.store.FsStore;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A checkpoint of each format version, written when the version was born and never again: every
 * type of ids, vectors and payload, nulls, ids with several rows. What it holds stands in {@code
 * content.txt} beside it.
 *
 * <p>For a new version: {@code ./mvnw -Dfast -pl :sagitta-shard-engine -am test
 * -Dtest=GoldenFilesTest -Dsurefire.failIfNoSpecifiedTests=false -Dsagitta.golden=DIRECTORY}, then
 * move the directory to the resources.
 */
class GoldenFilesTest {
  private static final String VERSION_1 = "v1";
  private static final int ROWS = 12;

  private final BufferAllocator allocator = new RootAllocator();

  @TempDir private Path directory;

  @AfterEach
  void nothingLeaks() {
    assertThat(allocator.getAllocatedMemory()).isZero();
    allocator.close();
  }

  @Test
  void theReaderOfTodayReadsVersion1() throws Exception {
    FileStore store = FsStore.open(copyOfGolden());
    CheckpointDirectory checkpoint = CheckpointDirectory.open(store);
    assertThat(checkpoint.damaged()).isEmpty();
    assertThat(checkpoint.verify(step -> {})).isEmpty();
    Manifest manifest = checkpoint.current().orElseThrow();
    assertThat(content(store, manifest))
        .isEqualTo(Files.readString(golden().resolve("content.txt"), StandardCharsets.UTF_8));
  }

  @Test
  void theWriterOfTodayWritesTheSameBytes() throws Exception {
    Path from = copyOfGolden();
    FileStore store = FsStore.open(from);
    Manifest manifest = CheckpointDirectory.open(store).current().orElseThrow();
    Path to = Files.createDirectory(directory.resolve("again"));
    FileStore again = FsStore.open(to);
    List<CheckpointFile> files = new ArrayList<>();
    for (Manifest.SegmentRef ref : manifest.segments()) {
      try (MappedSegment segment = MappedSegment.open(store, ref.segmentId(), allocator);
          MappedSource source = new MappedSource(segment, allocator)) {
        files.addAll(SegmentWriter.write(source, again, allocator));
      }
      if (ref.livesIndex().isPresent()) {
        long index = ref.livesIndex().getAsLong();
        long[] alive = LivesFile.read(store, ref.segmentId(), index, ref.rows());
        files.add(LivesFile.write(again, ref.segmentId(), index, alive, ref.rows()));
      }
    }
    long index = manifest.sessionsIndex().orElseThrow();
    files.add(SessionsFile.write(again, index, SessionsFile.read(store, index)));
    assertThat(files).isEqualTo(manifest.files());
    for (CheckpointFile file : files) {
      assertThat(to.resolve(file.name())).hasSameBinaryContentAs(from.resolve(file.name()));
    }
    assertThat(manifest.toBytes()).isEqualTo(Files.readAllBytes(from.resolve("manifest.1")));
  }

  @Test
  @EnabledIfSystemProperty(named = "sagitta.golden", matches = ".+")
  void writeGoldenFiles() throws IOException {
    Path to = Path.of(System.getProperty("sagitta.golden"));
    FileStore store = FsStore.open(to);
    List<CheckpointFile> files = new ArrayList<>();
    List<Manifest.SegmentRef> refs = new ArrayList<>();
    for (IdType type : IdType.values()) {
      UUID id = new UUID(0x901d_0000L, type.ordinal());
      CollectionSchema schema = RandomRows.everyType(type);
      try (VectorSchemaRoot rows =
              RandomRows.rows(
                  schema,
                  RandomRows.allColumns(schema),
                  ROWS,
                  new SplittableRandom(type.ordinal()),
                  allocator);
          VectorSchemaRoot withTwins = twins(type, rows)) {
        files.addAll(
            SegmentWriter.write(new RowsSource(id, schema, List.of(withTwins)), store, allocator));
        if (type == IdType.UTF8) {
          files.add(LivesFile.write(store, id, 77, new long[] {0x3f0f}, withTwins.getRowCount()));
        }
        refs.add(
            new Manifest.SegmentRef(
                id,
                withTwins.getRowCount(),
                type == IdType.UTF8 ? OptionalLong.of(77) : OptionalLong.empty()));
      }
    }
    files.add(SessionsFile.write(store, 77, "sessions".getBytes(StandardCharsets.UTF_8)));
    byte[] state = "state".getBytes(StandardCharsets.UTF_8);
    Manifest manifest = new Manifest(1, 5, 77, 3, state, refs, OptionalLong.of(77), files);
    Files.write(to.resolve("manifest.1"), manifest.toBytes());
    Files.writeString(to.resolve("content.txt"), content(store, manifest));
  }

  /** The rows, and for one type of ids some of them once more. */
  private VectorSchemaRoot twins(IdType type, VectorSchemaRoot rows) {
    int[] twice = type == IdType.UTF8 ? new int[] {3, 3} : new int[0];
    return RowBatchCodec.copy(
        List.of(RowSelection.all(rows), RowSelection.picked(rows, twice)), allocator);
  }

  /** Everything a checkpoint holds, as text. */
  private String content(FileStore store, Manifest manifest) throws IOException {
    StringBuilder out = new StringBuilder();
    out.append("term ").append(manifest.term());
    out.append(" index ").append(manifest.logIndex());
    out.append(" state ").append(manifest.stateVersion()).append(' ');
    out.append(new String(manifest.state(), StandardCharsets.UTF_8)).append('\n');
    long sessions = manifest.sessionsIndex().orElseThrow();
    out.append(new String(SessionsFile.read(store, sessions), StandardCharsets.UTF_8));
    out.append('\n');
    for (Manifest.SegmentRef ref : manifest.segments()) {
      out.append("segment ").append(ref.segmentId()).append('\n');
      if (ref.livesIndex().isPresent()) {
        long[] alive =
            LivesFile.read(store, ref.segmentId(), ref.livesIndex().getAsLong(), ref.rows());
        out.append("alive ").append(Long.toHexString(alive[0])).append('\n');
      }
      try (MappedSegment segment = MappedSegment.open(store, ref.segmentId(), allocator)) {
        append(out, segment);
      }
    }
    return out.toString();
  }

  private static void append(StringBuilder out, MappedSegment segment) {
    // Storage came later, and is no matter of files.
    out.append(segment.schema().toString().replace(", storage=MAPPED", "")).append('\n');
    for (RowChunk chunk : segment.chunks()) {
      List<List<Object>> values = RandomRows.values(chunk.columns());
      for (int row = 0; row < chunk.rows(); row++) {
        int ordinal = chunk.firstOrdinal() + row;
        out.append(ordinal).append(' ').append(segment.id(ordinal));
        out.append(" version ").append(segment.version(ordinal));
        out.append(" newest ").append(segment.find(segment.id(ordinal).canonicalBytes()));
        out.append(" previous ").append(segment.previous(ordinal));
        out.append(' ').append(values.get(row)).append('\n');
        for (VectorField field : segment.schema().vectorFields()) {
          append(out, field, segment.vectors(field), ordinal);
        }
      }
    }
  }

  private static void append(
      StringBuilder out, VectorField field, MappedVectors vectors, int ordinal) {
    out.append("  ").append(field.name()).append(' ');
    if (vectors.isNull(ordinal)) {
      out.append("null\n");
      return;
    }
    byte[] bytes =
        vectors
            .data()
            .asSlice((long) ordinal * vectors.strideBytes(), field.vectorBytes())
            .toArray(ValueLayout.JAVA_BYTE);
    out.append(HexFormat.of().formatHex(bytes));
    if (vectors.inverseNorms().byteSize() > 0) {
      out.append(' ').append(vectors.inverseNorms().getAtIndex(ValueLayout.JAVA_FLOAT, ordinal));
    }
    out.append('\n');
  }

  private Path copyOfGolden() throws Exception {
    Path copy = Files.createDirectory(directory.resolve("golden"));
    try (Stream<Path> files = Files.list(golden())) {
      for (Path file : files.filter(f -> !f.endsWith(".gitattributes")).toList()) {
        Files.copy(file, copy.resolve(file.getFileName().toString()));
      }
    }
    Files.delete(copy.resolve("content.txt"));
    return copy;
  }

  private static Path golden() throws URISyntaxException {
    return Path.of(GoldenFilesTest.class.getResource(VERSION_1).toURI());
  }
}
