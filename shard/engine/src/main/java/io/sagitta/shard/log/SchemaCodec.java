// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.log;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorStorage;
import io.sagitta.model.VectorType;
import io.sagitta.shard.log.proto.Field;
import io.sagitta.shard.log.proto.Schema;
import io.sagitta.shard.log.proto.Vector;
import java.util.ArrayList;
import java.util.List;

/** Collection schemas as they lie in log entries and checkpoints. */
public final class SchemaCodec {
  private SchemaCodec() {}

  /** Encodes a schema. */
  public static Schema toProto(CollectionSchema schema) {
    Schema.Builder out =
        Schema.newBuilder().setVersion(schema.version()).setIdType(schema.idType().name());
    schema.fields().forEach(field -> out.addFields(toProto(field)));
    return out.build();
  }

  /**
   * Decodes a schema.
   *
   * @throws IllegalArgumentException when a name in it is not known; also {@link
   *     io.sagitta.model.SagittaException} when it breaks a rule of schemas
   */
  public static CollectionSchema fromProto(Schema schema) {
    List<io.sagitta.model.Field> fields = new ArrayList<>(schema.getFieldsCount());
    schema.getFieldsList().forEach(field -> fields.add(fromProto(field)));
    return new CollectionSchema(schema.getVersion(), IdType.valueOf(schema.getIdType()), fields);
  }

  private static Field toProto(io.sagitta.model.Field field) {
    Field.Builder out = Field.newBuilder().setFieldId(field.fieldId()).setName(field.name());
    return switch (field) {
      case VectorField vector -> out.setVector(toProto(vector)).build();
      case PayloadField payload -> out.setPayload(payload.type().text()).build();
    };
  }

  private static Vector toProto(VectorField field) {
    Vector.Builder out =
        Vector.newBuilder()
            .setType(field.type().name())
            .setDimension(field.dimension())
            .setMetric(field.metric().name())
            .setNullable(field.nullable());
    if (field.storage() != VectorStorage.MAPPED) {
      out.setStorage(field.storage().name());
    }
    return out.build();
  }

  private static io.sagitta.model.Field fromProto(Field field) {
    return switch (field.getKindCase()) {
      case VECTOR -> {
        Vector vector = field.getVector();
        yield new VectorField(
            field.getFieldId(),
            field.getName(),
            VectorType.valueOf(vector.getType()),
            vector.getDimension(),
            Metric.valueOf(vector.getMetric()),
            vector.getNullable(),
            vector.getStorage().isEmpty()
                ? VectorStorage.MAPPED
                : VectorStorage.valueOf(vector.getStorage()));
      }
      case PAYLOAD ->
          new PayloadField(
              field.getFieldId(), field.getName(), PayloadType.parse(field.getPayload()));
      case KIND_NOT_SET ->
          throw new IllegalArgumentException("field " + field.getFieldId() + " has no type");
    };
  }
}
