// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.log;

import com.google.protobuf.ByteString;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.RowBatch;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.SlotRange;
import io.sagitta.model.WriteKey;
import io.sagitta.model.WriteMode;
import io.sagitta.shard.Candidates;
import io.sagitta.shard.FreezePolicy;
import io.sagitta.shard.ShardInit;
import io.sagitta.shard.log.proto.DeleteWhere;
import io.sagitta.shard.log.proto.EntryHeader;
import io.sagitta.shard.log.proto.Init;
import io.sagitta.shard.log.proto.Put;
import io.sagitta.shard.log.proto.SchemaChange;
import io.sagitta.shard.log.proto.SetWhere;
import io.sagitta.shard.log.proto.SlotChange;
import io.sagitta.shard.log.proto.Values;
import io.sagitta.shard.log.proto.Writer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.UUID;

/**
 * Encodes log entries. {@code timeMs} is always the leader's clock, milliseconds since the epoch;
 * the state's own time never goes back whatever it says.
 *
 * <p>An entry above {@link #ENTRY_BYTES_MAX} is refused with LIMIT before it is logged.
 */
public final class ShardEntries {
  /** Bytes one entry may have. */
  public static final int ENTRY_BYTES_MAX = 1 << 20;

  private ShardEntries() {}

  /** Upsert, insert, update or delete of rows. */
  public static ByteBuffer rows(ShardWrite.Rows write, long timeMs) {
    EntryHeader.Builder header = header(write, timeMs);
    if (write.mode() == WriteMode.DELETE) {
      header.setType(EntryType.DELETE.number());
    } else {
      header
          .setType(EntryType.PUT.number())
          .setPut(Put.newBuilder().setMode(write.mode().name()).build());
    }
    return checked(encode(header, Optional.of(write.rows())), "the rows");
  }

  /** Delete of the rows a filter matches; {@code candidates} as resolved on the leader. */
  public static ByteBuffer deleteWhere(
      ShardWrite.DeleteWhere write, Candidates candidates, long timeMs) {
    DeleteWhere.Builder where =
        DeleteWhere.newBuilder()
            .setFilter(FilterCodec.toProto(write.filter()))
            .setViewIndex(candidates.viewIndex());
    EntryHeader.Builder header = header(write, timeMs).setType(EntryType.DELETE_WHERE.number());
    if (candidates.ids().isPresent()) {
      ByteBuffer entry = encode(header.setDeleteWhere(where), candidates.ids());
      if (entry.remaining() <= ENTRY_BYTES_MAX) {
        return entry;
      }
    }
    return checked(
        encode(
            header.clearColumns().clearRows().setDeleteWhere(where.setEvaluateAll(true)),
            Optional.empty()),
        "the filter with its parameters");
  }

  /** Set and unset of payload of the rows a filter matches. */
  public static ByteBuffer setWhere(ShardWrite.SetWhere write, Candidates candidates, long timeMs) {
    SetWhere.Builder where =
        SetWhere.newBuilder()
            .setFilter(FilterCodec.toProto(write.filter()))
            .setViewIndex(candidates.viewIndex())
            .addAllUnset(write.unset());
    write
        .values()
        .ifPresent(
            values ->
                where.setValues(
                    Values.newBuilder()
                        .addAllColumns(values.columns())
                        .setMessage(ByteString.copyFrom(values.message().duplicate()))));
    EntryHeader.Builder header = header(write, timeMs).setType(EntryType.SET_WHERE.number());
    if (candidates.ids().isPresent()) {
      ByteBuffer entry = encode(header.setSetWhere(where), candidates.ids());
      if (entry.remaining() <= ENTRY_BYTES_MAX) {
        return entry;
      }
    }
    return checked(
        encode(
            header.clearColumns().clearRows().setSetWhere(where.setEvaluateAll(true)),
            Optional.empty()),
        "the filter with its parameters and values");
  }

  /** The first entry of a shard's log. */
  public static ByteBuffer init(ShardInit init, long timeMs) {
    FreezePolicy freeze = init.freeze();
    return checked(
        encode(
            header(EntryType.INIT, init.shard(), init.epoch(), timeMs)
                .setSchemaVersion(init.schema().version())
                .setSlotRange(slots(init.slots()))
                .setInit(
                    Init.newBuilder()
                        .setCollection(bytes(init.collection().value()))
                        .setNumber(init.number())
                        .setSchema(SchemaCodec.toProto(init.schema()))
                        .setVersionBase(init.versionBase())
                        .setFreeze(
                            io.sagitta.shard.log.proto.FreezePolicy.newBuilder()
                                .setRows(freeze.rows())
                                .setBytes(freeze.bytes())
                                .setEntries(freeze.entries()))),
            Optional.empty()),
        "the schema");
  }

  /**
   * A new schema: the shard's own with fields added or dropped and a higher version.
   *
   * @param mapEpoch epoch of the shard map that holds the new schema
   */
  public static ByteBuffer schemaChange(
      ShardId shard, long mapEpoch, CollectionSchema schema, long timeMs) {
    return checked(
        encode(
            header(EntryType.SCHEMA_CHANGE, shard, mapEpoch, timeMs)
                .setSchemaVersion(schema.version())
                .setSchemaChange(SchemaChange.newBuilder().setSchema(SchemaCodec.toProto(schema))),
            Optional.empty()),
        "the schema");
  }

  /** Freezes the growing segment at this entry, on every replica. */
  public static ByteBuffer freeze(ShardId shard, long timeMs) {
    return encode(header(EntryType.FREEZE, shard, 0, timeMs), Optional.empty());
  }

  /** Reserved: shards at this feature level refuse it. */
  static ByteBuffer slotChange(ShardId shard, long epoch, SlotRange slots, long timeMs) {
    return encode(
        header(EntryType.SLOT_CHANGE, shard, epoch, timeMs)
            .setSlotRange(slots(slots))
            .setSlotChange(SlotChange.newBuilder().setEpoch(epoch)),
        Optional.empty());
  }

  private static EntryHeader.Builder header(ShardWrite write, long timeMs) {
    EntryHeader.Builder header =
        EntryHeader.newBuilder()
            .setFormat(LogEntryDecoder.FORMAT)
            .setShard(bytes(write.shard().value()))
            .setMapEpoch(write.mapEpoch())
            .setSchemaVersion(write.schemaVersion())
            .setTimeMs(timeMs)
            .setPrincipal(write.principal());
    write.key().ifPresent(key -> header.setWriter(writer(key)));
    return header;
  }

  private static EntryHeader.Builder header(
      EntryType type, ShardId shard, long mapEpoch, long timeMs) {
    return EntryHeader.newBuilder()
        .setFormat(LogEntryDecoder.FORMAT)
        .setType(type.number())
        .setShard(bytes(shard.value()))
        .setMapEpoch(mapEpoch)
        .setTimeMs(timeMs);
  }

  private static Writer writer(WriteKey key) {
    return Writer.newBuilder()
        .setUuid(bytes(key.writer().uuid()))
        .setOpenedAtMs(key.writer().openedAtMs())
        .setSeq(key.seq())
        .setAckedBelow(key.ackedBelow())
        .setPiece(key.piece())
        .build();
  }

  private static io.sagitta.shard.log.proto.SlotRange slots(SlotRange slots) {
    return io.sagitta.shard.log.proto.SlotRange.newBuilder()
        .setFrom(slots.from())
        .setTo(slots.to())
        .build();
  }

  private static ByteBuffer encode(EntryHeader.Builder header, Optional<RowBatch> batch) {
    batch.ifPresent(rows -> header.addAllColumns(rows.columns()).setRows(rows.rows()));
    byte[] head = header.build().toByteArray();
    int batchBytes = batch.map(rows -> rows.message().remaining()).orElse(0);
    ByteBuffer out =
        ByteBuffer.allocate(Math.addExact(Integer.BYTES + head.length, batchBytes))
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(head.length)
            .put(head);
    batch.ifPresent(rows -> out.put(rows.message().duplicate()));
    return out.flip().order(ByteOrder.BIG_ENDIAN);
  }

  private static ByteBuffer checked(ByteBuffer entry, String what) {
    if (entry.remaining() > ENTRY_BYTES_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT,
          what
              + " would take a log entry of "
              + entry.remaining()
              + " bytes, at most "
              + ENTRY_BYTES_MAX
              + " are allowed");
    }
    return entry;
  }

  private static ByteString bytes(UUID uuid) {
    ByteBuffer out =
        ByteBuffer.allocate(16)
            .putLong(uuid.getMostSignificantBits())
            .putLong(uuid.getLeastSignificantBits());
    return ByteString.copyFrom(out.flip());
  }
}
