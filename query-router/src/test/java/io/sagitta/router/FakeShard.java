// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.flight.internal.ShardDoor.ShardAnswer;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.GroupColumn;
import io.sagitta.model.HashSlot;
import io.sagitta.model.NodeId;
import io.sagitta.model.PointId;
import io.sagitta.model.ReadStamp;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteKey;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriteOutcome;
import io.sagitta.router.rows.IdKeys;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * A shard in a map, as simple as its contract allows: entries apply at once, keys are remembered
 * for ever, search is brute force by squared distance. Knows fields of float32 vectors, text and
 * int64.
 */
final class FakeShard {
  /** A stored point: its version and values by field name; vectors as float[]. */
  record Point(PointId id, long version, Map<String, Object> values) {}

  final ShardMap.Shard shard;
  final TreeMap<PointId, Point> points = new TreeMap<>();

  /** Every entry that took effect, in log order. */
  final List<ShardWrite> applied = new ArrayList<>();

  private final BufferAllocator allocator;
  private final Map<List<Object>, WriteOutcome.Applied> outcomes = new HashMap<>();

  NodeId leader;
  CollectionSchema schema;
  long epoch;
  private long index;

  /** Rows after which a page of a scan is cut, as large rows cut one. */
  int pageRowsMax = Integer.MAX_VALUE;

  FakeShard(
      ShardMap.Shard shard, CollectionSchema schema, NodeId leader, BufferAllocator allocator) {
    this.shard = shard;
    this.schema = schema;
    this.leader = leader;
    this.epoch = shard.epoch();
    this.allocator = allocator;
  }

  synchronized long index() {
    return index;
  }

  synchronized WriteOutcome apply(ShardWrite write) {
    index++;
    List<Object> key = write.key().map(FakeShard::identity).orElse(null);
    if (key != null && outcomes.containsKey(key)) {
      WriteOutcome.Applied first = outcomes.get(key);
      return new WriteOutcome.Applied(first.index(), first.rows(), first.rejects(), true);
    }
    if (write.mapEpoch() < epoch) {
      return new WriteOutcome.StaleShardMap(epoch);
    }
    if (write.schemaVersion() != schema.version()) {
      return new WriteOutcome.StaleSchema(schema.version());
    }
    WriteOutcome.Applied outcome =
        switch (write) {
          case ShardWrite.Rows rows -> applyRows(rows);
          case ShardWrite.DeleteWhere ignored -> deleteAll();
          case ShardWrite.SetWhere ignored ->
              new WriteOutcome.Applied(index, points.size(), List.of(), false);
        };
    applied.add(write);
    if (key != null) {
      outcomes.put(key, outcome);
    }
    return outcome;
  }

  private static List<Object> identity(WriteKey key) {
    return List.of(key.writer(), key.seq(), key.piece());
  }

  private WriteOutcome.Applied deleteAll() {
    int rows = points.size();
    points.clear();
    return new WriteOutcome.Applied(index, rows, List.of(), false);
  }

  private WriteOutcome.Applied applyRows(ShardWrite.Rows rows) {
    List<WriteOutcome.RowReject> rejects = new ArrayList<>();
    int done = 0;
    try (VectorSchemaRoot root = RowBatchCodec.decode(rows.rows(), schema, allocator)) {
      IdKeys ids = IdKeys.of(schema.idType(), root.getVector(0));
      for (int row = 0; row < root.getRowCount(); row++) {
        PointId id = ids.id(row);
        if (!shard.slots().contains(HashSlot.of(id).value())) {
          throw new AssertionError(id + " was sent to the wrong shard " + shard.number());
        }
        ErrorCode refusal = applyRow(rows.mode(), id, root, row);
        if (refusal == null) {
          done++;
        } else {
          rejects.add(new WriteOutcome.RowReject(row, refusal, "id " + id));
        }
      }
    }
    return new WriteOutcome.Applied(index, done, rejects, false);
  }

  private ErrorCode applyRow(WriteMode mode, PointId id, VectorSchemaRoot root, int row) {
    boolean exists = points.containsKey(id);
    switch (mode) {
      case DELETE -> {
        points.remove(id);
        return null;
      }
      case INSERT -> {
        if (exists) {
          return ErrorCode.ALREADY_EXISTS;
        }
      }
      case UPDATE -> {
        if (!exists) {
          return ErrorCode.NOT_FOUND;
        }
      }
      case UPSERT -> {}
    }
    Map<String, Object> values =
        new HashMap<>(mode == WriteMode.UPDATE ? points.get(id).values : Map.of());
    for (FieldVector column : root.getFieldVectors().subList(1, root.getFieldVectors().size())) {
      values.put(column.getName(), column.isNull(row) ? null : value(column, row));
    }
    points.put(id, new Point(id, index, values));
    return null;
  }

  private static Object value(FieldVector column, int row) {
    return switch (column) {
      case FixedSizeListVector list -> {
        float[] vector = new float[list.getListSize()];
        for (int i = 0; i < vector.length; i++) {
          vector[i] = ((Float4Vector) list.getDataVector()).get(row * vector.length + i);
        }
        yield vector;
      }
      case VarCharVector text -> new String(text.get(row), StandardCharsets.UTF_8);
      default -> column.getObject(row);
    };
  }

  // ---- reads

  synchronized ShardAnswer read(ShardRead read, String replica) {
    boolean more = false;
    VectorSchemaRoot rows =
        switch (read) {
          case ShardRead.Search search -> search(search);
          case ShardRead.Get get ->
              rows(
                  get.ids().stream().filter(points::containsKey).map(points::get).toList(),
                  get.fields());
          case ShardRead.Scan scan -> {
            List<Point> left =
                points.values().stream()
                    .filter(p -> scan.after().isEmpty() || p.id.compareTo(scan.after().get()) > 0)
                    .toList();
            int count =
                Math.min(left.size(), Math.min(pageRowsMax, scan.limit().orElse(pageRowsMax)));
            more = count < left.size();
            yield rows(left.subList(0, count), scan.fields());
          }
          case ShardRead.Count ignored -> count();
        };
    return new ShardAnswer(stamp(replica, more), rows);
  }

  private ReadStamp stamp(String replica, boolean more) {
    return new ReadStamp(
        new ShardId(shard.id().value()),
        index,
        replica,
        true,
        0,
        0,
        0,
        1,
        points.size(),
        1,
        more,
        "");
  }

  private VectorSchemaRoot count() {
    VectorSchemaRoot root =
        VectorSchemaRoot.create(
            new Schema(
                List.of(
                    new Field(
                        "count", FieldType.notNullable(new ArrowType.Int(64, true)), List.of()))),
            allocator);
    ((BigIntVector) root.getVector(0)).setSafe(0, points.size());
    root.setRowCount(1);
    return root;
  }

  private VectorSchemaRoot search(ShardRead.Search search) {
    List<Integer> queries = new ArrayList<>();
    List<Float> scores = new ArrayList<>();
    List<Point> hits = new ArrayList<>();
    int dimension = search.queries().dimension();
    for (int query = 0; query < search.queries().count(); query++) {
      int from = query * dimension;
      List<Point> sorted =
          points.values().stream()
              .filter(p -> p.values.get(search.field()) != null)
              .sorted(
                  Comparator.<Point>comparingDouble(
                          p -> distance(search, from, (float[]) p.values.get(search.field())))
                      .thenComparing(Point::id))
              .toList();
      for (Point hit :
          search.grouping().isPresent()
              ? grouped(sorted, query, search.k(), search.grouping().get())
              : sorted.subList(0, Math.min(search.k(), sorted.size()))) {
        queries.add(query);
        scores.add(distance(search, from, (float[]) hit.values.get(search.field())));
        hits.add(hit);
      }
    }
    return rows(hits, search.fields(), queries, scores);
  }

  /** The best k groups and those asked for by hash, each with its best points. */
  private List<Point> grouped(List<Point> sorted, int query, int k, ShardRead.Grouping grouping) {
    Map<Object, List<Point>> groups = new LinkedHashMap<>();
    for (Point point : sorted) {
      Object value = point.values.get(grouping.field());
      if (value != null) {
        groups.computeIfAbsent(value, v -> new ArrayList<>()).add(point);
      }
    }
    List<Point> hits = new ArrayList<>();
    int rank = 0;
    for (Map.Entry<Object, List<Point>> group : groups.entrySet()) {
      if (rank++ < k
          || (!grouping.also().isEmpty()
              && LongStream.of(grouping.also().get(query))
                  .anyMatch(hash -> hash == hash((String) group.getKey())))) {
        hits.addAll(
            group.getValue().subList(0, Math.min(grouping.size(), group.getValue().size())));
      }
    }
    return hits;
  }

  private long hash(String text) {
    try (VarCharVector column = new VarCharVector("g", allocator)) {
      column.setSafe(0, text.getBytes(StandardCharsets.UTF_8));
      column.setValueCount(1);
      return GroupColumn.of(column).value(0).hash();
    }
  }

  private static float distance(ShardRead.Search search, int from, float[] vector) {
    float sum = 0;
    for (int i = 0; i < vector.length; i++) {
      float difference = search.queries().values()[from + i] - vector[i];
      sum += difference * difference;
    }
    return (float) Math.sqrt(sum);
  }

  private VectorSchemaRoot rows(Collection<Point> found, List<String> fields) {
    return rows(List.copyOf(found), fields, null, null);
  }

  private VectorSchemaRoot rows(
      List<Point> found, List<String> fields, List<Integer> queries, List<Float> scores) {
    List<Field> columns = new ArrayList<>();
    if (queries != null) {
      columns.add(
          new Field("query", FieldType.notNullable(new ArrowType.Int(32, true)), List.of()));
    }
    columns.add(ArrowSchemas.idField(schema.idType()));
    if (queries != null) {
      columns.add(
          new Field(
              "_score",
              FieldType.notNullable(new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE)),
              List.of()));
    }
    columns.add(
        new Field("_version", FieldType.notNullable(new ArrowType.Int(64, true)), List.of()));
    fields.forEach(name -> columns.add(ArrowSchemas.field(schema.requireField(name))));
    VectorSchemaRoot root = VectorSchemaRoot.create(new Schema(columns), allocator);
    root.getFieldVectors()
        .forEach(
            v -> {
              v.setInitialCapacity(found.size());
              v.allocateNew();
            });
    for (int row = 0; row < found.size(); row++) {
      Point point = found.get(row);
      if (queries != null) {
        ((IntVector) root.getVector("query")).setSafe(row, queries.get(row));
        ((Float4Vector) root.getVector("_score")).setSafe(row, scores.get(row));
      }
      writeId(root.getVector("id"), row, point.id);
      ((BigIntVector) root.getVector("_version")).setSafe(row, point.version);
      for (String field : fields) {
        write(root.getVector(field), row, point.values.get(field));
      }
    }
    root.setRowCount(found.size());
    return root;
  }

  private static void writeId(FieldVector ids, int row, PointId id) {
    switch (id) {
      case PointId.Int64 number -> ((BigIntVector) ids).setSafe(row, number.value());
      case PointId.Utf8 text -> ((VarCharVector) ids).setSafe(row, text.canonicalBytes());
      case PointId.Uuid uuid -> ((FixedSizeBinaryVector) ids).setSafe(row, uuid.canonicalBytes());
    }
  }

  private static void write(FieldVector column, int row, Object value) {
    switch (value) {
      case null -> {}
      case Long number -> ((BigIntVector) column).setSafe(row, number);
      case String text ->
          ((VarCharVector) column).setSafe(row, text.getBytes(StandardCharsets.UTF_8));
      case float[] vector -> {
        FixedSizeListVector list = (FixedSizeListVector) column;
        list.setNotNull(row);
        for (int i = 0; i < vector.length; i++) {
          ((Float4Vector) list.getDataVector()).setSafe(row * vector.length + i, vector[i]);
        }
      }
      default -> throw new AssertionError("a fake stores no " + value.getClass());
    }
  }
}
