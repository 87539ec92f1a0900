// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Field;
import io.sagitta.model.PointId;
import io.sagitta.model.RowBatch;
import io.sagitta.model.WriteMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/** What a shard should hold: points in a map, every rule applied the slow and plain way. */
final class ShardModel {
  static final long VERSION_BASE = 1_000;

  final TreeMap<PointId, Point> points;
  CollectionSchema schema;

  /** A point: values by field id, absent for null. */
  record Point(long version, Map<Integer, Object> values) {}

  /** What an entry should have done. */
  record Outcome(int rows, List<String> rejects) {}

  ShardModel(CollectionSchema schema) {
    this(schema, new TreeMap<>());
  }

  private ShardModel(CollectionSchema schema, TreeMap<PointId, Point> points) {
    this.schema = schema;
    this.points = points;
  }

  ShardModel copy() {
    return new ShardModel(schema, new TreeMap<>(points));
  }

  static String reject(int row, ErrorCode code) {
    return row + " " + code;
  }

  Outcome put(WriteMode mode, List<Integer> columns, List<List<Object>> rows, long index) {
    Map<PointId, Integer> last = new HashMap<>();
    for (int row = 0; row < rows.size(); row++) {
      last.put(id(rows.get(row)), row);
    }
    int applied = 0;
    List<String> rejects = new ArrayList<>();
    Map<PointId, Point> puts = new HashMap<>();
    for (int row = 0; row < rows.size(); row++) {
      PointId id = id(rows.get(row));
      if (last.get(id) != row) {
        continue;
      }
      Point before = points.get(id);
      int conditionAt = columns.indexOf(RowBatch.COLUMN_IF_VERSION);
      Object condition = conditionAt < 0 ? null : rows.get(row).get(conditionAt);
      if (condition != null
          && PlainRows.decode(condition).getLong() != (before == null ? 0 : before.version)) {
        rejects.add(reject(row, ErrorCode.CONFLICT));
      } else if (mode == WriteMode.INSERT && before != null) {
        rejects.add(reject(row, ErrorCode.ALREADY_EXISTS));
      } else if (mode == WriteMode.UPDATE && before == null) {
        rejects.add(reject(row, ErrorCode.NOT_FOUND));
      } else if (mode == WriteMode.DELETE) {
        puts.put(id, null);
        applied += before == null ? 0 : 1;
      } else {
        Map<Integer, Object> values =
            mode == WriteMode.UPDATE ? new HashMap<>(before.values) : new HashMap<>();
        for (int i = 0; i < columns.size(); i++) {
          if (columns.get(i) > 0) {
            set(values, columns.get(i), rows.get(row).get(i));
          }
        }
        puts.put(id, new Point(VERSION_BASE + index, values));
        applied++;
      }
    }
    puts.forEach(
        (id, point) -> {
          if (point == null) {
            points.remove(id);
          } else {
            points.put(id, point);
          }
        });
    return new Outcome(applied, rejects);
  }

  int deleteWhere(Predicate<Point> filter) {
    int before = points.size();
    points.values().removeIf(filter);
    return before - points.size();
  }

  int setWhere(Predicate<Point> filter, Map<Integer, Object> values, long index) {
    int changed = 0;
    for (Map.Entry<PointId, Point> entry : points.entrySet()) {
      if (filter.test(entry.getValue())) {
        Map<Integer, Object> next = new HashMap<>(entry.getValue().values);
        values.forEach((field, value) -> set(next, field, value));
        entry.setValue(new Point(VERSION_BASE + index, next));
        changed++;
      }
    }
    return changed;
  }

  void changeSchema(CollectionSchema next) {
    schema = next;
    points.replaceAll(
        (id, point) -> {
          Map<Integer, Object> values = new HashMap<>(point.values);
          values.keySet().removeIf(field -> next.field(field).isEmpty());
          return new Point(point.version, values);
        });
  }

  /** A point as a get of all fields gives it. */
  List<Object> row(PointId id) {
    Point point = points.get(id);
    List<Object> row = new ArrayList<>();
    row.add(PlainRows.id(id));
    row.add(PlainRows.int64(point.version));
    for (Field field : schema.fields()) {
      row.add(point.values.get(field.fieldId()));
    }
    return row;
  }

  private PointId id(List<Object> row) {
    return PlainRows.idOf(schema.idType(), row.getFirst());
  }

  private static void set(Map<Integer, Object> values, int field, Object value) {
    if (value == null) {
      values.remove(field);
    } else {
      values.put(field, value);
    }
  }
}
