// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server.ipc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.flatbuffers.FlatBufferBuilder;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flight.impl.Flight.FlightData;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.ipc.WriteChannel;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.UnionMode;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class IncomingBatchesTest {
  private static final int DIM = 3;
  private static final int ROWS = 20;

  private static final Schema SCHEMA =
      new Schema(
          List.of(
              field("id", new ArrowType.Int(64, true)),
              new Field(
                  "v",
                  FieldType.nullable(new ArrowType.FixedSizeList(DIM)),
                  List.of(field("item", float32()))),
              field("text", ArrowType.Utf8.INSTANCE),
              new Field(
                  "tags",
                  FieldType.nullable(ArrowType.List.INSTANCE),
                  List.of(field("item", ArrowType.Utf8.INSTANCE)))));

  private final BufferAllocator allocator = new RootAllocator(64 << 20);
  private final IncomingFrames frames = new IncomingFrames(allocator);

  /** Closing fails where anything leaked. */
  @AfterEach
  void nothingLeaks() {
    allocator.close();
  }

  private static Field field(String name, ArrowType type) {
    return new Field(name, FieldType.nullable(type), List.of());
  }

  private static ArrowType float32() {
    return new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE);
  }

  /** A batch as a client would send it: the IPC header and the body. */
  private record Encoded(byte[] header, byte[] body) {}

  private Encoded encode() {
    try (VectorSchemaRoot root = VectorSchemaRoot.create(SCHEMA, allocator)) {
      BigIntVector ids = (BigIntVector) root.getVector("id");
      FixedSizeListVector vectors = (FixedSizeListVector) root.getVector("v");
      Float4Vector components = (Float4Vector) vectors.getDataVector();
      VarCharVector texts = (VarCharVector) root.getVector("text");
      ListVector tags = (ListVector) root.getVector("tags");
      VarCharVector tag = (VarCharVector) tags.getDataVector();
      for (int row = 0; row < ROWS; row++) {
        ids.setSafe(row, row);
        vectors.setNotNull(row);
        for (int i = 0; i < DIM; i++) {
          components.setSafe(row * DIM + i, row);
        }
        if (row % 3 == 0) {
          texts.setNull(row);
        } else {
          texts.setSafe(row, ("text " + row).getBytes(StandardCharsets.UTF_8));
        }
        int at = tags.startNewValue(row);
        tag.setSafe(at, "a".getBytes(StandardCharsets.UTF_8));
        tags.endValue(row, 1);
      }
      root.setRowCount(ROWS);
      try (ArrowRecordBatch batch = new VectorUnloader(root, true, true).getRecordBatch()) {
        byte[] header = bytes(MessageSerializer.serializeMetadata(batch, IpcOption.DEFAULT));
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        MessageSerializer.writeBatchBuffers(new WriteChannel(Channels.newChannel(body)), batch);
        return new Encoded(header, body.toByteArray());
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  private static byte[] schema(Schema schema) {
    return bytes(MessageSerializer.serializeMetadata(schema, IpcOption.DEFAULT));
  }

  private static byte[] wire(byte[] header, byte[] body) {
    return FlightData.newBuilder()
        .setDataHeader(ByteString.copyFrom(header))
        .setDataBody(ByteString.copyFrom(body))
        .build()
        .toByteArray();
  }

  /** Reads a message off the wire and, if it is one, as a batch of an open table. */
  private Optional<SagittaException> take(IncomingBatches table, byte[] wire) {
    try (IncomingFrame frame = frames.parse(new ByteArrayInputStream(wire))) {
      switch (frame) {
        case IncomingFrame.Refused refused -> {
          return Optional.of(refused.error());
        }
        case IncomingFrame.Data data -> {
          // Reading every value is what would run out of bounds.
          table.next(data).ifPresent(IncomingBatchesTest::readAll);
          return Optional.empty();
        }
      }
    } catch (SagittaException e) {
      return Optional.of(e);
    }
  }

  private static void readAll(VectorSchemaRoot root) {
    for (FieldVector vector : root.getFieldVectors()) {
      for (int row = 0; row < root.getRowCount(); row++) {
        Object value = vector.isNull(row) ? null : vector.getObject(row);
        assertThat(String.valueOf(value)).isNotNull();
      }
    }
  }

  private IncomingBatches open(Schema schema) {
    try (IncomingFrame frame =
        frames.parse(new ByteArrayInputStream(wire(schema(schema), new byte[0])))) {
      return IncomingBatches.open((IncomingFrame.Data) frame, allocator);
    }
  }

  @Test
  void aBatchIsReadAsItWasSent() {
    Encoded batch = encode();
    try (IncomingBatches table = open(SCHEMA)) {
      assertThat(take(table, wire(batch.header, batch.body))).isEmpty();
      try (IncomingFrame frame =
          frames.parse(new ByteArrayInputStream(wire(batch.header, batch.body)))) {
        VectorSchemaRoot root = table.next((IncomingFrame.Data) frame).orElseThrow();
        assertThat(root.getRowCount()).isEqualTo(ROWS);
        assertThat(root.getVector("id").getObject(7)).isEqualTo(7L);
        assertThat(root.getVector("v").getObject(7)).hasToString("[7.0,7.0,7.0]");
        assertThat(root.getVector("text").getObject(9)).isNull();
        assertThat(root.getVector("text").getObject(7)).hasToString("text 7");
      }
    }
  }

  @Test
  void aMessageCutAnywhereIsRefusedAndLeaksNothing() {
    Encoded batch = encode();
    byte[] wire = wire(batch.header, batch.body);
    try (IncomingBatches table = open(SCHEMA)) {
      for (int length = 0; length < wire.length; length++) {
        Optional<SagittaException> refused = take(table, Arrays.copyOf(wire, length));
        assertThat(refused).as("cut at %d of %d", length, wire.length).isPresent();
        assertThat(refused.get().code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
      }
      assertThat(take(table, wire)).as("the table is still good").isEmpty();
    }
  }

  @Test
  void aBodyShorterThanItsHeaderSaysIsRefused() {
    Encoded batch = encode();
    try (IncomingBatches table = open(SCHEMA)) {
      for (int length = 0; length < batch.body.length; length += 8) {
        byte[] cut = Arrays.copyOf(batch.body, length);
        assertThat(take(table, wire(batch.header, cut)).orElseThrow().getMessage())
            .contains("malformed record batch: column");
      }
    }
  }

  /** Lengths, offsets and counts of the header are overwritten by absurd ones, one at a time. */
  @Test
  void absurdLengthsAreRefusedOrHarmless() {
    Encoded batch = encode();
    long[] absurd = {
      -1, Long.MIN_VALUE, Long.MAX_VALUE, Integer.MAX_VALUE, 1L << 40, batch.body.length + 1L
    };
    try (IncomingBatches table = open(SCHEMA)) {
      int refusals = 0;
      for (int at = 0; at + Long.BYTES <= batch.header.length; at += Integer.BYTES) {
        for (long value : absurd) {
          byte[] header = batch.header.clone();
          ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).putLong(at, value);
          Optional<SagittaException> refused = take(table, wire(header, batch.body));
          refusals += refused.isPresent() ? 1 : 0;
          refused.ifPresent(IncomingBatchesTest::isCallersMistake);
        }
      }
      assertThat(refusals).isPositive();
      assertThat(take(table, wire(batch.header, batch.body))).isEmpty();
    }
  }

  private static void isCallersMistake(SagittaException e) {
    assertThat(e.code())
        .as(e.getMessage())
        .isIn(ErrorCode.INVALID_ARGUMENT, ErrorCode.LIMIT, ErrorCode.UNIMPLEMENTED);
  }

  @Test
  void offsetsThatShrinkOrRunPastTheirDataAreRefused() {
    Encoded batch = encode();
    Message message =
        Message.getRootAsMessage(ByteBuffer.wrap(batch.header).order(ByteOrder.LITTLE_ENDIAN));
    RecordBatch header = (RecordBatch) message.header(new RecordBatch());
    FieldNode first = header.nodes(0);
    assertThat(first.length()).isEqualTo(ROWS);
    // id: 2 buffers; v: 1 + 2; text: validity, then its offsets.
    int offsets = (int) header.buffers(6).offset();
    for (int value : new int[] {-1, Integer.MAX_VALUE, 100_000}) {
      byte[] body = batch.body.clone();
      ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN).putInt(offsets + 40, value);
      try (IncomingBatches table = open(SCHEMA)) {
        assertThat(take(table, wire(batch.header, body)).orElseThrow().getMessage())
            .contains("column 'text': offset ");
      }
    }
  }

  /** Arrow would grow such a vector to its rows, and leak when what it has does not fit either. */
  @Test
  void aValidityShorterThanItsRowsIsRefusedAndAbsentIsNoNulls() {
    Encoded batch = encode();
    // v's item: 60 values, none null, so that its validity could be left out.
    int validity = 3;
    try (IncomingBatches table = open(SCHEMA)) {
      for (int bytes = 1; bytes < (ROWS * DIM + 7) / 8; bytes++) {
        byte[] header = withBufferLength(batch.header, validity, bytes);
        assertThat(take(table, wire(header, batch.body)).orElseThrow().getMessage())
            .contains("column 'v': a validity of " + bytes + " bytes, expected none or 8");
      }
      byte[] absent = withBufferLength(batch.header, validity, 0);
      assertThat(take(table, wire(absent, batch.body))).isEmpty();
    }
  }

  /** The header with another length for one of its buffers: the pairs lie one after the other. */
  private static byte[] withBufferLength(byte[] header, int buffer, long length) {
    byte[] changed = header.clone();
    ByteBuffer bytes = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
    RecordBatch batch = (RecordBatch) Message.getRootAsMessage(bytes).header(new RecordBatch());
    for (int at = 0; at + 16 * batch.buffersLength() <= changed.length; at += 4) {
      boolean found = true;
      for (int i = 0; i < batch.buffersLength() && found; i++) {
        found =
            bytes.getLong(at + 16 * i) == batch.buffers(i).offset()
                && bytes.getLong(at + 16 * i + 8) == batch.buffers(i).length();
      }
      if (found) {
        bytes.putLong(at + 16 * buffer + 8, length);
        return changed;
      }
    }
    throw new AssertionError("the header's buffers were not found");
  }

  @Seeded
  @Test
  void damagedMessagesAreReadOrRefusedAndNothingElse(Seed seed) {
    RandomGenerator random = seed.random();
    Encoded batch = encode();
    try (IncomingBatches table = open(SCHEMA)) {
      for (int round = 0; round < 5_000; round++) {
        byte[] header = batch.header.clone();
        byte[] body = batch.body.clone();
        for (int i = random.nextInt(1, 5); i > 0; i--) {
          byte[] damaged = random.nextBoolean() ? header : body;
          damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
        }
        take(table, wire(header, body)).ifPresent(IncomingBatchesTest::isCallersMistake);
      }
      assertThat(take(table, wire(batch.header, batch.body))).isEmpty();
    }
  }

  @Seeded
  @Test
  void damagedSchemasAreReadOrRefusedAndNothingElse(Seed seed) {
    RandomGenerator random = seed.random();
    byte[] sound = schema(SCHEMA);
    for (int round = 0; round < 5_000; round++) {
      byte[] damaged = sound.clone();
      for (int i = random.nextInt(1, 4); i > 0; i--) {
        damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
      }
      try (IncomingFrame frame =
          frames.parse(new ByteArrayInputStream(wire(damaged, new byte[0])))) {
        IncomingBatches.open((IncomingFrame.Data) frame, allocator).close();
      } catch (SagittaException e) {
        isCallersMistake(e);
      }
    }
  }

  /** Tables of a flatbuffer may share their children: a kilobyte that stands for 2^24 fields. */
  @Test
  void aSchemaWhoseFieldsAreSharedIsCountedBeforeItIsBuilt() {
    FlatBufferBuilder builder = new FlatBufferBuilder();
    int child = 0;
    for (int level = 0; level < 24; level++) {
      int name = builder.createString("x");
      int children =
          org.apache.arrow.flatbuf.Field.createChildrenVector(
              builder, level == 0 ? new int[0] : new int[] {child, child});
      org.apache.arrow.flatbuf.Struct_.startStruct_(builder);
      int type = org.apache.arrow.flatbuf.Struct_.endStruct_(builder);
      org.apache.arrow.flatbuf.Field.startField(builder);
      org.apache.arrow.flatbuf.Field.addName(builder, name);
      org.apache.arrow.flatbuf.Field.addTypeType(builder, org.apache.arrow.flatbuf.Type.Struct_);
      org.apache.arrow.flatbuf.Field.addType(builder, type);
      org.apache.arrow.flatbuf.Field.addChildren(builder, children);
      child = org.apache.arrow.flatbuf.Field.endField(builder);
    }
    int fields = org.apache.arrow.flatbuf.Schema.createFieldsVector(builder, new int[] {child});
    org.apache.arrow.flatbuf.Schema.startSchema(builder);
    org.apache.arrow.flatbuf.Schema.addFields(builder, fields);
    int schema = org.apache.arrow.flatbuf.Schema.endSchema(builder);
    Message.startMessage(builder);
    Message.addHeaderType(builder, org.apache.arrow.flatbuf.MessageHeader.Schema);
    Message.addHeader(builder, schema);
    builder.finish(Message.endMessage(builder));
    byte[] header = builder.sizedByteArray();
    assertThat(header.length).isLessThan(4_096);
    try (IncomingFrame frame = frames.parse(new ByteArrayInputStream(wire(header, new byte[0])))) {
      assertThatThrownBy(() -> IncomingBatches.open((IncomingFrame.Data) frame, allocator))
          .satisfies(e -> assertThat(((SagittaException) e).code()).isEqualTo(ErrorCode.LIMIT));
    }
  }

  @Test
  void layoutsThatNoFieldComesFromAreRefusedByColumnAndType() {
    Field union =
        new Field(
            "u",
            FieldType.nullable(new ArrowType.Union(UnionMode.Sparse, new int[] {0})),
            List.of(field("a", new ArrowType.Int(32, true))));
    for (Field column : List.of(union, field("w", ArrowType.Utf8View.INSTANCE))) {
      assertThatThrownBy(() -> open(new Schema(List.of(column))))
          .hasMessageContaining("column '" + column.getName() + "' has type")
          .hasMessageContaining("which is not accepted");
    }
  }

  @Test
  void memoryThatIsUsedUpIsUnavailableAndLeaksNothing() {
    try (BufferAllocator small = allocator.newChildAllocator("small", 0, 1 << 10)) {
      byte[] wire = wire(schema(SCHEMA), new byte[1 << 16]);
      IncomingFrame frame = new IncomingFrames(small).parse(new ByteArrayInputStream(wire));
      assertThat(frame)
          .isInstanceOfSatisfying(
              IncomingFrame.Refused.class,
              refused -> {
                assertThat(refused.error().code()).isEqualTo(ErrorCode.UNAVAILABLE);
                assertThat(refused.error().retryAfterMs()).isPresent();
              });
    }
  }

  @Test
  void unknownFieldsOfANewerClientArePassedOver() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    out.writeUInt64(77, Long.MAX_VALUE);
    out.writeFixed64(78, 1);
    out.writeFixed32(79, 1);
    out.writeString(80, "later");
    out.flush();
    bytes.write(wire(schema(SCHEMA), new byte[0]));
    try (IncomingFrame frame = frames.parse(new ByteArrayInputStream(bytes.toByteArray()))) {
      try (IncomingBatches table = IncomingBatches.open((IncomingFrame.Data) frame, allocator)) {
        assertThat(table.schema().getFields()).hasSize(4);
      }
    }
  }
}
