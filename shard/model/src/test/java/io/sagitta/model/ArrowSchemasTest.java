// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.arrow.vector.extension.UuidType;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ArrowSchemasTest {

  @ParameterizedTest
  @EnumSource(IdType.class)
  void aSchemaOfEveryTypeComesBackAsItWas(IdType idType) {
    CollectionSchema schema = RandomRows.everyType(idType);
    Schema arrow = ArrowSchemas.toArrow(schema);
    assertThat(ArrowSchemas.fromArrow(arrow)).isEqualTo(schema);
    ByteBuffer wire = ByteBuffer.wrap(arrow.serializeAsMessage());
    assertThat(ArrowSchemas.fromArrow(Schema.deserializeMessage(wire))).isEqualTo(schema);
  }

  @Test
  void storageIsSaidWhereItIsNotTheDefault() {
    VectorField mapped = new VectorField(1, "v", VectorType.FLOAT32, 3, Metric.DOT, false);
    VectorField held =
        new VectorField(2, "w", VectorType.INT8, 3, Metric.L2, true, VectorStorage.MEMORY);
    CollectionSchema schema = new CollectionSchema(1, IdType.INT64, List.of(mapped, held));
    Schema arrow = ArrowSchemas.toArrow(schema);
    assertThat(arrow.findField("v").getMetadata()).doesNotContainKey(ArrowSchemas.STORAGE);
    assertThat(arrow.findField("w").getMetadata()).containsEntry("sagitta.storage", "memory");
    assertThat(ArrowSchemas.fromArrow(arrow)).isEqualTo(schema);
  }

  @Test
  void aUuidColumnIsKnownAlsoOnceArrowMadeItAnExtensionType() {
    CollectionSchema schema = new CollectionSchema(1, IdType.UUID, List.of());
    assertThat(UuidType.INSTANCE.extensionName()).isEqualTo("arrow.uuid");
    Schema read =
        Schema.deserializeMessage(
            ByteBuffer.wrap(ArrowSchemas.toArrow(schema).serializeAsMessage()));
    assertThat(read.getFields().getFirst().getType()).isInstanceOf(UuidType.class);
    assertThat(ArrowSchemas.fromArrow(read)).isEqualTo(schema);
  }

  @Test
  void columnsOfABatchFollowTheirFieldIds() {
    CollectionSchema schema = RandomRows.everyType(IdType.INT64);
    Schema batch = ArrowSchemas.batchSchema(schema, List.of(0, -1, 13, 2));
    assertThat(batch.getFields())
        .extracting(org.apache.arrow.vector.types.pojo.Field::getName)
        .containsExactly("id", "_if_version", "p.bool", "v_float32_null");
    assertThatThrownBy(() -> ArrowSchemas.batchSchema(schema, List.of(0, 999)))
        .isInstanceOf(SagittaException.class)
        .hasMessageContaining("field id 999");
  }

  @Test
  void whatIsNotOursIsRefusedNamingTheColumn() {
    CollectionSchema schema = RandomRows.everyType(IdType.INT64);
    Schema arrow = ArrowSchemas.toArrow(schema);
    for (int i = 0; i < arrow.getFields().size(); i++) {
      var field = arrow.getFields().get(i);
      var other =
          new org.apache.arrow.vector.types.pojo.Field(
              field.getName(),
              new FieldType(
                  field.isNullable(),
                  new ArrowType.Duration(org.apache.arrow.vector.types.TimeUnit.SECOND),
                  null,
                  field.getMetadata()),
              List.of());
      var bare =
          new org.apache.arrow.vector.types.pojo.Field(
              field.getName(),
              new FieldType(field.isNullable(), field.getType(), null, Map.of()),
              field.getChildren());
      for (var wrong : List.of(other, bare)) {
        List<org.apache.arrow.vector.types.pojo.Field> fields = new ArrayList<>(arrow.getFields());
        fields.set(i, wrong);
        assertThatThrownBy(
                () -> ArrowSchemas.fromArrow(new Schema(fields, arrow.getCustomMetadata())))
            .isInstanceOf(SagittaException.class)
            .hasMessageContaining("column '" + field.getName() + "'");
      }
    }
    assertThatThrownBy(() -> ArrowSchemas.fromArrow(new Schema(List.of())))
        .isInstanceOf(SagittaException.class);
    assertThatThrownBy(() -> ArrowSchemas.fromArrow(new Schema(arrow.getFields())))
        .hasMessageContaining("sagitta.schema_version");
  }
}
