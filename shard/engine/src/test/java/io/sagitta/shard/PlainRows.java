// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import io.sagitta.model.RowBatch;
import io.sagitta.model.RowBatchCodec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.BitVectorHelper;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Rows as plain Java values, for tests: null, the hexadecimal of a value's bytes as stored, or a
 * list (a list's items, a geo point's two doubles). Vectors are the bytes of all their components.
 */
final class PlainRows {
  private static final HexFormat HEX = HexFormat.of();

  private PlainRows() {}

  static String int64(long value) {
    return HEX.formatHex(little(8).putLong(value).array());
  }

  static String int32(int value) {
    return HEX.formatHex(little(4).putInt(value).array());
  }

  static String float64(double value) {
    return HEX.formatHex(little(8).putDouble(value).array());
  }

  static String text(String value) {
    return HEX.formatHex(value.getBytes(StandardCharsets.UTF_8));
  }

  static String floats(float... values) {
    byte[] bytes = new byte[4 * values.length];
    ByteBuffer out = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      out.putFloat(value);
    }
    return HEX.formatHex(bytes);
  }

  static String bytes(byte... values) {
    return HEX.formatHex(values);
  }

  static ByteBuffer decode(Object hex) {
    return ByteBuffer.wrap(HEX.parseHex((String) hex)).order(ByteOrder.LITTLE_ENDIAN);
  }

  static String textOf(Object hex) {
    return new String(HEX.parseHex((String) hex), StandardCharsets.UTF_8);
  }

  /** The value of an id as its column stores it. */
  static String id(PointId id) {
    return switch (id) {
      case PointId.Int64 number -> int64(number.value());
      case PointId.Utf8 text -> text(text.value());
      case PointId.Uuid uuid -> HEX.formatHex(uuid.canonicalBytes());
    };
  }

  static PointId idOf(IdType type, Object plain) {
    byte[] bytes = HEX.parseHex((String) plain);
    return switch (type) {
      case INT64 ->
          new PointId.Int64(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong());
      case UTF8 -> new PointId.Utf8(new String(bytes, StandardCharsets.UTF_8));
      case UUID -> {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        yield new PointId.Uuid(new java.util.UUID(in.getLong(), in.getLong()));
      }
    };
  }

  /**
   * Encodes rows.
   *
   * @param rows of each row the values of the columns in order
   */
  static RowBatch batch(
      CollectionSchema schema,
      List<Integer> columns,
      List<List<Object>> rows,
      BufferAllocator allocator) {
    try (VectorSchemaRoot root =
        VectorSchemaRoot.create(ArrowSchemas.batchSchema(schema, columns), allocator)) {
      root.allocateNew();
      for (int row = 0; row < rows.size(); row++) {
        for (int i = 0; i < columns.size(); i++) {
          set(root.getVector(i), row, rows.get(row).get(i));
        }
      }
      root.setRowCount(rows.size());
      return RowBatchCodec.encode(root, columns);
    }
  }

  /** Every row of a root. */
  static List<List<Object>> of(VectorSchemaRoot root) {
    List<List<Object>> rows = new ArrayList<>();
    for (int row = 0; row < root.getRowCount(); row++) {
      List<Object> values = new ArrayList<>();
      for (FieldVector vector : root.getFieldVectors()) {
        values.add(get(vector, row));
      }
      rows.add(values);
    }
    return rows;
  }

  static Object get(FieldVector vector, int row) {
    if (vector.isNull(row)) {
      return null;
    }
    return switch (vector) {
      case BitVector bits -> bits.get(row) == 1 ? "01" : "00";
      case BaseFixedWidthVector fixed ->
          hex(fixed.getDataBuffer(), (long) row * fixed.getTypeWidth(), fixed.getTypeWidth());
      case BaseVariableWidthVector variable ->
          hex(
              variable.getDataBuffer(),
              variable.getOffsetBuffer().getInt(4L * row),
              variable.getValueLength(row));
      case FixedSizeListVector list -> {
        int width =
            list.getListSize() * ((BaseFixedWidthVector) list.getDataVector()).getTypeWidth();
        yield hex(list.getDataVector().getDataBuffer(), (long) row * width, width);
      }
      case ListVector list -> {
        List<Object> items = new ArrayList<>();
        for (int i = list.getElementStartIndex(row); i < list.getElementEndIndex(row); i++) {
          items.add(get(list.getDataVector(), i));
        }
        yield items;
      }
      case StructVector struct ->
          struct.getChildrenFromFields().stream().map(child -> get(child, row)).toList();
      default -> throw new AssertionError(vector.getField().toString());
    };
  }

  private static void set(FieldVector vector, int row, Object value) {
    switch (vector) {
      case BitVector bits -> {
        if (value == null) {
          bits.setNull(row);
        } else {
          bits.setSafe(row, value.equals("01") ? 1 : 0);
        }
      }
      case BaseFixedWidthVector fixed -> {
        while (fixed.getValueCapacity() <= row) {
          fixed.reAlloc();
        }
        fixed.setNull(row);
        if (value != null) {
          byte[] bytes = HEX.parseHex((String) value);
          BitVectorHelper.setBit(fixed.getValidityBuffer(), row);
          fixed.getDataBuffer().setBytes((long) row * fixed.getTypeWidth(), bytes);
        }
      }
      case BaseVariableWidthVector variable -> {
        if (value == null) {
          variable.setNull(row);
        } else {
          variable.setSafe(row, HEX.parseHex((String) value));
        }
      }
      case FixedSizeListVector list -> setVector(list, row, (String) value);
      case ListVector list -> {
        if (value == null) {
          list.setNull(row);
        } else {
          List<?> items = (List<?>) value;
          int start = list.startNewValue(row);
          for (int i = 0; i < items.size(); i++) {
            set(list.getDataVector(), start + i, items.get(i));
          }
          list.endValue(row, items.size());
        }
      }
      case StructVector struct -> {
        List<FieldVector> children = struct.getChildrenFromFields();
        for (int i = 0; i < children.size(); i++) {
          set(children.get(i), row, value == null ? float64(0) : ((List<?>) value).get(i));
        }
        if (value == null) {
          struct.setNull(row);
        } else {
          struct.setIndexDefined(row);
        }
      }
      default -> throw new AssertionError(vector.getField().toString());
    }
  }

  private static void setVector(FixedSizeListVector list, int row, String value) {
    list.startNewValue(row);
    BaseFixedWidthVector items = (BaseFixedWidthVector) list.getDataVector();
    int width = items.getTypeWidth();
    byte[] bytes = value == null ? new byte[list.getListSize() * width] : HEX.parseHex(value);
    while (items.getValueCapacity() < (row + 1) * list.getListSize()) {
      items.reAlloc();
    }
    for (int i = 0; i < list.getListSize(); i++) {
      int at = row * list.getListSize() + i;
      BitVectorHelper.setBit(items.getValidityBuffer(), at);
      items.getDataBuffer().setBytes((long) at * width, bytes, i * width, width);
    }
    if (value == null) {
      list.setNull(row);
    }
  }

  private static String hex(ArrowBuf buffer, long from, int length) {
    byte[] bytes = new byte[length];
    buffer.getBytes(from, bytes);
    return HEX.formatHex(bytes);
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
