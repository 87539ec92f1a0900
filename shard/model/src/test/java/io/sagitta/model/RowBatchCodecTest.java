// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ReadChannel;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Seeded
class RowBatchCodecTest {
  private final BufferAllocator allocator = new RootAllocator();

  @AfterEach
  void nothingLeaks() {
    assertThat(allocator.getAllocatedMemory()).isZero();
    allocator.close();
  }

  @ParameterizedTest
  @EnumSource(IdType.class)
  void everyTypeReadsBackBitForBit(IdType idType, Seed seed) {
    CollectionSchema schema = RandomRows.everyType(idType);
    List<Integer> columns = RandomRows.allColumns(schema);
    for (int rows : new int[] {0, 1, 7, 8, 9, 64, 257}) {
      try (VectorSchemaRoot root =
              RandomRows.rows(schema, columns, rows, seed.random(), allocator);
          VectorSchemaRoot decoded =
              RowBatchCodec.decode(RowBatchCodec.encode(root, columns), schema, allocator)) {
        assertThat(RandomRows.values(decoded)).isEqualTo(RandomRows.values(root));
        assertThat(decoded.getSchema()).isEqualTo(root.getSchema());
      }
    }
  }

  @Test
  void encodingADecodedBatchGivesTheSameBytes(Seed seed) {
    CollectionSchema schema = RandomRows.everyType(IdType.UTF8);
    List<Integer> columns = RandomRows.allColumns(schema);
    try (VectorSchemaRoot root = RandomRows.rows(schema, columns, 100, seed.random(), allocator)) {
      RowBatch batch = RowBatchCodec.encode(root, columns);
      try (VectorSchemaRoot decoded = RowBatchCodec.decode(batch, schema, allocator)) {
        assertThat(RowBatchCodec.encode(decoded, columns).message()).isEqualTo(batch.message());
      }
    }
  }

  @Test
  void pickedRangedAndJoinedRowsAreThoseOfTheTableAndOfNothingElse(Seed seed) {
    RandomGenerator random = seed.random();
    CollectionSchema schema = RandomRows.everyType(IdType.UUID);
    List<Integer> columns = RandomRows.allColumns(schema);
    try (VectorSchemaRoot one = RandomRows.rows(schema, columns, 90, random, allocator);
        VectorSchemaRoot two = RandomRows.rows(schema, columns, 40, random, allocator)) {
      List<RowSelection> parts = new ArrayList<>();
      List<List<Object>> expected = new ArrayList<>();
      for (int part = 0; part < 12; part++) {
        VectorSchemaRoot root = random.nextBoolean() ? one : two;
        int[] picks = random.ints(random.nextInt(20), 0, root.getRowCount()).toArray();
        int from = random.nextInt(root.getRowCount());
        int count = random.nextInt(root.getRowCount() - from);
        RowSelection selection =
            random.nextBoolean()
                ? RowSelection.picked(root, picks)
                : RowSelection.range(root, from, count);
        List<List<Object>> values = RandomRows.values(root);
        IntStream.range(0, selection.count())
            .forEach(i -> expected.add(values.get(selection.row(i))));
        parts.add(selection);
      }
      try (VectorSchemaRoot copied = RowBatchCodec.copy(parts, allocator);
          VectorSchemaRoot decoded =
              RowBatchCodec.decode(RowBatchCodec.encode(columns, parts), schema, allocator)) {
        assertThat(RandomRows.values(copied)).isEqualTo(expected);
        assertThat(RandomRows.values(decoded)).isEqualTo(expected);
      }
    }
  }

  @Test
  void bytesDependOnValuesNotOnHowTheyLayBefore(Seed seed) {
    CollectionSchema schema = RandomRows.everyType(IdType.INT64);
    List<Integer> columns = RandomRows.allColumns(schema);
    try (VectorSchemaRoot root = RandomRows.rows(schema, columns, 70, seed.random(), allocator);
        VectorSchemaRoot middle =
            RowBatchCodec.copy(List.of(RowSelection.range(root, 13, 31)), allocator)) {
      List<RowSelection> rowByRow =
          IntStream.range(13, 44)
              .mapToObj(row -> RowSelection.picked(root, new int[] {row}))
              .toList();
      ByteBuffer expected = RowBatchCodec.encode(middle, columns).message();
      assertThat(RowBatchCodec.encode(columns, RowSelection.range(root, 13, 31)).message())
          .isEqualTo(expected);
      assertThat(RowBatchCodec.encode(columns, rowByRow).message()).isEqualTo(expected);
    }
  }

  @Test
  void aColumnThatSomePartsLackIsNullThere(Seed seed) {
    RandomGenerator random = seed.random();
    CollectionSchema schema = RandomRows.everyType(IdType.UTF8);
    List<Integer> columns = RandomRows.allColumns(schema);
    List<Integer> nullable =
        columns.stream()
            .filter(id -> id == 0 || schema.field(id).orElseThrow().nullable())
            .toList();
    List<Integer> fewer = nullable.stream().filter(id -> id % 3 != 1).toList();
    try (VectorSchemaRoot old = RandomRows.rows(schema, fewer, 20, random, allocator);
        VectorSchemaRoot fresh = RandomRows.rows(schema, columns, 30, random, allocator)) {
      List<RowSelection> parts =
          List.of(
              RowSelection.range(old, 5, 9),
              RowSelection.picked(fresh, new int[] {3, 1, 29}),
              RowSelection.all(old));
      List<List<Object>> expected = new ArrayList<>();
      for (RowSelection part : parts) {
        for (int i = 0; i < part.count(); i++) {
          List<Object> row = new ArrayList<>();
          for (int id : nullable) {
            List<Integer> there = part.root().equals(old) ? fewer : columns;
            row.add(
                there.contains(id)
                    ? RandomRows.values(part.root()).get(part.row(i)).get(there.indexOf(id))
                    : null);
          }
          expected.add(row);
        }
      }
      RowBatch batch =
          new RowBatch(
              nullable,
              expected.size(),
              RowBatchCodec.encodeMessage(
                  ArrowSchemas.batchSchema(schema, nullable), parts, allocator));
      try (VectorSchemaRoot decoded = RowBatchCodec.decode(batch, schema, allocator)) {
        assertThat(RandomRows.values(decoded)).isEqualTo(expected);
      }
    }
  }

  @Test
  void anyArrowReaderUnderstandsTheMessage(Seed seed) throws IOException {
    CollectionSchema schema = RandomRows.everyType(IdType.UTF8);
    List<Integer> columns = RandomRows.allColumns(schema);
    try (VectorSchemaRoot root = RandomRows.rows(schema, columns, 50, seed.random(), allocator)) {
      ByteBuffer message = RowBatchCodec.encode(root, columns).message();
      byte[] bytes = new byte[message.remaining()];
      message.get(bytes);
      try (ArrowRecordBatch batch =
              MessageSerializer.deserializeRecordBatch(
                  new ReadChannel(Channels.newChannel(new ByteArrayInputStream(bytes))),
                  allocator);
          VectorSchemaRoot loaded = VectorSchemaRoot.create(root.getSchema(), allocator)) {
        new VectorLoader(loaded).load(batch);
        assertThat(RandomRows.values(loaded)).isEqualTo(RandomRows.values(root));
      }
    }
  }

  @Test
  void piecesHoldAllRowsInOrderAndStayBelowTheLimit(Seed seed) {
    CollectionSchema schema = RandomRows.everyType(IdType.INT64);
    List<Integer> columns = RandomRows.allColumns(schema);
    try (VectorSchemaRoot root = RandomRows.rows(schema, columns, 200, seed.random(), allocator)) {
      int overhead = RowSizes.overhead(root);
      for (int limit : new int[] {overhead + 2_000, overhead + 10_000, 1 << 20}) {
        List<List<Object>> read = new ArrayList<>();
        for (RowBatch piece : RowBatchCodec.pieces(columns, RowSelection.all(root), limit)) {
          assertThat(piece.message().remaining()).isLessThanOrEqualTo(limit);
          try (VectorSchemaRoot decoded = RowBatchCodec.decode(piece, schema, allocator)) {
            read.addAll(RandomRows.values(decoded));
          }
        }
        assertThat(read).isEqualTo(RandomRows.values(root));
      }
      assertThat(RowBatchCodec.pieces(columns, RowSelection.range(root, 0, 0), 1 << 20)).isEmpty();
    }
  }

  @Test
  void aRowBeyondTheLimitIsRefusedByItsNumber() {
    CollectionSchema schema =
        new CollectionSchema(
            1,
            IdType.INT64,
            List.of(new PayloadField(1, "text", PayloadType.of(PayloadType.Kind.UTF8))));
    List<Integer> columns = List.of(0, 1);
    try (VectorSchemaRoot root =
        VectorSchemaRoot.create(ArrowSchemas.batchSchema(schema, columns), allocator)) {
      for (int row = 0; row < 3; row++) {
        ((BigIntVector) root.getVector(0)).setSafe(row, row);
        ((VarCharVector) root.getVector(1))
            .setSafe(row, new byte[row == 2 ? RowBatchCodec.ROW_BYTES_MAX : 5]);
      }
      root.setRowCount(3);
      assertThatThrownBy(
              () ->
                  RowBatchCodec.pieces(
                      columns, RowSelection.all(root), RowBatchCodec.PIECE_BYTES_MAX))
          .isInstanceOf(SagittaException.class)
          .hasMessageStartingWith("row 2 takes 983")
          .extracting(e -> ((SagittaException) e).code())
          .isEqualTo(ErrorCode.LIMIT);
    }
  }

  @Test
  void aRowOfExactlyTheLimitFitsInAPiece() {
    CollectionSchema schema =
        new CollectionSchema(
            1,
            IdType.INT64,
            List.of(new PayloadField(1, "bytes", PayloadType.of(PayloadType.Kind.BINARY))));
    List<Integer> columns = List.of(0, 1);
    try (VectorSchemaRoot root =
        VectorSchemaRoot.create(ArrowSchemas.batchSchema(schema, columns), allocator)) {
      ((BigIntVector) root.getVector(0)).setSafe(0, 1);
      ((org.apache.arrow.vector.VarBinaryVector) root.getVector(1))
          .setSafe(0, new byte[RowBatchCodec.ROW_BYTES_MAX - 14]);
      root.setRowCount(1);
      assertThat(RowBatchCodec.rowBytes(RowSelection.all(root)))
          .containsExactly(RowBatchCodec.ROW_BYTES_MAX);
      List<RowBatch> pieces =
          RowBatchCodec.pieces(columns, RowSelection.all(root), RowBatchCodec.PIECE_BYTES_MAX);
      assertThat(pieces).hasSize(1);
      assertThat(pieces.getFirst().message().remaining())
          .isLessThanOrEqualTo(RowBatchCodec.PIECE_BYTES_MAX);
    }
  }

  @Test
  void aDamagedMessageIsRefusedOrReadsAsSomeRowsButNothingElseHappens(Seed seed) {
    RandomGenerator random = seed.random();
    CollectionSchema schema = RandomRows.everyType(IdType.UTF8);
    List<Integer> columns = RandomRows.allColumns(schema);
    byte[] good;
    try (VectorSchemaRoot root = RandomRows.rows(schema, columns, 9, random, allocator)) {
      ByteBuffer message = RowBatchCodec.encode(root, columns).message();
      good = new byte[message.remaining()];
      message.get(good);
    }
    int bodyOffset = IpcMessage.parse(ByteBuffer.wrap(good)).bodyOffset();
    int refused = 0;
    for (int bit = 0; bit < good.length * 8; bit += bit < bodyOffset * 8 ? 1 : 53) {
      byte[] bad = good.clone();
      bad[bit / 8] ^= (byte) (1 << bit % 8);
      refused += isRefused(bad, 9, schema, columns) ? 1 : 0;
    }
    assertThat(refused).isPositive();
    for (int length = 0; length < good.length; length++) {
      assertThat(isRefused(java.util.Arrays.copyOf(good, length), 9, schema, columns)).isTrue();
    }
    assertThat(isRefused(java.util.Arrays.copyOf(good, good.length + 8), 9, schema, columns))
        .isTrue();
    assertThat(isRefused(good, 8, schema, columns)).isTrue();
    assertThat(isRefused(good, 9, schema, columns.subList(0, columns.size() - 1))).isTrue();
  }

  @Test
  void aMessageThatClaimsMoreThanItHoldsIsRefused() {
    CollectionSchema schema = RandomRows.everyType(IdType.INT64);
    for (int fieldId : new int[] {1, 2, 11, 13, 14, 37, 45, 47, 48}) {
      List<Integer> columns = List.of(fieldId);
      int nodes = RowBatchCodecTest.nodes(schema, fieldId);
      for (long claimed : new long[] {Integer.MAX_VALUE, 1L << 20, -1, 1L << 40}) {
        long[] claims = new long[2 * nodes];
        for (int i = 0; i < nodes; i++) {
          claims[2 * i] = claimed;
        }
        byte[] message =
            IpcMessage.header((int) Math.min(claimed, Integer.MAX_VALUE), claims, new long[6], 0);
        assertThat(isRefused(message, (int) claimed, schema, columns)).isTrue();
        assertThat(isRefused(message, Integer.MAX_VALUE, schema, columns)).isTrue();
      }
    }
    assertThat(isRefused(new byte[0], 0, schema, List.of(0, 13, 13))).isTrue();
  }

  private static int nodes(CollectionSchema schema, int fieldId) {
    int nodes = 0;
    var fields =
        new java.util.ArrayDeque<>(ArrowSchemas.batchSchema(schema, List.of(fieldId)).getFields());
    while (!fields.isEmpty()) {
      nodes++;
      fields.addAll(fields.pop().getChildren());
    }
    return nodes;
  }

  @Test
  void idsAreCheckedAtTheDoor() {
    CollectionSchema schema = new CollectionSchema(1, IdType.UTF8, List.of());
    for (byte[] id :
        List.of(
            new byte[0],
            new byte[513],
            new byte[] {(byte) 0xc0, (byte) 0x80},
            new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80},
            "\u00e9".getBytes(StandardCharsets.ISO_8859_1))) {
      try (VectorSchemaRoot root =
          VectorSchemaRoot.create(ArrowSchemas.batchSchema(schema, List.of(0)), allocator)) {
        ((VarCharVector) root.getVector(0)).setSafe(0, id);
        root.setRowCount(1);
        RowBatch batch = RowBatchCodec.encode(root, List.of(0));
        assertThatThrownBy(() -> RowBatchCodec.decode(batch, schema, allocator))
            .isInstanceOf(SagittaException.class);
      }
    }
  }

  @Test
  void aCharacterCutBetweenTwoValuesIsRefused() {
    CollectionSchema schema = new CollectionSchema(1, IdType.UTF8, List.of());
    byte[] bird = "\ud83d\udc26".getBytes(StandardCharsets.UTF_8);
    try (VectorSchemaRoot root =
        VectorSchemaRoot.create(ArrowSchemas.batchSchema(schema, List.of(0)), allocator)) {
      ((VarCharVector) root.getVector(0)).setSafe(0, bird, 0, 2);
      ((VarCharVector) root.getVector(0)).setSafe(1, bird, 2, 2);
      root.setRowCount(2);
      RowBatch batch = RowBatchCodec.encode(root, List.of(0));
      assertThatThrownBy(() -> RowBatchCodec.decode(batch, schema, allocator))
          .hasMessageContaining("not valid UTF-8");
    }
  }

  @Test
  void conditionsTravelBesideTheFields(Seed seed) {
    CollectionSchema schema = RandomRows.everyType(IdType.INT64);
    List<Integer> columns = List.of(RowBatch.COLUMN_ID, RowBatch.COLUMN_IF_VERSION, 3);
    try (VectorSchemaRoot root = RandomRows.rows(schema, columns, 30, seed.random(), allocator);
        VectorSchemaRoot decoded =
            RowBatchCodec.decode(RowBatchCodec.encode(root, columns), schema, allocator)) {
      assertThat(RandomRows.values(decoded)).isEqualTo(RandomRows.values(root));
      assertThat(decoded.getVector(ArrowSchemas.IF_VERSION)).isNotNull();
    }
  }

  /**
   * True when refused with a clear error, false when it gave rows; anything else fails the test.
   */
  private boolean isRefused(
      byte[] message, int rows, CollectionSchema schema, List<Integer> columns) {
    try (VectorSchemaRoot root =
        RowBatchCodec.decode(
            new RowBatch(columns, rows, ByteBuffer.wrap(message)), schema, allocator)) {
      RandomRows.values(root);
      return false;
    } catch (SagittaException e) {
      assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
      return true;
    }
  }
}
