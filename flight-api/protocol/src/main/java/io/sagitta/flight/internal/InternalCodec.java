// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.internal;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.sagitta.flight.FilterParams;
import io.sagitta.flight.internal.proto.ReadTicket;
import io.sagitta.flight.internal.proto.WriteRequest;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.NodeId;
import io.sagitta.model.PointId;
import io.sagitta.model.ReadMode;
import io.sagitta.model.RowBatch;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardRead.Effort;
import io.sagitta.model.ShardRead.QueryVectors;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteKey;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriterId;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Writes and reads of one shard between the model and {@code internal.proto}. What it encodes it
 * decodes to an equal value. A message that does not decode is INVALID_ARGUMENT: it comes from
 * another version or from no node at all.
 *
 * <p>Deadlines travel as milliseconds that remain, since clocks of two nodes differ.
 */
public final class InternalCodec {
  private InternalCodec() {}

  // ---- writes

  /**
   * A write as it travels to the shard's leader.
   *
   * @param nowNanos {@link System#nanoTime} now
   */
  public static WriteRequest encode(ShardWrite write, CallContext call, long nowNanos) {
    WriteRequest.Builder out =
        WriteRequest.newBuilder()
            .setShard(bytes(write.shard().value()))
            .setMapEpoch(write.mapEpoch())
            .setSchemaVersion(write.schemaVersion())
            .setPrincipal(write.principal())
            .setDeadlineMs(remainingMs(call, nowNanos));
    write.key().ifPresent(key -> out.setKey(encode(key)));
    switch (write) {
      case ShardWrite.Rows rows ->
          out.setRows(
              WriteRequest.Rows.newBuilder()
                  .setMode(rows.mode().name())
                  .setRows(encode(rows.rows())));
      case ShardWrite.DeleteWhere delete ->
          out.setDeleteWhere(
              WriteRequest.DeleteWhere.newBuilder().setFilter(encode(delete.filter())));
      case ShardWrite.SetWhere set -> {
        WriteRequest.SetWhere.Builder body =
            WriteRequest.SetWhere.newBuilder()
                .setFilter(encode(set.filter()))
                .addAllUnset(set.unset());
        set.values().ifPresent(values -> body.setValues(encode(values)));
        out.setSetWhere(body);
      }
    }
    return out.build();
  }

  /** The write of a request. Its rows are a view of the request's bytes. */
  public static ShardWrite decode(WriteRequest in) {
    return decoding(
        "WriteRequest",
        () -> {
          ShardId shard = new ShardId(uuid(in.getShard()));
          Optional<WriteKey> key =
              in.hasKey() ? Optional.of(decode(in.getKey())) : Optional.empty();
          return switch (in.getBodyCase()) {
            case ROWS ->
                new ShardWrite.Rows(
                    shard,
                    in.getMapEpoch(),
                    in.getSchemaVersion(),
                    key,
                    in.getPrincipal(),
                    WriteMode.valueOf(in.getRows().getMode()),
                    decode(in.getRows().getRows()));
            case DELETE_WHERE ->
                new ShardWrite.DeleteWhere(
                    shard,
                    in.getMapEpoch(),
                    in.getSchemaVersion(),
                    key,
                    in.getPrincipal(),
                    decode(in.getDeleteWhere().getFilter()));
            case SET_WHERE ->
                new ShardWrite.SetWhere(
                    shard,
                    in.getMapEpoch(),
                    in.getSchemaVersion(),
                    key,
                    in.getPrincipal(),
                    decode(in.getSetWhere().getFilter()),
                    in.getSetWhere().hasValues()
                        ? Optional.of(decode(in.getSetWhere().getValues()))
                        : Optional.empty(),
                    in.getSetWhere().getUnsetList());
            case BODY_NOT_SET -> throw new IllegalArgumentException("no body");
          };
        });
  }

  /** The context a request travelled with, its deadline on this node's clock. */
  public static CallContext context(WriteRequest in, long nowNanos, AtomicBoolean cancelled) {
    return new CallContext(in.getPrincipal(), deadline(in.getDeadlineMs(), nowNanos), cancelled);
  }

  // ---- reads

  /** A read as it travels: the ticket of an internal DoGet. */
  public static ReadTicket encode(ShardRead read, CallContext call, long nowNanos) {
    ReadTicket.Builder out =
        ReadTicket.newBuilder()
            .setShard(bytes(read.shard().value()))
            .setMode(encode(read.mode()))
            .setDeadlineMs(remainingMs(call, nowNanos))
            .setPrincipal(call.principal());
    call.askerTerm()
        .ifPresent(known -> out.setAsker(bytes(known.asker().value())).setAskerTerm(known.term()));
    switch (read) {
      case ShardRead.Search search -> out.setSearch(encode(search));
      case ShardRead.Get get ->
          out.setGet(
              ReadTicket.Get.newBuilder()
                  .addAllIds(get.ids().stream().map(InternalCodec::encode).toList())
                  .addAllFields(get.fields()));
      case ShardRead.Scan scan -> {
        ReadTicket.Scan.Builder body = ReadTicket.Scan.newBuilder().addAllFields(scan.fields());
        scan.filter().ifPresent(filter -> body.setFilter(encode(filter)));
        scan.after().ifPresent(id -> body.setAfter(encode(id)));
        scan.limit().ifPresent(body::setLimit);
        out.setScan(body);
      }
      case ShardRead.Count count -> {
        ReadTicket.Count.Builder body = ReadTicket.Count.newBuilder();
        count.filter().ifPresent(filter -> body.setFilter(encode(filter)));
        out.setCount(body);
      }
    }
    return out.build();
  }

  private static ReadTicket.Search encode(ShardRead.Search search) {
    QueryVectors queries = search.queries();
    ReadTicket.Search.Builder out =
        ReadTicket.Search.newBuilder()
            .setField(search.field())
            .setQueryCount(queries.count())
            .setDimension(queries.dimension())
            .setQueries(encode(queries.values()))
            .setK(search.k())
            .addAllFields(search.fields())
            .setExplain(search.explain());
    search.filter().ifPresent(filter -> out.setFilter(encode(filter)));
    switch (search.effort()) {
      case Effort.Recall recall -> out.setRecall(recall.target());
      case Effort.Ef ef -> out.setEf(ef.value());
      case Effort.Exact exact -> out.setExact(true);
    }
    search.bound().ifPresent(out::setBound);
    search.grouping().ifPresent(grouping -> out.setGrouping(encode(grouping)));
    return out.build();
  }

  /** The read of a ticket. */
  public static ShardRead decode(ReadTicket in) {
    return decoding(
        "ReadTicket",
        () -> {
          ShardId shard = new ShardId(uuid(in.getShard()));
          ReadMode mode = decode(in.getMode());
          return switch (in.getBodyCase()) {
            case SEARCH -> decode(shard, mode, in.getSearch());
            case GET ->
                new ShardRead.Get(
                    shard,
                    mode,
                    in.getGet().getIdsList().stream().map(InternalCodec::decode).toList(),
                    List.copyOf(in.getGet().getFieldsList()));
            case SCAN -> decode(shard, mode, in.getScan());
            case COUNT ->
                new ShardRead.Count(
                    shard,
                    mode,
                    in.getCount().hasFilter()
                        ? Optional.of(decode(in.getCount().getFilter()))
                        : Optional.empty());
            case BODY_NOT_SET -> throw new IllegalArgumentException("no body");
          };
        });
  }

  private static ShardRead.Search decode(ShardId shard, ReadMode mode, ReadTicket.Search in) {
    return new ShardRead.Search(
        shard,
        mode,
        in.getField(),
        new QueryVectors(in.getQueryCount(), in.getDimension(), floats(in.getQueries())),
        in.getK(),
        in.hasFilter() ? Optional.of(decode(in.getFilter())) : Optional.empty(),
        switch (in.getEffortCase()) {
          case RECALL -> new Effort.Recall(in.getRecall());
          case EF -> new Effort.Ef(in.getEf());
          case EXACT -> new Effort.Exact();
          case EFFORT_NOT_SET -> throw new IllegalArgumentException("no effort");
        },
        in.hasBound() ? OptionalDouble.of(in.getBound()) : OptionalDouble.empty(),
        List.copyOf(in.getFieldsList()),
        in.getExplain(),
        in.hasGrouping() ? Optional.of(decode(in.getGrouping())) : Optional.empty());
  }

  private static ReadTicket.Grouping encode(ShardRead.Grouping grouping) {
    ReadTicket.Grouping.Builder out =
        ReadTicket.Grouping.newBuilder().setField(grouping.field()).setSize(grouping.size());
    for (long[] hashes : grouping.also()) {
      ReadTicket.GroupHashes.Builder one = ReadTicket.GroupHashes.newBuilder();
      for (long hash : hashes) {
        one.addHashes(hash);
      }
      out.addAlso(one);
    }
    return out.build();
  }

  private static ShardRead.Grouping decode(ReadTicket.Grouping in) {
    return new ShardRead.Grouping(
        in.getField(),
        in.getSize(),
        in.getAlsoList().stream()
            .map(one -> one.getHashesList().stream().mapToLong(Long::longValue).toArray())
            .toList());
  }

  private static ShardRead.Scan decode(ShardId shard, ReadMode mode, ReadTicket.Scan in) {
    return new ShardRead.Scan(
        shard,
        mode,
        in.hasFilter() ? Optional.of(decode(in.getFilter())) : Optional.empty(),
        in.hasAfter() ? Optional.of(decode(in.getAfter())) : Optional.empty(),
        in.hasLimit() ? OptionalInt.of(in.getLimit()) : OptionalInt.empty(),
        List.copyOf(in.getFieldsList()));
  }

  /** The context a ticket travelled with, its deadline on this node's clock. */
  public static CallContext context(ReadTicket in, long nowNanos, AtomicBoolean cancelled) {
    Optional<AskerTerm> asker =
        in.getAsker().isEmpty()
            ? Optional.empty()
            : Optional.of(new AskerTerm(new NodeId(uuid(in.getAsker())), in.getAskerTerm()));
    return new CallContext(
        in.getPrincipal(), deadline(in.getDeadlineMs(), nowNanos), cancelled, asker);
  }

  // ---- parts

  private static io.sagitta.flight.internal.proto.WriteKey encode(WriteKey key) {
    return io.sagitta.flight.internal.proto.WriteKey.newBuilder()
        .setWriter(bytes(key.writer().uuid()))
        .setOpenedAtMs(key.writer().openedAtMs())
        .setSeq(key.seq())
        .setAckedBelow(key.ackedBelow())
        .setPiece(key.piece())
        .build();
  }

  private static WriteKey decode(io.sagitta.flight.internal.proto.WriteKey in) {
    return new WriteKey(
        new WriterId(uuid(in.getWriter()), in.getOpenedAtMs()),
        in.getSeq(),
        in.getAckedBelow(),
        in.getPiece());
  }

  /** Wraps the rows' bytes without a copy: a RowBatch never changes. */
  private static io.sagitta.flight.internal.proto.RowBatch encode(RowBatch rows) {
    return io.sagitta.flight.internal.proto.RowBatch.newBuilder()
        .addAllColumns(rows.columns())
        .setRows(rows.rows())
        .setMessage(UnsafeByteOperations.unsafeWrap(rows.message().duplicate()))
        .build();
  }

  private static RowBatch decode(io.sagitta.flight.internal.proto.RowBatch in) {
    return new RowBatch(in.getColumnsList(), in.getRows(), in.getMessage().asReadOnlyByteBuffer());
  }

  private static io.sagitta.flight.internal.proto.FilterText encode(FilterText filter) {
    return io.sagitta.flight.internal.proto.FilterText.newBuilder()
        .setText(filter.text())
        .setParamsJson(FilterParams.print(filter.params()))
        .build();
  }

  private static FilterText decode(io.sagitta.flight.internal.proto.FilterText in) {
    return new FilterText(in.getText(), FilterParams.parse(in.getParamsJson()));
  }

  private static io.sagitta.flight.internal.proto.ReadMode encode(ReadMode mode) {
    io.sagitta.flight.internal.proto.ReadMode.Builder out =
        io.sagitta.flight.internal.proto.ReadMode.newBuilder();
    switch (mode) {
      case ReadMode.Strong strong -> out.setStrong(true);
      case ReadMode.Session session -> out.setSessionMinIndex(session.minIndex());
      case ReadMode.Bounded bounded -> out.setBoundedMs(bounded.maxStalenessMs());
      case ReadMode.Any any -> out.setAny(true);
    }
    return out.build();
  }

  private static ReadMode decode(io.sagitta.flight.internal.proto.ReadMode in) {
    return switch (in.getModeCase()) {
      case STRONG -> ReadMode.STRONG;
      case SESSION_MIN_INDEX -> new ReadMode.Session(in.getSessionMinIndex());
      case BOUNDED_MS -> new ReadMode.Bounded(in.getBoundedMs());
      case ANY -> ReadMode.ANY;
      case MODE_NOT_SET -> throw new IllegalArgumentException("no read mode");
    };
  }

  private static io.sagitta.flight.internal.proto.PointId encode(PointId id) {
    io.sagitta.flight.internal.proto.PointId.Builder out =
        io.sagitta.flight.internal.proto.PointId.newBuilder();
    switch (id) {
      case PointId.Int64 number -> out.setInt64(number.value());
      case PointId.Utf8 text -> out.setUtf8(text.value());
      case PointId.Uuid uuid -> out.setUuid(bytes(uuid.value()));
    }
    return out.build();
  }

  private static PointId decode(io.sagitta.flight.internal.proto.PointId in) {
    return switch (in.getIdCase()) {
      case INT64 -> new PointId.Int64(in.getInt64());
      case UTF8 -> new PointId.Utf8(in.getUtf8());
      case UUID -> new PointId.Uuid(uuid(in.getUuid()));
      case ID_NOT_SET -> throw new IllegalArgumentException("no id");
    };
  }

  private static ByteString encode(float[] values) {
    ByteBuffer out =
        ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    out.asFloatBuffer().put(values);
    return UnsafeByteOperations.unsafeWrap(out);
  }

  private static float[] floats(ByteString in) {
    if (in.size() % Float.BYTES != 0) {
      throw new IllegalArgumentException(in.size() + " bytes of float32 values");
    }
    float[] values = new float[in.size() / Float.BYTES];
    in.asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
    return values;
  }

  /** 16 bytes, most significant first. */
  public static ByteString bytes(UUID uuid) {
    ByteBuffer out =
        ByteBuffer.allocate(16)
            .putLong(uuid.getMostSignificantBits())
            .putLong(uuid.getLeastSignificantBits())
            .flip();
    return UnsafeByteOperations.unsafeWrap(out);
  }

  /** Reads {@link #bytes}; any other length is INVALID_ARGUMENT. */
  public static UUID uuid(ByteString in) {
    if (in.size() != 16) {
      throw SagittaException.invalid("a UUID has " + in.size() + " bytes, expected 16");
    }
    ByteBuffer bytes = in.asReadOnlyByteBuffer();
    return new UUID(bytes.getLong(), bytes.getLong());
  }

  private static long remainingMs(CallContext call, long nowNanos) {
    return Math.max(0, TimeUnit.NANOSECONDS.toMillis(call.deadlineNanos() - nowNanos));
  }

  private static long deadline(long remainingMs, long nowNanos) {
    long bounded = Math.clamp(remainingMs, 0, TimeUnit.DAYS.toMillis(1));
    return nowNanos + TimeUnit.MILLISECONDS.toNanos(bounded);
  }

  private interface Decoding<T> {
    T get();
  }

  private static <T> T decoding(String what, Decoding<T> decoding) {
    try {
      return decoding.get();
    } catch (IllegalArgumentException e) {
      throw new SagittaException(
          ErrorCode.INVALID_ARGUMENT, "malformed " + what + ": " + e.getMessage(), e);
    }
  }
}
