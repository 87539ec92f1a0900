// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.sagitta.flight.Command;
import io.sagitta.flight.Command.IdText;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.CommitToken;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.HashSlot;
import io.sagitta.model.Names;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PointId;
import io.sagitta.model.RowBatch;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.RowSelection;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteMode;
import io.sagitta.router.fanout.ActiveCall;
import io.sagitta.router.fanout.ShardWriter;
import io.sagitta.router.plan.Filters;
import io.sagitta.router.plan.PointIds;
import io.sagitta.router.routing.MapCache;
import io.sagitta.router.routing.SlotTable;
import io.sagitta.router.rows.IdColumns;
import io.sagitta.router.rows.JsonValues;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Writes that name their points by a filter, or payload by JSON: {@code delete}, {@code set},
 * {@code unset}. By filter every shard does one step of its own; by ids it is an update of the
 * rows. Neither has a key, so nothing is sent again that may have been appended.
 */
final class FilterWrites {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final RouterOptions options;
  private final BufferAllocator allocator;
  private final MapCache maps;
  private final ShardWriter writer;

  FilterWrites(RouterOptions options, RouterParts parts, MapCache maps, ShardWriter writer) {
    this.options = options;
    this.allocator = parts.allocator();
    this.maps = maps;
    this.writer = writer;
  }

  byte[] delete(Command.Delete delete, ActiveCall caller) throws InterruptedException {
    ActiveCall call = caller.part(options.writeTimeout().toNanos());
    ShardMap.Collection collection = maps.requireFresh(delete.collection(), call);
    Filters.check(collection.schema(), Optional.of(delete.filter()));
    return everywhere(
        collection,
        (map, now, shard) ->
            new ShardWrite.DeleteWhere(
                shard.id(),
                map.epoch(),
                now.schema().version(),
                Optional.empty(),
                call.principal(),
                delete.filter()),
        call);
  }

  byte[] set(Command.SetPayload set, ActiveCall caller) throws InterruptedException {
    ActiveCall call = caller.part(options.writeTimeout().toNanos());
    ShardMap.Collection collection = maps.requireFresh(set.collection(), call);
    Map<PayloadField, Object> values = new LinkedHashMap<>();
    for (var value : set.values().entrySet()) {
      values.put(payload(collection.schema(), value.getKey()), value.getValue());
    }
    return change(collection, set.filter(), set.ids(), values, List.of(), call);
  }

  byte[] unset(Command.UnsetPayload unset, ActiveCall caller) throws InterruptedException {
    ActiveCall call = caller.part(options.writeTimeout().toNanos());
    ShardMap.Collection collection = maps.requireFresh(unset.collection(), call);
    List<PayloadField> fields = new ArrayList<>();
    for (String name : new LinkedHashSet<>(unset.fields())) {
      fields.add(payload(collection.schema(), name));
    }
    return change(collection, unset.filter(), unset.ids(), Map.of(), fields, call);
  }

  private static PayloadField payload(CollectionSchema schema, String name) {
    if (schema.requireField(name) instanceof PayloadField payload) {
      return payload;
    }
    throw SagittaException.invalid(
        "field " + Names.quote(name) + " is a vector field, expected a payload field");
  }

  private byte[] change(
      ShardMap.Collection collection,
      Optional<FilterText> filter,
      Optional<List<IdText>> ids,
      Map<PayloadField, Object> values,
      List<PayloadField> unset,
      ActiveCall call)
      throws InterruptedException {
    if (filter.isPresent() == ids.isPresent()) {
      throw SagittaException.invalid("expected one of 'filter' and 'ids'");
    }
    if (ids.isPresent()) {
      return byIds(
          collection, PointIds.of(collection.schema().idType(), ids.get()), values, unset, call);
    }
    Filters.check(collection.schema(), filter);
    Optional<RowBatch> row = values.isEmpty() ? Optional.empty() : Optional.of(encode(values));
    List<Integer> unsetIds = unset.stream().map(PayloadField::fieldId).toList();
    return everywhere(
        collection,
        (map, now, shard) ->
            new ShardWrite.SetWhere(
                shard.id(),
                map.epoch(),
                now.schema().version(),
                Optional.empty(),
                call.principal(),
                filter.get(),
                row,
                unsetIds),
        call);
  }

  /** The values as a batch of one row without an id. */
  private RowBatch encode(Map<PayloadField, Object> values) {
    List<FieldVector> vectors = new ArrayList<>();
    List<Integer> columns = new ArrayList<>();
    try {
      for (var value : inFieldOrder(values).entrySet()) {
        columns.add(value.getKey().fieldId());
        vectors.add(JsonValues.column(value.getKey(), value.getValue(), 1, allocator));
      }
      return RowBatchCodec.encode(root(vectors, 1), columns);
    } finally {
      vectors.forEach(FieldVector::close);
    }
  }

  /** An update of the rows with these ids, each once; ids that do not exist are passed over. */
  private byte[] byIds(
      ShardMap.Collection collection,
      List<PointId> ids,
      Map<PayloadField, Object> values,
      List<PayloadField> unset,
      ActiveCall call)
      throws InterruptedException {
    Map<PayloadField, Object> all = new HashMap<>(values);
    unset.forEach(field -> all.put(field, null));
    SlotTable slots = new SlotTable(collection);
    Map<Integer, List<PointId>> byShard = new TreeMap<>();
    for (PointId id : new LinkedHashSet<>(ids)) {
      byShard
          .computeIfAbsent(slots.place(HashSlot.of(id).value()), place -> new ArrayList<>())
          .add(id);
    }
    ShardMap map = maps.current();
    List<ShardWriter.Sent> sent = new ArrayList<>();
    for (var own : byShard.entrySet()) {
      for (RowBatch piece : updates(collection.schema(), own.getValue(), all)) {
        ShardMap.Shard shard = slots.shards().get(own.getKey());
        sent.add(
            writer.send(
                map,
                collection,
                shard,
                (current, now, target) ->
                    new ShardWrite.Rows(
                        target.id(),
                        current.epoch(),
                        now.schema().version(),
                        Optional.empty(),
                        call.principal(),
                        WriteMode.UPDATE,
                        piece),
                call));
      }
    }
    return gather(sent);
  }

  private List<RowBatch> updates(
      CollectionSchema schema, List<PointId> ids, Map<PayloadField, Object> values) {
    List<FieldVector> vectors = new ArrayList<>();
    List<Integer> columns = new ArrayList<>();
    try {
      columns.add(RowBatch.COLUMN_ID);
      vectors.add(IdColumns.of(schema.idType(), ids, allocator));
      for (var value : inFieldOrder(values).entrySet()) {
        columns.add(value.getKey().fieldId());
        vectors.add(JsonValues.column(value.getKey(), value.getValue(), ids.size(), allocator));
      }
      return RowBatchCodec.pieces(
          columns, RowSelection.all(root(vectors, ids.size())), RowBatchCodec.PIECE_BYTES_MAX);
    } finally {
      vectors.forEach(FieldVector::close);
    }
  }

  /** Columns come in schema order, which is that of field ids. */
  private static Map<PayloadField, Object> inFieldOrder(Map<PayloadField, Object> values) {
    Map<PayloadField, Object> sorted =
        new TreeMap<>(java.util.Comparator.comparingInt(PayloadField::fieldId));
    sorted.putAll(values);
    return sorted;
  }

  private static VectorSchemaRoot root(List<FieldVector> vectors, int rows) {
    return new VectorSchemaRoot(
        vectors.stream().map(FieldVector::getField).toList(), vectors, rows);
  }

  private byte[] everywhere(
      ShardMap.Collection collection, ShardWriter.Draft draft, ActiveCall call)
      throws InterruptedException {
    ShardMap map = maps.current();
    List<ShardWriter.Sent> sent = new ArrayList<>();
    for (ShardMap.Shard shard : collection.shards()) {
      sent.add(writer.send(map, collection, shard, draft, call));
    }
    return gather(sent);
  }

  /** Sums up. An error names the shards where the write was applied all the same. */
  private static byte[] gather(List<ShardWriter.Sent> sent) throws InterruptedException {
    long rows = 0;
    Map<ShardId, Long> indexes = new HashMap<>();
    List<Integer> applied = new ArrayList<>();
    SagittaException failure = null;
    for (ShardWriter.Sent one : sent) {
      switch (one.result()) {
        case ShardWriter.Result.Applied result -> {
          rows += result.outcome().rows();
          applied.add(one.shard().number());
          indexes.merge(one.shard().id(), result.outcome().index(), Math::max);
        }
        case ShardWriter.Result.Failed result -> {
          boolean worse =
              failure == null
                  || (result.error().code() == ErrorCode.OUTCOME_UNKNOWN
                      && failure.code() != ErrorCode.OUTCOME_UNKNOWN);
          failure = worse ? result.error() : failure;
        }
      }
    }
    if (failure != null) {
      throw applied.isEmpty()
          ? failure
          : new SagittaException(
              // A code that says "not applied" would be wrong where a part was.
              ErrorCode.OUTCOME_UNKNOWN,
              failure.getMessage() + "; applied on shards " + applied + ": " + rows + " rows",
              failure);
    }
    return JSON.createObjectNode()
        .put("rows", rows)
        .put("token", new CommitToken(indexes).text())
        .toString()
        .getBytes(StandardCharsets.UTF_8);
  }
}
