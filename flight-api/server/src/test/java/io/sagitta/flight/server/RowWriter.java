// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.PointId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;

/** Writes rows as answers have them. */
final class RowWriter {
  private RowWriter() {}

  static VectorSchemaRoot rows(
      CollectionSchema schema,
      List<FakeHandler.Answer> answers,
      boolean search,
      List<String> columns,
      BufferAllocator allocator) {
    List<Field> fields = new ArrayList<>();
    if (search) {
      fields.add(field("query", new ArrowType.Int(32, true)));
    }
    fields.add(ArrowSchemas.idField(schema.idType()));
    if (search) {
      fields.add(field("_score", new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE)));
    }
    fields.add(field("_version", new ArrowType.Int(64, true)));
    for (String column : columns) {
      fields.add(ArrowSchemas.field(schema.requireField(column)));
    }
    VectorSchemaRoot root = VectorSchemaRoot.create(new Schema(fields), allocator);
    for (int row = 0; row < answers.size(); row++) {
      FakeHandler.Answer answer = answers.get(row);
      for (FieldVector vector : root.getFieldVectors()) {
        Object value =
            switch (vector.getName()) {
              case "query" -> answer.query();
              case "id" -> answer.id();
              case "_score" -> answer.score();
              case "_version" -> answer.point().version();
              default -> answer.point().values().get(vector.getName());
            };
        set(vector, row, value);
      }
    }
    root.setRowCount(answers.size());
    return root;
  }

  private static Field field(String name, ArrowType type) {
    return new Field(name, FieldType.notNullable(type), List.of());
  }

  private static void set(FieldVector vector, int row, Object value) {
    if (value == null) {
      vector.setNull(row);
      return;
    }
    switch (vector) {
      case BigIntVector longs ->
          longs.setSafe(
              row, value instanceof PointId.Int64 id ? id.value() : ((Number) value).longValue());
      case IntVector ints -> ints.setSafe(row, ((Number) value).intValue());
      case Float4Vector floats -> floats.setSafe(row, ((Number) value).floatValue());
      case Float8Vector doubles -> doubles.setSafe(row, ((Number) value).doubleValue());
      case BitVector bits -> bits.setSafe(row, (Boolean) value ? 1 : 0);
      case VarCharVector texts ->
          texts.setSafe(row, value.toString().getBytes(StandardCharsets.UTF_8));
      case FixedSizeBinaryVector uuids ->
          uuids.setSafe(row, ByteBuffer.wrap(((PointId.Uuid) value).canonicalBytes()).array());
      case FixedSizeListVector list -> {
        float[] components = (float[]) value;
        list.setNotNull(row);
        Float4Vector data = (Float4Vector) list.getDataVector();
        for (int i = 0; i < components.length; i++) {
          data.setSafe(row * components.length + i, components[i]);
        }
      }
      default -> throw new IllegalArgumentException("no writer for " + vector.getField());
    }
  }
}
