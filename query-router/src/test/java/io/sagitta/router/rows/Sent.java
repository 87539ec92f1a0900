// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.RowBatch;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.WriteMode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;

/** Batches as clients send them, for tests. */
public final class Sent {
  static final ArrowType FLOAT32 = new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE);
  static final ArrowType FLOAT64 = new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE);
  static final ArrowType FLOAT16 = new ArrowType.FloatingPoint(FloatingPointPrecision.HALF);

  private Sent() {}

  public static Field field(String name, ArrowType type, Field... children) {
    return new Field(name, FieldType.nullable(type), List.of(children));
  }

  public static Field listField(String name, ArrowType item) {
    return field(name, ArrowType.List.INSTANCE, field("item", item));
  }

  public static Field fixedListField(String name, int size, ArrowType item) {
    return field(name, new ArrowType.FixedSizeList(size), field("item", item));
  }

  /** A root of columns of equal length. */
  public static VectorSchemaRoot root(FieldVector... columns) {
    VectorSchemaRoot root = VectorSchemaRoot.of(columns);
    root.setRowCount(columns[0].getValueCount());
    return root;
  }

  public static BigIntVector int64(BufferAllocator allocator, String name, Long... values) {
    BigIntVector vector =
        (BigIntVector) field(name, new ArrowType.Int(64, true)).createVector(allocator);
    vector.allocateNew(values.length);
    for (int i = 0; i < values.length; i++) {
      if (values[i] != null) {
        vector.set(i, values[i]);
      }
    }
    vector.setValueCount(values.length);
    return vector;
  }

  public static VarCharVector utf8(BufferAllocator allocator, String name, String... values) {
    VarCharVector vector =
        (VarCharVector) field(name, ArrowType.Utf8.INSTANCE).createVector(allocator);
    vector.allocateNew();
    for (int i = 0; i < values.length; i++) {
      if (values[i] != null) {
        vector.setSafe(i, values[i].getBytes(StandardCharsets.UTF_8));
      }
    }
    vector.setValueCount(values.length);
    return vector;
  }

  /** Vectors of equal length; null is a null list. */
  public static FixedSizeListVector fixedList(
      BufferAllocator allocator, String name, int size, float[]... values) {
    FixedSizeListVector vector =
        (FixedSizeListVector) fixedListField(name, size, FLOAT32).createVector(allocator);
    vector.setInitialCapacity(values.length);
    vector.allocateNew();
    Float4Vector items = (Float4Vector) vector.getDataVector();
    for (int row = 0; row < values.length; row++) {
      if (values[row] != null) {
        vector.setNotNull(row);
        for (int i = 0; i < size; i++) {
          items.setSafe(row * size + i, values[row][i]);
        }
      }
    }
    vector.setValueCount(values.length);
    return vector;
  }

  /** Lists of any length; null is a null list, NaN stands as it is. */
  public static ListVector list(BufferAllocator allocator, String name, float[]... values) {
    ListVector vector = (ListVector) listField(name, FLOAT32).createVector(allocator);
    vector.allocateNew();
    Float4Vector items = (Float4Vector) vector.getDataVector();
    int end = 0;
    for (int row = 0; row < values.length; row++) {
      if (values[row] != null) {
        vector.startNewValue(row);
        for (float value : values[row]) {
          items.setSafe(end++, value);
        }
        vector.endValue(row, values[row].length);
      }
    }
    items.setValueCount(end);
    vector.setValueCount(values.length);
    return vector;
  }

  /** Normalises, sends through the log's form and back; closes neither the batch nor the result. */
  public static VectorSchemaRoot canonical(
      CollectionSchema schema,
      WriteMode mode,
      VectorSchemaRoot batch,
      DictionaryProvider dictionaries,
      BufferAllocator allocator) {
    RowNormaliser normaliser = RowNormaliser.compile(schema, mode, batch.getSchema(), dictionaries);
    try (CanonicalRows rows = normaliser.normalise(batch, allocator)) {
      RowBatch encoded = RowBatchCodec.encode(rows.root(), rows.columns());
      return RowBatchCodec.decode(encoded, schema, allocator);
    }
  }
}
