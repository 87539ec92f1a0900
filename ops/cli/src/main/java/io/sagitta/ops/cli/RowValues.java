// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.ops.cli.Connection.RowsEnd;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.ExtensionTypeVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.Float2Vector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.SmallIntVector;
import org.apache.arrow.vector.TimeStampMicroTZVector;
import org.apache.arrow.vector.TinyIntVector;
import org.apache.arrow.vector.UInt1Vector;
import org.apache.arrow.vector.UInt2Vector;
import org.apache.arrow.vector.UInt4Vector;
import org.apache.arrow.vector.UInt8Vector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Rows of an answer as JSON values, without loss: integers digit for digit, floats as the shortest
 * text that reads back as the same bits, UUIDs in lower case, timestamps as RFC 3339 in UTC, bytes
 * as base64. NaN and infinities, for which JSON has no number, are strings.
 */
final class RowValues {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private static final String EXTENSION_NAME = "ARROW:extension:name";
  private static final String UUID_EXTENSION = "arrow.uuid";

  private RowValues() {}

  /** Adds a batch's rows. */
  static void addRows(VectorSchemaRoot batch, List<ObjectNode> rows) {
    for (int row = 0; row < batch.getRowCount(); row++) {
      rows.add(row(batch, row));
    }
  }

  /** The same answer as if it had no such column. */
  static RowsEnd without(RowsEnd end, String column) {
    List<Field> fields =
        end.schema().getFields().stream().filter(f -> !f.getName().equals(column)).toList();
    return new RowsEnd(new Schema(fields), end.certificate(), end.explain(), end.cursor());
  }

  /** One row as an object, its columns in their order. */
  static ObjectNode row(VectorSchemaRoot batch, int row) {
    ObjectNode object = JSON.objectNode();
    for (FieldVector column : batch.getFieldVectors()) {
      object.set(column.getName(), value(column, row));
    }
    return object;
  }

  static JsonNode value(FieldVector column, int row) {
    if (column.isNull(row)) {
      return JSON.nullNode();
    }
    return switch (column) {
      case BitVector v -> JSON.booleanNode(v.get(row) != 0);
      case TinyIntVector v -> JSON.numberNode(v.get(row));
      case SmallIntVector v -> JSON.numberNode(v.get(row));
      case IntVector v -> JSON.numberNode(v.get(row));
      case BigIntVector v -> JSON.numberNode(v.get(row));
      case UInt1Vector v -> JSON.numberNode(v.get(row) & 0xFF);
      case UInt2Vector v -> JSON.numberNode((int) v.get(row));
      case UInt4Vector v -> JSON.numberNode(Integer.toUnsignedLong(v.get(row)));
      case UInt8Vector v -> JSON.numberNode(new BigInteger(Long.toUnsignedString(v.get(row))));
      case Float2Vector v -> number(v.getValueAsFloat(row));
      case Float4Vector v -> number(v.get(row));
      case Float8Vector v -> number(v.get(row));
      case DateDayVector v -> JSON.textNode(LocalDate.ofEpochDay(v.get(row)).toString());
      case TimeStampMicroTZVector v ->
          JSON.textNode(Instant.EPOCH.plus(v.get(row), ChronoUnit.MICROS).toString());
      case VarCharVector v -> JSON.textNode(new String(v.get(row), StandardCharsets.UTF_8));
      case VarBinaryVector v -> JSON.textNode(base64(v.get(row)));
      case FixedSizeBinaryVector v ->
          JSON.textNode(isUuid(v) ? uuid(v.get(row)) : base64(v.get(row)));
      case ExtensionTypeVector<?> v -> extension(v, row);
      case FixedSizeListVector v ->
          list(v.getDataVector(), row * v.getListSize(), (row + 1) * v.getListSize());
      case ListVector v ->
          list(v.getDataVector(), v.getElementStartIndex(row), v.getElementEndIndex(row));
      case StructVector v -> struct(v, row);
      default ->
          throw new IllegalStateException(
              "no text for column " + column.getName() + " of type " + column.getField().getType());
    };
  }

  private static JsonNode number(float value) {
    return Float.isFinite(value) ? JSON.numberNode(value) : JSON.textNode(Float.toString(value));
  }

  private static JsonNode number(double value) {
    return Double.isFinite(value) ? JSON.numberNode(value) : JSON.textNode(Double.toString(value));
  }

  private static boolean isUuid(FieldVector column) {
    return UUID_EXTENSION.equals(column.getField().getMetadata().get(EXTENSION_NAME));
  }

  /** Arrow turns columns whose extension it knows into vectors of their own. */
  private static JsonNode extension(ExtensionTypeVector<?> column, int row) {
    FieldVector storage = (FieldVector) column.getUnderlyingVector();
    boolean uuid =
        column.getField().getType() instanceof ArrowType.ExtensionType type
            && type.extensionName().equals(UUID_EXTENSION);
    return uuid && storage instanceof FixedSizeBinaryVector bytes
        ? JSON.textNode(uuid(bytes.get(row)))
        : value(storage, row);
  }

  private static String uuid(byte[] bytes) {
    long high = new BigInteger(bytes, 0, 8).longValue();
    long low = new BigInteger(bytes, 8, 8).longValue();
    return new UUID(high, low).toString();
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  private static ArrayNode list(FieldVector items, int from, int to) {
    ArrayNode array = JSON.arrayNode();
    for (int i = from; i < to; i++) {
      array.add(value(items, i));
    }
    return array;
  }

  private static ObjectNode struct(StructVector column, int row) {
    ObjectNode object = JSON.objectNode();
    for (FieldVector child : column.getChildrenFromFields()) {
      object.set(child.getName(), value(child, row));
    }
    return object;
  }

  /** A value as a cell of a table: strings as they are, long arrays by their ends. */
  static String cell(JsonNode value) {
    if (value.isArray() && value.size() > 6) {
      return "[%s, %s, %s … %s] (%d)"
          .formatted(
              value.get(0), value.get(1), value.get(2), value.get(value.size() - 1), value.size());
    }
    return value.isTextual() ? value.textValue() : value.isNull() ? "null" : value.toString();
  }
}
