// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BitVectorHelper;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/** Random rows of any schema, and rows as plain Java values to compare with. */
public final class RandomRows {
  private static final String LETTERS = "abcxyz 09'\\\"\u00e9\u6f22\ud83d\udc26";

  private RandomRows() {}

  /** A schema with every vector type and every payload type, each also as a list. */
  public static CollectionSchema everyType(IdType idType) {
    List<Field> fields = new ArrayList<>();
    int id = 1;
    for (VectorType type : VectorType.values()) {
      Metric metric = type == VectorType.BINARY ? Metric.HAMMING : Metric.COSINE;
      String name = "v_" + type.name().toLowerCase(java.util.Locale.ROOT);
      fields.add(new VectorField(id++, name, type, 13, metric, false));
      fields.add(new VectorField(id++, name + "_null", type, 5, metric, true));
    }
    for (PayloadType.Kind kind : PayloadType.Kind.values()) {
      fields.add(new PayloadField(id++, "p." + kind.text(), PayloadType.of(kind)));
      fields.add(new PayloadField(id++, "l." + kind.text(), PayloadType.listOf(kind)));
    }
    return new CollectionSchema(7, idType, fields);
  }

  /** The id column and all fields. */
  public static List<Integer> allColumns(CollectionSchema schema) {
    List<Integer> columns = new ArrayList<>();
    columns.add(RowBatch.COLUMN_ID);
    schema.fields().forEach(field -> columns.add(field.fieldId()));
    return columns;
  }

  /** Random rows with nulls where they are allowed; ids are not distinct. */
  public static VectorSchemaRoot rows(
      CollectionSchema schema,
      List<Integer> columns,
      int rows,
      RandomGenerator random,
      BufferAllocator allocator) {
    VectorSchemaRoot root =
        VectorSchemaRoot.create(ArrowSchemas.batchSchema(schema, columns), allocator);
    root.allocateNew();
    for (FieldVector vector : root.getFieldVectors()) {
      boolean withNulls = random.nextInt(4) != 0;
      for (int row = 0; row < rows; row++) {
        boolean isNull = withNulls && random.nextInt(3) == 0;
        set(vector, row, isNull && vector.getField().isNullable(), random);
      }
    }
    root.setRowCount(rows);
    return root;
  }

  /** Every row as a list of values: numbers, strings, hex of bytes, lists, maps, nulls. */
  public static List<List<Object>> values(VectorSchemaRoot root) {
    List<List<Object>> rows = new ArrayList<>();
    for (int row = 0; row < root.getRowCount(); row++) {
      List<Object> values = new ArrayList<>();
      for (FieldVector vector : root.getFieldVectors()) {
        values.add(value(vector, row));
      }
      rows.add(values);
    }
    return rows;
  }

  /** One value as a number, a string, hex of bytes, a list, a map or null. */
  public static Object value(FieldVector vector, int row) {
    return plain(vector.getObject(row));
  }

  private static Object plain(Object value) {
    return switch (value) {
      case null -> null;
      case byte[] bytes -> HexFormat.of().formatHex(bytes);
      case List<?> list -> {
        List<Object> out = new ArrayList<>();
        list.forEach(item -> out.add(plain(item)));
        yield out;
      }
      case Map<?, ?> map -> {
        Map<Object, Object> out = new LinkedHashMap<>();
        map.forEach((key, item) -> out.put(key, plain(item)));
        yield out;
      }
      case Character uint16 -> (int) uint16;
      case Number number -> number;
      case Boolean bool -> bool;
      default -> value.toString();
    };
  }

  private static void set(FieldVector vector, int row, boolean isNull, RandomGenerator random) {
    switch (vector) {
      case BaseFixedWidthVector fixed -> setFixed(fixed, row, isNull, random);
      case BaseVariableWidthVector variable -> {
        if (isNull) {
          variable.setNull(row);
        } else if (variable instanceof VarCharVector) {
          byte[] text = text(random).getBytes(StandardCharsets.UTF_8);
          variable.setSafe(row, text, 0, text.length);
        } else {
          byte[] bytes = bytes(random.nextInt(20), random);
          variable.setSafe(row, bytes, 0, bytes.length);
        }
      }
      case ListVector list -> {
        if (isNull) {
          list.setNull(row);
        } else {
          int items = random.nextInt(4);
          int start = list.startNewValue(row);
          for (int i = 0; i < items; i++) {
            set(list.getDataVector(), start + i, random.nextInt(4) == 0, random);
          }
          list.endValue(row, items);
        }
      }
      case FixedSizeListVector list -> {
        int start = list.startNewValue(row);
        for (int i = 0; i < list.getListSize(); i++) {
          set(list.getDataVector(), start + i, false, random);
        }
        if (isNull) {
          list.setNull(row);
        }
      }
      case StructVector struct -> {
        for (FieldVector child : struct.getChildrenFromFields()) {
          set(child, row, false, random);
        }
        if (isNull) {
          struct.setNull(row);
        } else {
          struct.setIndexDefined(row);
        }
      }
      default -> throw new IllegalArgumentException(vector.getField().toString());
    }
  }

  /** Also under a null there are random bytes, as Arrow allows. */
  private static void setFixed(
      BaseFixedWidthVector vector, int row, boolean isNull, RandomGenerator random) {
    while (row >= vector.getValueCapacity()) {
      vector.reAlloc();
    }
    if (vector.getTypeWidth() == 0) {
      if (random.nextBoolean()) {
        BitVectorHelper.setBit(vector.getDataBuffer(), row);
      } else {
        BitVectorHelper.unsetBit(vector.getDataBuffer(), row);
      }
    } else {
      byte[] bytes = bytes(vector.getTypeWidth(), random);
      vector.getDataBuffer().setBytes((long) row * bytes.length, bytes);
    }
    if (isNull) {
      BitVectorHelper.unsetBit(vector.getValidityBuffer(), row);
    } else {
      BitVectorHelper.setBit(vector.getValidityBuffer(), row);
    }
  }

  private static String text(RandomGenerator random) {
    int length = 1 + random.nextInt(12);
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < length; i++) {
      int at =
          LETTERS.offsetByCodePoints(
              0, random.nextInt(LETTERS.codePointCount(0, LETTERS.length())));
      out.appendCodePoint(LETTERS.codePointAt(at));
    }
    return out.toString();
  }

  private static byte[] bytes(int length, RandomGenerator random) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
