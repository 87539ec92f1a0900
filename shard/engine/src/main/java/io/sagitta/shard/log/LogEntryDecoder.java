// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.log;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.sagitta.model.CollectionId;
import io.sagitta.model.RowBatch;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.SlotRange;
import io.sagitta.model.WriteKey;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriterId;
import io.sagitta.shard.Candidates;
import io.sagitta.shard.FreezePolicy;
import io.sagitta.shard.ShardInit;
import io.sagitta.shard.log.LogEntry.Header;
import io.sagitta.shard.log.proto.DeleteWhere;
import io.sagitta.shard.log.proto.EntryHeader;
import io.sagitta.shard.log.proto.EntryHeader.BodyCase;
import io.sagitta.shard.log.proto.Init;
import io.sagitta.shard.log.proto.SetWhere;
import io.sagitta.shard.log.proto.Writer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Reads log entries. Strict: a type, a format or a header field that is not known, or a body that
 * does not go with its type, is an {@link EntryFormatException}. The record batch is only sliced
 * here; whoever loads it checks it.
 */
public final class LogEntryDecoder {
  static final int FORMAT = 1;

  private LogEntryDecoder() {}

  /**
   * Decodes one entry.
   *
   * @param entry from its position to its limit; not moved, and borrowed by the result
   */
  public static LogEntry decode(ByteBuffer entry) throws EntryFormatException {
    ByteBuffer in = entry.slice().order(ByteOrder.LITTLE_ENDIAN);
    if (in.remaining() < Integer.BYTES) {
      throw new EntryFormatException("log entry has " + in.remaining() + " bytes, expected 4 more");
    }
    int headerBytes = in.getInt();
    if (headerBytes < 0 || headerBytes > in.remaining()) {
      throw new EntryFormatException(
          "log entry's header length is " + headerBytes + ", expected 0.." + in.remaining());
    }
    EntryHeader header;
    try {
      header = EntryHeader.parseFrom(in.slice(in.position(), headerBytes));
    } catch (InvalidProtocolBufferException e) {
      throw new EntryFormatException("log entry's header is malformed", e);
    }
    ByteBuffer batch = in.slice(Integer.BYTES + headerBytes, in.remaining() - headerBytes);
    EntryType type = checkKnown(header);
    try {
      return decode(type, header, batch);
    } catch (IllegalArgumentException | SagittaException e) {
      throw new EntryFormatException("log entry " + type + ": " + e.getMessage(), e);
    }
  }

  private static EntryType checkKnown(EntryHeader header) throws EntryFormatException {
    if (header.getFormat() != FORMAT) {
      throw new EntryFormatException(
          "log entry has format " + header.getFormat() + ", this version reads " + FORMAT);
    }
    EntryType type =
        EntryType.of(header.getType())
            .orElseThrow(
                () ->
                    new EntryFormatException(
                        "log entry has type "
                            + header.getType()
                            + ", which this version does not know"));
    if (!header.getUnknownFields().asMap().isEmpty()) {
      throw new EntryFormatException(
          "log entry "
              + type
              + " has header fields that this version does not know: "
              + header.getUnknownFields().asMap().keySet());
    }
    return type;
  }

  private static LogEntry decode(EntryType type, EntryHeader proto, ByteBuffer batch)
      throws EntryFormatException {
    checkBody(type, proto.getBodyCase());
    Header header = header(proto);
    return switch (type) {
      case INIT -> new LogEntry.Init(header, init(header.shard(), proto));
      case PUT -> new LogEntry.Put(header, mode(proto.getPut().getMode()), rows(proto, batch));
      case DELETE -> new LogEntry.Delete(header, rows(proto, batch));
      case DELETE_WHERE -> {
        DeleteWhere where = proto.getDeleteWhere();
        yield new LogEntry.DeleteWhere(
            header,
            FilterCodec.fromProto(where.getFilter()),
            candidates(where.getViewIndex(), where.getEvaluateAll(), proto, batch));
      }
      case SET_WHERE -> {
        SetWhere where = proto.getSetWhere();
        yield new LogEntry.SetWhere(
            header,
            FilterCodec.fromProto(where.getFilter()),
            candidates(where.getViewIndex(), where.getEvaluateAll(), proto, batch),
            values(where),
            where.getUnsetList());
      }
      case SCHEMA_CHANGE ->
          new LogEntry.SchemaChange(
              header, SchemaCodec.fromProto(proto.getSchemaChange().getSchema()));
      case SLOT_CHANGE ->
          new LogEntry.SlotChange(header, slots(proto), proto.getSlotChange().getEpoch());
      case FREEZE -> new LogEntry.Freeze(header);
    };
  }

  private static void checkBody(EntryType type, BodyCase found) throws EntryFormatException {
    BodyCase expected =
        switch (type) {
          case INIT -> BodyCase.INIT;
          case PUT -> BodyCase.PUT;
          case DELETE_WHERE -> BodyCase.DELETE_WHERE;
          case SET_WHERE -> BodyCase.SET_WHERE;
          case SCHEMA_CHANGE -> BodyCase.SCHEMA_CHANGE;
          case SLOT_CHANGE -> BodyCase.SLOT_CHANGE;
          case DELETE, FREEZE -> BodyCase.BODY_NOT_SET;
        };
    if (found != expected) {
      throw new EntryFormatException(
          "log entry " + type + " has body " + found + ", expected " + expected);
    }
  }

  private static Header header(EntryHeader proto) {
    return new Header(
        new ShardId(uuid("shard", proto.getShard())),
        proto.getMapEpoch(),
        proto.getSchemaVersion(),
        proto.hasWriter() ? Optional.of(key(proto.getWriter())) : Optional.empty(),
        proto.getTimeMs(),
        proto.getPrincipal());
  }

  private static WriteKey key(Writer writer) {
    return new WriteKey(
        new WriterId(uuid("writer", writer.getUuid()), writer.getOpenedAtMs()),
        writer.getSeq(),
        writer.getAckedBelow(),
        writer.getPiece());
  }

  private static ShardInit init(ShardId shard, EntryHeader proto) {
    Init init = proto.getInit();
    return new ShardInit(
        shard,
        new CollectionId(uuid("collection", init.getCollection())),
        init.getNumber(),
        proto.getMapEpoch(),
        slots(proto),
        SchemaCodec.fromProto(init.getSchema()),
        init.getVersionBase(),
        new FreezePolicy(
            init.getFreeze().getRows(),
            init.getFreeze().getBytes(),
            init.getFreeze().getEntries()));
  }

  private static SlotRange slots(EntryHeader proto) {
    return new SlotRange(proto.getSlotRange().getFrom(), proto.getSlotRange().getTo());
  }

  private static WriteMode mode(String name) {
    WriteMode mode = WriteMode.valueOf(name);
    if (mode == WriteMode.DELETE) {
      throw new IllegalArgumentException("a delete is an entry of its own type");
    }
    return mode;
  }

  private static RowBatch rows(EntryHeader proto, ByteBuffer batch) {
    return new RowBatch(proto.getColumnsList(), proto.getRows(), batch);
  }

  private static Candidates candidates(
      long viewIndex, boolean evaluateAll, EntryHeader proto, ByteBuffer batch) {
    return new Candidates(
        viewIndex, evaluateAll ? Optional.empty() : Optional.of(rows(proto, batch)));
  }

  private static Optional<RowBatch> values(SetWhere where) {
    if (!where.hasValues()) {
      return Optional.empty();
    }
    List<Integer> columns = where.getValues().getColumnsList();
    return Optional.of(
        new RowBatch(columns, 1, where.getValues().getMessage().asReadOnlyByteBuffer()));
  }

  private static UUID uuid(String what, ByteString bytes) {
    if (bytes.size() != 16) {
      throw new IllegalArgumentException(what + " has " + bytes.size() + " bytes, expected 16");
    }
    ByteBuffer in = bytes.asReadOnlyByteBuffer();
    return new UUID(in.getLong(), in.getLong());
  }
}
