// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.arrow.memory.util.Float16;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float2Vector;
import org.apache.arrow.vector.ValueVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryEncoder;
import org.apache.arrow.vector.dictionary.DictionaryProvider;

/** Reads whatever a client sends, slowly and simply: rows as maps, vectors as float arrays. */
final class TableReader {
  private TableReader() {}

  static List<Map<String, Object>> read(
      VectorSchemaRoot batch, DictionaryProvider dictionaries, CollectionSchema schema) {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (int row = 0; row < batch.getRowCount(); row++) {
      rows.add(new HashMap<>());
    }
    for (FieldVector column : batch.getFieldVectors()) {
      if (column.getField().getDictionary() == null) {
        fill(column, schema, rows);
        continue;
      }
      try (ValueVector decoded =
          DictionaryEncoder.decode(
              column, dictionaries.lookup(column.getField().getDictionary().getId()))) {
        fill(decoded, schema, column.getName(), rows);
      }
    }
    return rows;
  }

  private static void fill(
      FieldVector column, CollectionSchema schema, List<Map<String, Object>> rows) {
    fill(column, schema, column.getName(), rows);
  }

  private static void fill(
      ValueVector column, CollectionSchema schema, String name, List<Map<String, Object>> rows) {
    for (int row = 0; row < rows.size(); row++) {
      Object value = column.isNull(row) ? null : column.getObject(row);
      Object read =
          name.equals(CollectionSchema.ID)
              ? id(schema.idType(), value)
              : schema.requireField(name) instanceof VectorField vector
                  ? vector(vector, value, column, row)
                  : value == null || value instanceof Number || value instanceof Boolean
                      ? value
                      : value.toString();
      rows.get(row).put(name, read);
    }
  }

  private static PointId id(IdType type, Object value) {
    if (type == IdType.UUID && value instanceof byte[] bytes) {
      ByteBuffer in = ByteBuffer.wrap(bytes);
      return new PointId.Uuid(new UUID(in.getLong(), in.getLong()));
    }
    return PointId.parse(type, String.valueOf(value));
  }

  private static float[] vector(VectorField field, Object value, ValueVector column, int row) {
    if (value == null) {
      return null;
    }
    List<?> components = (List<?>) value;
    if (components.size() != field.dimension()) {
      throw SagittaException.invalid(
          "row "
              + row
              + ": field '"
              + field.name()
              + "' has "
              + components.size()
              + " components, expected "
              + field.dimension());
    }
    float[] vector = new float[field.dimension()];
    for (int i = 0; i < vector.length; i++) {
      vector[i] = number(components.get(i), column);
      if (!Float.isFinite(vector[i])) {
        throw SagittaException.invalid(
            "row "
                + row
                + ": field '"
                + field.name()
                + "': component "
                + i
                + " is "
                + vector[i]
                + ", expected a finite number");
      }
    }
    return vector;
  }

  /** Arrow shows a float16 as its bits. */
  private static float number(Object component, ValueVector column) {
    boolean half =
        ((FieldVector) column).getChildrenFromFields().getFirst() instanceof Float2Vector;
    return half ? Float16.toFloat((Short) component) : ((Number) component).floatValue();
  }
}
