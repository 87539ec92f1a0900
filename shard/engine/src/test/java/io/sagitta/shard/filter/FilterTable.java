// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.filter;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Field;
import io.sagitta.model.FilterText;
import io.sagitta.model.IdType;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PayloadType.Kind;
import io.sagitta.model.filter.FilterBinder;
import io.sagitta.model.filter.TemporalText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.TimeStampMicroTZVector;
import org.apache.arrow.vector.TinyIntVector;
import org.apache.arrow.vector.UInt8Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Rows as maps of plain values beside the same rows as columns. Values: Long for integers, Double
 * and Float, String for text, dates, timestamps and JSON, Boolean, a List of these, double[]{lat,
 * lon}. Ids are the rows' numbers from 1.
 */
final class FilterTable implements AutoCloseable {
  final CollectionSchema schema;
  final List<Map<String, Object>> rows = new ArrayList<>();
  private final RootAllocator allocator = new RootAllocator();
  private VectorSchemaRoot root;

  /** Fields as {@code name, type, name, type, ...}. */
  FilterTable(String... fields) {
    List<Field> all = new ArrayList<>();
    for (int i = 0; i < fields.length; i += 2) {
      all.add(new PayloadField(i / 2 + 1, fields[i], PayloadType.parse(fields[i + 1])));
    }
    this.schema = new CollectionSchema(1, IdType.INT64, all);
  }

  /** Adds a row of {@code name, value, name, value, ...}; what is not named is null. */
  FilterTable row(Object... values) {
    Map<String, Object> row = new LinkedHashMap<>();
    for (int i = 0; i < values.length; i += 2) {
      row.put((String) values[i], values[i + 1]);
    }
    rows.add(row);
    return this;
  }

  /** Ids of the rows a filter returns. */
  List<Long> ids(String text, Object... params) {
    FilterText filter = new FilterText(text, java.util.Arrays.asList(params));
    long[] bits =
        new ColumnFilter(FilterBinder.bind(filter, schema)).matching(new Columns(root(), rows()));
    List<Long> ids = new ArrayList<>();
    for (int row = 0; row < rows(); row++) {
      if ((bits[row >> 6] >>> row & 1) != 0) {
        ids.add(row + 1L);
      }
    }
    return ids;
  }

  int rows() {
    return rows.size();
  }

  private VectorSchemaRoot root() {
    if (root == null) {
      root = VectorSchemaRoot.create(ArrowSchemas.toArrow(schema), allocator);
      root.allocateNew();
      for (int row = 0; row < rows(); row++) {
        ((BigIntVector) root.getVector(0)).setSafe(row, row + 1);
        for (Field field : schema.fields()) {
          Object value = rows.get(row).get(field.name());
          FieldVector vector = root.getVector(field.name());
          PayloadType type = ((PayloadField) field).type();
          if (value != null) {
            set(vector, type, row, value);
          } else if (vector instanceof ListVector list) {
            list.setNull(row);
          }
        }
      }
      root.setRowCount(rows());
    }
    return root;
  }

  private static void set(FieldVector vector, PayloadType type, int row, Object value) {
    if (type.list()) {
      ListVector list = (ListVector) vector;
      int at = list.startNewValue(row);
      List<?> items = (List<?>) value;
      for (int i = 0; i < items.size(); i++) {
        if (items.get(i) != null) {
          set(list.getDataVector(), PayloadType.of(type.kind()), at + i, items.get(i));
        }
      }
      list.endValue(row, items.size());
      list.getDataVector().setValueCount(at + items.size());
      return;
    }
    switch (vector) {
      case BitVector v -> v.setSafe(row, (Boolean) value ? 1 : 0);
      case TinyIntVector v -> v.setSafe(row, ((Long) value).byteValue());
      case IntVector v -> v.setSafe(row, ((Long) value).intValue());
      case BigIntVector v -> v.setSafe(row, (Long) value);
      case UInt8Vector v -> v.setSafe(row, (Long) value);
      case Float4Vector v -> v.setSafe(row, (Float) value);
      case Float8Vector v -> v.setSafe(row, (Double) value);
      case TimeStampMicroTZVector v ->
          v.setSafe(row, TemporalText.micros((String) value).longValueExact());
      case DateDayVector v ->
          v.setSafe(row, (int) java.time.LocalDate.parse((String) value).toEpochDay());
      case VarCharVector v -> v.setSafe(row, ((String) value).getBytes(StandardCharsets.UTF_8));
      case StructVector v -> {
        v.setIndexDefined(row);
        ((Float8Vector) v.getChild("lat")).setSafe(row, ((double[]) value)[0]);
        ((Float8Vector) v.getChild("lon")).setSafe(row, ((double[]) value)[1]);
      }
      default -> throw new IllegalStateException(vector.getField() + " " + Kind.class);
    }
  }

  @Override
  public void close() {
    if (root != null) {
      root.close();
    }
    allocator.close();
  }

  private record Columns(VectorSchemaRoot root, int rows) implements RowColumns {
    @Override
    public FieldVector column(int fieldId) {
      return root.getVector(fieldId);
    }

    @Override
    public boolean hasVector(int fieldId, int row) {
      return false;
    }
  }
}
