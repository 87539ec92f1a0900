// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import io.sagitta.flight.client.Row;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PayloadType.Kind;
import io.sagitta.model.PointId;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/** {@link Described} points as Arrow columns and back. */
final class DescribedRows {
  static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.INT64,
          List.of(
              new VectorField(
                  1, "vector", VectorType.FLOAT32, Described.DIMENSION, Metric.L2, false),
              payload(2, "edition", Kind.INT64),
              payload(3, "writer", Kind.INT32),
              payload(4, "checksum", Kind.INT64)));

  /** Fields to ask for: all of them, vectors too. */
  static final List<String> FIELDS = SCHEMA.fields().stream().map(field -> field.name()).toList();

  private static final Schema WHOLE = ArrowSchemas.toArrow(SCHEMA);
  private static final Schema ID_ONLY = new Schema(List.of(ArrowSchemas.idField(IdType.INT64)));
  private static final Schema CONDITIONAL = conditional();

  private DescribedRows() {}

  private static PayloadField payload(int fieldId, String name, Kind kind) {
    return new PayloadField(fieldId, name, PayloadType.of(kind));
  }

  private static Schema conditional() {
    List<Field> fields = new ArrayList<>(WHOLE.getFields());
    fields.add(ArrowSchemas.ifVersionField());
    return new Schema(fields);
  }

  /**
   * The batch that a write is.
   *
   * @param version condition of an increment
   */
  static VectorSchemaRoot batch(Write write, OptionalLong version, BufferAllocator allocator) {
    Schema schema =
        switch (write.kind()) {
          case UPSERT -> WHOLE;
          case DELETE -> ID_ONLY;
          case INCREMENT -> CONDITIONAL;
        };
    VectorSchemaRoot batch = VectorSchemaRoot.create(schema, allocator);
    batch.allocateNew();
    for (int row = 0; row < write.points().size(); row++) {
      Write.Point point = write.points().get(row);
      ((BigIntVector) batch.getVector(CollectionSchema.ID)).setSafe(row, point.id());
      if (write.kind() != Write.Kind.DELETE) {
        set(batch, row, new Described(point.id(), point.edition(), write.writer()));
      }
      if (write.kind() == Write.Kind.INCREMENT) {
        ((BigIntVector) batch.getVector(ArrowSchemas.IF_VERSION)).setSafe(row, version.getAsLong());
      }
    }
    batch.setRowCount(write.points().size());
    return batch;
  }

  private static void set(VectorSchemaRoot batch, int row, Described point) {
    FixedSizeListVector vectors = (FixedSizeListVector) batch.getVector("vector");
    Float4Vector components = (Float4Vector) vectors.getDataVector();
    float[] vector = point.vector();
    vectors.startNewValue(row);
    for (int d = 0; d < vector.length; d++) {
      components.setSafe(row * vector.length + d, vector[d]);
    }
    ((BigIntVector) batch.getVector("edition")).setSafe(row, point.edition());
    ((IntVector) batch.getVector("writer")).setSafe(row, point.writer());
    ((BigIntVector) batch.getVector("checksum")).setSafe(row, point.checksum());
  }

  /** A point as it was returned, with what is wrong with it. */
  static StoredPoint stored(Row row) {
    long id = ((PointId.Int64) row.id()).value();
    Object edition = row.fields().get("edition");
    Object writer = row.fields().get("writer");
    Object checksum = row.fields().get("checksum");
    Object vector = row.fields().get("vector");
    if (!(edition instanceof Long e
        && writer instanceof Integer w
        && checksum instanceof Long c
        && vector instanceof float[] v)) {
      return new StoredPoint(id, 0, row.version(), "fields are missing: " + row.fields());
    }
    return new StoredPoint(id, e, row.version(), Described.flaw(id, e, w, c, v));
  }
}
