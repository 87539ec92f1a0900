// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;

class AnswerWriterTest {
  private static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.INT64,
          List.of(
              new VectorField(1, "v", VectorType.FLOAT32, 4, Metric.L2, false),
              new PayloadField(2, "tags", PayloadType.listOf(PayloadType.Kind.UTF8))));

  @Test
  void theItemsOfListsHaveTheNameThatTheCollectionsSchemaGivesThem() {
    Schema declared = ArrowSchemas.toArrow(SCHEMA);
    try (RootAllocator allocator = new RootAllocator()) {
      List<Field> asVectorsSay =
          declared.getFields().stream()
              .map(
                  field -> {
                    try (FieldVector vector = field.createVector(allocator)) {
                      return vector.getField();
                    }
                  })
              .toList();
      Schema answer = AnswerWriter.withMetadata(new Schema(asVectorsSay), Map.of("k", "v"));
      assertThat(answer.getCustomMetadata()).containsEntry("k", "v");
      for (Field field : declared.getFields()) {
        assertThat(answer.findField(field.getName()).getChildren())
            .extracting(Field::getName)
            .isEqualTo(field.getChildren().stream().map(Field::getName).toList());
      }
    }
  }
}
