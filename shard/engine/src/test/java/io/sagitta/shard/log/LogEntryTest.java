// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.RowBatch;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.SlotRange;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorStorage;
import io.sagitta.model.VectorType;
import io.sagitta.model.WriteKey;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriterId;
import io.sagitta.shard.Candidates;
import io.sagitta.shard.FreezePolicy;
import io.sagitta.shard.ShardInit;
import io.sagitta.shard.log.proto.EntryHeader;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class LogEntryTest {
  private static final ShardId SHARD = new ShardId(new UUID(1, 2));
  private static final WriteKey KEY = new WriteKey(new WriterId(new UUID(3, 4), 99), 7, 5, 2);
  private static final CollectionSchema SCHEMA =
      new CollectionSchema(
          3,
          IdType.UUID,
          List.of(
              new VectorField(1, "v", VectorType.BFLOAT16, 9, Metric.DOT, true),
              new VectorField(5, "w", VectorType.INT8, 9, Metric.L2, false, VectorStorage.MEMORY),
              new PayloadField(4, "tags", PayloadType.listOf(PayloadType.Kind.UTF8))));

  @Test
  void initSaysWhatTheShardIs() throws IOException {
    ShardInit init =
        new ShardInit(
            SHARD,
            new CollectionId(new UUID(5, 6)),
            3,
            17,
            new SlotRange(100, 200),
            SCHEMA,
            1_000,
            new FreezePolicy(10, 20, 30));

    LogEntry.Init entry = (LogEntry.Init) decode(ShardEntries.init(init, 55));

    assertThat(entry.init()).isEqualTo(init);
    assertThat(entry.header().timeMs()).isEqualTo(55);
  }

  @Test
  void rowsKeepTheirBytesModeAndKey() throws IOException {
    RowBatch batch = batch(1, 2, 3, 4, 5);
    for (WriteMode mode : WriteMode.values()) {
      LogEntry entry =
          decode(
              ShardEntries.rows(
                  new ShardWrite.Rows(SHARD, 17, 3, Optional.of(KEY), "who", mode, batch), 55));

      RowBatch rows =
          switch (entry) {
            case LogEntry.Put put when put.mode() == mode -> put.rows();
            case LogEntry.Delete delete when mode == WriteMode.DELETE -> delete.rows();
            default -> throw new AssertionError(entry);
          };
      assertThat(rows.columns()).isEqualTo(batch.columns());
      assertThat(rows.rows()).isEqualTo(batch.rows());
      assertThat(rows.message()).isEqualTo(batch.message());
      assertThat(entry.header())
          .isEqualTo(new LogEntry.Header(SHARD, 17, 3, Optional.of(KEY), 55, "who"));
    }
  }

  @Test
  void filtersKeepEveryValueExactly() throws IOException {
    FilterText filter =
        new FilterText(
            "a = $1",
            Arrays.asList(
                null,
                true,
                Long.MIN_VALUE,
                new BigInteger("18446744073709551615"),
                -0.0,
                new BigDecimal("1.10"),
                "text",
                Arrays.asList(1L, null, "x")));
    Candidates candidates = new Candidates(12, Optional.of(batch(9, 9)));
    ShardWrite.SetWhere set =
        new ShardWrite.SetWhere(
            SHARD, 17, 3, Optional.empty(), "who", filter, Optional.of(batch(8)), List.of(4, 6));

    LogEntry.SetWhere entry = (LogEntry.SetWhere) decode(ShardEntries.setWhere(set, candidates, 1));

    assertThat(entry.filter()).isEqualTo(filter);
    assertThat(entry.candidates().viewIndex()).isEqualTo(12);
    assertThat(entry.candidates().ids().orElseThrow().message()).isEqualTo(batch(9, 9).message());
    assertThat(entry.values().orElseThrow().message()).isEqualTo(batch(8).message());
    assertThat(entry.unset()).containsExactly(4, 6);
  }

  @Test
  void candidatesThatDoNotFitAreLeftToApply() throws IOException {
    Candidates candidates =
        new Candidates(12, Optional.of(batch(new byte[ShardEntries.ENTRY_BYTES_MAX])));
    ShardWrite.DeleteWhere delete =
        new ShardWrite.DeleteWhere(
            SHARD, 17, 3, Optional.empty(), "who", new FilterText("a = 1", List.of()));

    ByteBuffer bytes = ShardEntries.deleteWhere(delete, candidates, 1);

    assertThat(bytes.remaining()).isLessThan(200);
    assertThat(((LogEntry.DeleteWhere) decode(bytes)).candidates().ids()).isEmpty();
  }

  @Test
  void anEntryAboveItsLimitIsRefusedBeforeItIsLogged() {
    RowBatch large = batch(new byte[ShardEntries.ENTRY_BYTES_MAX]);

    assertThatThrownBy(
            () ->
                ShardEntries.rows(
                    new ShardWrite.Rows(
                        SHARD, 17, 3, Optional.empty(), "who", WriteMode.UPSERT, large),
                    1))
        .isInstanceOfSatisfying(
            SagittaException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.LIMIT));
  }

  @Test
  void schemaSlotsAndFreezeAreRead() throws IOException {
    assertThat(((LogEntry.SchemaChange) decode(ShardEntries.schemaChange(SHARD, 18, SCHEMA, 1))))
        .extracting(LogEntry.SchemaChange::schema)
        .isEqualTo(SCHEMA);
    SlotRange slots = new SlotRange(1, 2);
    assertThat(((LogEntry.SlotChange) decode(ShardEntries.slotChange(SHARD, 18, slots, 1))))
        .extracting(LogEntry.SlotChange::slots)
        .isEqualTo(slots);
    assertThat(decode(ShardEntries.freeze(SHARD, 1))).isInstanceOf(LogEntry.Freeze.class);
  }

  @Test
  void whatIsNotKnownIsRefused() {
    EntryHeader freeze =
        EntryHeader.newBuilder()
            .setFormat(1)
            .setType(EntryType.FREEZE.number())
            .setShard(com.google.protobuf.ByteString.copyFrom(new byte[16]))
            .build();
    refuses(freeze.toBuilder().setFormat(2).build(), "format 2");
    refuses(freeze.toBuilder().setType(77).build(), "type 77");
    refuses(freeze.toBuilder().setType(EntryType.PUT.number()).build(), "body");
    refuses(
        freeze.toBuilder().setShard(com.google.protobuf.ByteString.copyFrom(new byte[3])).build(),
        "3 bytes");
    refuses(
        freeze.toBuilder()
            .setUnknownFields(
                com.google.protobuf.UnknownFieldSet.newBuilder().mergeVarintField(500, 1).build())
            .build(),
        "500");
    assertThatThrownBy(() -> decode(ByteBuffer.wrap(new byte[] {1, 2})))
        .isInstanceOf(EntryFormatException.class);
    assertThatThrownBy(() -> decode(ByteBuffer.wrap(new byte[] {127, 127, 127, 127, 0})))
        .isInstanceOf(EntryFormatException.class);
    assertThatThrownBy(() -> decode(ByteBuffer.wrap(new byte[] {2, 0, 0, 0, -1, -1})))
        .isInstanceOf(EntryFormatException.class);
  }

  private static void refuses(EntryHeader header, String why) {
    byte[] bytes = header.toByteArray();
    byte[] entry = new byte[4 + bytes.length];
    ByteBuffer.wrap(entry).order(ByteOrder.LITTLE_ENDIAN).putInt(bytes.length).put(bytes);
    assertThatThrownBy(() -> decode(ByteBuffer.wrap(entry)))
        .isInstanceOf(EntryFormatException.class)
        .hasMessageContaining(why);
  }

  private static LogEntry decode(ByteBuffer entry) throws EntryFormatException {
    return LogEntryDecoder.decode(entry);
  }

  private static RowBatch batch(int... bytes) {
    byte[] message = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      message[i] = (byte) bytes[i];
    }
    return batch(message);
  }

  private static RowBatch batch(byte[] message) {
    return new RowBatch(List.of(RowBatch.COLUMN_ID), 3, ByteBuffer.wrap(message));
  }
}
