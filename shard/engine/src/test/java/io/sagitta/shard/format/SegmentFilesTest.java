// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Field;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PointId;
import io.sagitta.model.RandomRows;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.RowSelection;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.segment.RowChunk;
import io.sagitta.shard.store.FsStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Seeded
class SegmentFilesTest {
  private static final UUID SEGMENT = UUID.fromString("00112233-4455-6677-8899-aabbccddeeff");

  private final BufferAllocator allocator = new RootAllocator();

  @TempDir private Path directory;

  @AfterEach
  void nothingLeaks() {
    assertThat(allocator.getAllocatedMemory()).isZero();
    allocator.close();
  }

  @ParameterizedTest
  @EnumSource(IdType.class)
  void everyTypeReadsBackBitForBit(IdType idType, Seed seed) throws IOException {
    CollectionSchema schema = RandomRows.everyType(idType);
    List<Integer> columns = RandomRows.allColumns(schema);
    RandomGenerator random = seed.random();
    try (VectorSchemaRoot one = RandomRows.rows(schema, columns, 1, random, allocator);
        VectorSchemaRoot two = RandomRows.rows(schema, columns, 300, random, allocator);
        VectorSchemaRoot none = RandomRows.rows(schema, columns, 0, random, allocator);
        VectorSchemaRoot three = RandomRows.rows(schema, columns, 77, random, allocator)) {
      RowsSource source = new RowsSource(SEGMENT, schema, List.of(one, two, none, three));
      writeAndCompare(source);
    }
  }

  @Test
  void aSegmentWithoutRowsIsASegment() throws IOException {
    CollectionSchema schema = RandomRows.everyType(IdType.UTF8);
    writeAndCompare(new RowsSource(SEGMENT, schema, List.of()));
  }

  @Test
  void aCollectionOfIdsAloneIsASegment(Seed seed) throws IOException {
    CollectionSchema schema = new CollectionSchema(1, IdType.INT64, List.of());
    try (VectorSchemaRoot rows =
        RandomRows.rows(schema, List.of(0), 100, seed.random(), allocator)) {
      writeAndCompare(new RowsSource(SEGMENT, schema, List.of(rows)));
    }
  }

  @Test
  void aFieldAddedLaterIsNullInEarlierChunksAndWhollyNullInEarlierSegments(Seed seed)
      throws IOException {
    RandomGenerator random = seed.random();
    CollectionSchema all = RandomRows.everyType(IdType.INT64);
    CollectionSchema now =
        new CollectionSchema(
            8, IdType.INT64, all.fields().stream().filter(Field::nullable).toList());
    CollectionSchema before =
        new CollectionSchema(
            7, IdType.INT64, now.fields().stream().filter(f -> f.fieldId() % 4 < 2).toList());
    try (VectorSchemaRoot old =
            RandomRows.rows(before, RandomRows.allColumns(before), 70, random, allocator);
        VectorSchemaRoot fresh =
            RandomRows.rows(now, RandomRows.allColumns(now), 70, random, allocator)) {
      writeAndCompare(new RowsSource(SEGMENT, now, List.of(old, fresh)));
      UUID earlier = new UUID(1, 1);
      FsStore store = FsStore.open(directory);
      SegmentWriter.write(new RowsSource(earlier, before, List.of(old)), store, allocator);
      try (MappedSegment mapped = MappedSegment.open(store, earlier, allocator)) {
        VectorField added =
            now.vectorFields().stream()
                .filter(f -> before.field(f.fieldId()).isEmpty())
                .findFirst()
                .orElseThrow();
        assertThat(mapped.vectors(added).isAbsent()).isTrue();
        assertThat(mapped.vectors(added).isNull(69)).isTrue();
      }
    }
  }

  @Test
  void bytesDoNotDependOnHowRowsWereChunked(Seed seed) throws IOException {
    RandomGenerator random = seed.random();
    CollectionSchema schema = RandomRows.everyType(IdType.UTF8);
    List<Integer> columns = RandomRows.allColumns(schema);
    List<VectorSchemaRoot> pieces = new ArrayList<>();
    try (VectorSchemaRoot rows = RandomRows.rows(schema, columns, 500, random, allocator)) {
      int from = 0;
      while (from < 500) {
        int count = Math.min(500 - from, 1 + random.nextInt(90));
        pieces.add(RowBatchCodec.copy(List.of(RowSelection.range(rows, from, count)), allocator));
        from += count;
      }
      FsStore whole = FsStore.open(directory.resolve("whole"));
      FsStore cut = FsStore.open(directory.resolve("cut"));
      List<CheckpointFile> files =
          SegmentWriter.write(new RowsSource(SEGMENT, schema, List.of(rows)), whole, allocator);
      assertThat(SegmentWriter.write(new RowsSource(SEGMENT, schema, pieces), cut, allocator))
          .isEqualTo(files);
      for (CheckpointFile file : files) {
        assertThat(directory.resolve("cut").resolve(file.name()))
            .hasSameBinaryContentAs(directory.resolve("whole").resolve(file.name()))
            .hasSize(file.length());
      }
    } finally {
      pieces.forEach(VectorSchemaRoot::close);
    }
  }

  @Test
  void theNewestOfManyRowsWithOneIdIsFoundFirst(Seed seed) throws IOException {
    RandomGenerator random = seed.random();
    CollectionSchema schema = new CollectionSchema(1, IdType.UTF8, List.of());
    try (VectorSchemaRoot rows =
        VectorSchemaRoot.create(SegmentWriter.idSchema(schema), allocator)) {
      Map<String, List<Integer>> ordinals = new HashMap<>();
      for (int row = 0; row < 3_000; row++) {
        String id = "id-" + (random.nextInt(3) == 0 ? 7 : random.nextInt(1_000));
        ((org.apache.arrow.vector.VarCharVector) rows.getVector(0))
            .setSafe(row, id.getBytes(java.nio.charset.StandardCharsets.UTF_8));
        ordinals.computeIfAbsent(id, unused -> new ArrayList<>()).add(row);
      }
      rows.setRowCount(3_000);
      FsStore store = FsStore.open(directory);
      SegmentWriter.write(new RowsSource(SEGMENT, schema, List.of(rows)), store, allocator);
      try (MappedSegment mapped = MappedSegment.open(store, SEGMENT, allocator)) {
        ordinals.forEach(
            (id, expected) -> {
              List<Integer> found = new ArrayList<>();
              int row = mapped.find(new PointId.Utf8(id).canonicalBytes());
              while (row >= 0) {
                found.addFirst(row);
                row = mapped.previous(row);
              }
              assertThat(found).isEqualTo(expected);
            });
        assertThat(mapped.find(new PointId.Utf8("absent").canonicalBytes())).isEqualTo(-1);
      }
    }
  }

  @Test
  void vectorsTakenOutOfAChunkOutliveTheSegment(Seed seed) throws IOException {
    CollectionSchema schema = RandomRows.everyType(IdType.INT64);
    List<Integer> columns = RandomRows.allColumns(schema);
    FsStore store = FsStore.open(directory);
    try (VectorSchemaRoot rows = RandomRows.rows(schema, columns, 50, seed.random(), allocator)) {
      SegmentWriter.write(new RowsSource(SEGMENT, schema, List.of(rows)), store, allocator);
      MappedSegment mapped = MappedSegment.open(store, SEGMENT, allocator);
      FieldVector column = mapped.chunks().getFirst().column(13);
      org.apache.arrow.vector.util.TransferPair out = column.getTransferPair(allocator);
      out.splitAndTransfer(8, 20);
      mapped.close();
      try (FieldVector taken = (FieldVector) out.getTo()) {
        for (int i = 0; i < 20; i++) {
          assertThat(taken.getObject(i)).isEqualTo(rows.getVector("p.bool").getObject(8 + i));
        }
      }
    }
  }

  @Test
  void chunksAreCutByRowsAndBytesAtWholeWords(Seed seed) throws IOException {
    RandomGenerator random = seed.random();
    CollectionSchema schema = new CollectionSchema(1, IdType.INT64, List.of());
    try (VectorSchemaRoot rows = RandomRows.rows(schema, List.of(0), 40_000, random, allocator)) {
      FsStore store = FsStore.open(directory);
      SegmentWriter.write(new RowsSource(SEGMENT, schema, List.of(rows)), store, allocator);
      try (MappedSegment mapped = MappedSegment.open(store, SEGMENT, allocator)) {
        assertThat(mapped.chunks().stream().map(RowChunk::firstOrdinal))
            .containsExactly(0, 16_384, 32_768);
        for (int row : random.ints(1_000, 0, 40_000).toArray()) {
          PointId id = mapped.id(row);
          assertThat(mapped.id(mapped.find(id.canonicalBytes()))).isEqualTo(id);
        }
      }
    }
  }

  @Test
  void aLargeSegmentIsMappedWhole(Seed seed) throws IOException {
    RandomGenerator random = seed.random();
    int copies = 60;
    int rowsEach = 2_500;
    CollectionSchema schema =
        new CollectionSchema(
            1,
            IdType.UUID,
            List.of(
                new VectorField(1, "v", VectorType.INT8, 200, Metric.DOT, true),
                new PayloadField(2, "t", PayloadType.of(PayloadType.Kind.UTF8))));
    try (VectorSchemaRoot rows =
        RandomRows.rows(schema, List.of(0, 1, 2), rowsEach, random, allocator)) {
      RowsSource source =
          new RowsSource(SEGMENT, schema, java.util.Collections.nCopies(copies, rows));
      FsStore store = FsStore.open(directory);
      SegmentWriter.write(source, store, allocator);
      try (MappedSegment mapped = MappedSegment.open(store, SEGMENT, allocator)) {
        mapped.verify();
        assertThat(mapped.rows()).isEqualTo(copies * rowsEach);
        MappedVectors vectors = mapped.vectors((VectorField) schema.fields().getFirst());
        FixedSizeListVector expected = (FixedSizeListVector) rows.getVector(1);
        for (int ordinal : random.ints(5_000, 0, mapped.rows()).toArray()) {
          int row = ordinal % rowsEach;
          assertThat(vectors.isNull(ordinal)).isEqualTo(expected.isNull(row));
          byte[] vector = new byte[200];
          if (!expected.isNull(row)) {
            expected.getDataVector().getDataBuffer().getBytes(row * 200L, vector);
          }
          assertThat(
                  MemorySegment.mismatch(
                      vectors.data(),
                      ordinal * 256L,
                      ordinal * 256L + 200,
                      MemorySegment.ofArray(vector),
                      0,
                      200))
              .isEqualTo(-1);
          // Each id has a row in every copy; the newest is in the last one.
          byte[] id = mapped.id(ordinal).canonicalBytes();
          assertThat(mapped.find(id)).isEqualTo((copies - 1) * rowsEach + row);
          assertThat(mapped.previous(ordinal)).isEqualTo(Math.max(-1, ordinal - rowsEach));
        }
      }
    }
  }

  @Test
  void stridesAreLinesOrPowersOfTwo() {
    for (int[] expected :
        new int[][] {{1, 1}, {2, 2}, {3, 4}, {5, 8}, {33, 64}, {64, 64}, {65, 128}, {384, 384}}) {
      VectorField field = new VectorField(1, "v", VectorType.INT8, expected[0], Metric.DOT, false);
      assertThat(VectorsFile.strideBytes(field)).isEqualTo(expected[1]);
    }
  }

  private void writeAndCompare(RowsSource source) throws IOException {
    FsStore store = FsStore.open(directory);
    List<CheckpointFile> files = SegmentWriter.write(source, store, allocator);
    for (CheckpointFile file : files) {
      assertThat(Files.size(directory.resolve(file.name()))).isEqualTo(file.length());
      assertThat(
              Checksums.of(
                  MemorySegment.ofArray(Files.readAllBytes(directory.resolve(file.name())))))
          .isEqualTo(file.checksum());
    }
    assertThat(directory.toFile().list()).hasSize(files.size());
    try (MappedSegment mapped = MappedSegment.open(store, SEGMENT, allocator)) {
      mapped.verify();
      assertThat(mapped.files()).isEqualTo(files);
      assertThat(mapped.segmentId()).isEqualTo(SEGMENT);
      assertThat(mapped.schema()).isEqualTo(source.schema());
      assertThat(mapped.rows()).isEqualTo(source.rows());
      compareRows(source, mapped);
      for (VectorField field : source.schema().vectorFields()) {
        compareVectors(source, field, mapped.vectors(field));
      }
    }
    for (CheckpointFile file : files) {
      store.delete(file.name());
    }
  }

  private static void compareRows(RowsSource source, MappedSegment mapped) {
    List<List<Object>> expected = new ArrayList<>();
    List<Integer> wanted =
        source.schema().fields().stream()
            .filter(PayloadField.class::isInstance)
            .map(Field::fieldId)
            .toList();
    for (RowChunk chunk : source.chunks()) {
      for (int row = 0; row < chunk.rows(); row++) {
        List<Object> values = new ArrayList<>();
        values.add(RandomRows.value(chunk.ids(), row));
        for (int fieldId : wanted) {
          FieldVector column = chunk.column(fieldId);
          values.add(column == null ? null : RandomRows.value(column, row));
        }
        expected.add(values);
      }
    }
    List<List<Object>> found = new ArrayList<>();
    for (RowChunk chunk : mapped.chunks()) {
      assertThat(chunk.firstOrdinal()).isEqualTo(found.size());
      found.addAll(RandomRows.values(chunk.columns()));
    }
    assertThat(found).isEqualTo(expected);
    for (int row = 0; row < source.rows(); row++) {
      assertThat(mapped.version(row)).isEqualTo(source.version(row));
      PointId id = mapped.id(row);
      int newest = mapped.find(id.canonicalBytes());
      assertThat(newest).isGreaterThanOrEqualTo(row);
      assertThat(mapped.id(newest)).isEqualTo(id);
    }
  }

  private static void compareVectors(RowsSource source, VectorField field, MappedVectors mapped) {
    int bytes = field.vectorBytes();
    boolean nulls = false;
    for (RowChunk chunk : source.chunks()) {
      FieldVector column = chunk.column(field.fieldId());
      for (int row = 0; row < chunk.rows(); row++) {
        int ordinal = chunk.firstOrdinal() + row;
        boolean isNull = column == null || column.isNull(row);
        nulls |= isNull;
        byte[] expected = new byte[mapped.strideBytes()];
        if (!isNull) {
          var buffer =
              column instanceof FixedSizeListVector list
                  ? list.getDataVector().getDataBuffer()
                  : column.getDataBuffer();
          buffer.getBytes((long) row * bytes, expected, 0, bytes);
        }
        byte[] found =
            mapped
                .data()
                .asSlice((long) ordinal * mapped.strideBytes(), mapped.strideBytes())
                .toArray(ValueLayout.JAVA_BYTE);
        assertThat(found).isEqualTo(expected);
        assertThat(mapped.isNull(ordinal)).isEqualTo(isNull);
        if (field.metric() == Metric.COSINE) {
          assertThat(mapped.inverseNorms().getAtIndex(ValueLayout.JAVA_FLOAT, ordinal))
              .isEqualTo(isNull ? 0 : source.inverseNorm(field.fieldId(), ordinal));
        } else {
          assertThat(mapped.inverseNorms().byteSize()).isZero();
        }
      }
    }
    assertThat(mapped.hasNulls()).isEqualTo(nulls);
    assertThat(mapped.data().byteSize() == 0 || mapped.data().address() % 64 == 0).isTrue();
  }
}
