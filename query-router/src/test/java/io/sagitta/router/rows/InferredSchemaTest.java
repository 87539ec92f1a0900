// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.flight.SchemaJson;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PayloadType.Kind;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import java.util.List;
import java.util.Map;
import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;

class InferredSchemaTest {
  private static CollectionSchema infer(Field... columns) {
    return InferredSchema.of(new Schema(List.of(columns)), null);
  }

  private static Field id() {
    return Sent.field("id", new ArrowType.Int(64, true));
  }

  @Test
  void columnsBecomeFieldsInTheirOrder() {
    CollectionSchema schema =
        infer(
            Sent.field("tag", ArrowType.LargeUtf8.INSTANCE),
            id(),
            Sent.fixedListField("v", 384, Sent.FLOAT64),
            Sent.field("when", new ArrowType.Timestamp(TimeUnit.NANOSECOND, null)),
            Sent.field("day", new ArrowType.Date(DateUnit.DAY)),
            Sent.listField("numbers", new ArrowType.Int(16, false)),
            Sent.field(
                "at",
                ArrowType.Struct.INSTANCE,
                Sent.field("lat", Sent.FLOAT64),
                Sent.field("lon", Sent.FLOAT64)),
            Sent.field("_if_version", new ArrowType.Int(64, true)));
    assertThat(schema)
        .isEqualTo(
            new CollectionSchema(
                1,
                IdType.INT64,
                List.of(
                    new PayloadField(1, "tag", PayloadType.of(Kind.UTF8)),
                    new VectorField(2, "v", VectorType.FLOAT32, 384, Metric.COSINE, false),
                    new PayloadField(3, "when", PayloadType.of(Kind.TIMESTAMP)),
                    new PayloadField(4, "day", PayloadType.of(Kind.DATE)),
                    new PayloadField(5, "numbers", PayloadType.listOf(Kind.UINT16)),
                    new PayloadField(6, "at", PayloadType.of(Kind.GEO)))));
  }

  @Test
  void itemsSayTheVectorsType() {
    Map<ArrowType, VectorType> types =
        Map.of(
            Sent.FLOAT16,
            VectorType.FLOAT16,
            Sent.FLOAT32,
            VectorType.FLOAT32,
            new ArrowType.Int(8, true),
            VectorType.INT8,
            new ArrowType.Int(8, false),
            VectorType.UINT8,
            new ArrowType.FixedSizeBinary(2),
            VectorType.BFLOAT16,
            ArrowType.Bool.INSTANCE,
            VectorType.BINARY);
    types.forEach(
        (item, type) -> {
          VectorField field =
              infer(id(), Sent.fixedListField("v", 9, item)).requireVectorField(null);
          assertThat(field.type()).isEqualTo(type);
          assertThat(field.metric()).isEqualTo(SchemaJson.defaultMetric(type));
        });
  }

  @Test
  void metadataMaySayMore() {
    Field vector =
        new Field(
            "v",
            new FieldType(
                true, new ArrowType.FixedSizeList(3), null, Map.of(ArrowSchemas.METRIC, "l2")),
            List.of(Sent.field("item", Sent.FLOAT32)));
    Field json =
        new Field(
            "doc",
            new FieldType(true, ArrowType.Utf8.INSTANCE, null, Map.of(ArrowSchemas.TYPE, "json")),
            List.of());
    CollectionSchema schema = infer(id(), vector, json);
    assertThat(schema.requireVectorField(null).metric()).isEqualTo(Metric.L2);
    assertThat(schema.requireField("doc"))
        .isEqualTo(new PayloadField(2, "doc", PayloadType.of(Kind.JSON)));
  }

  @Test
  void theSchemaOfACollectionMakesTheSameCollection() {
    CollectionSchema schema =
        new CollectionSchema(
            1,
            IdType.UUID,
            List.of(
                new VectorField(1, "v", VectorType.INT8, 7, Metric.DOT, false),
                new PayloadField(2, "u", PayloadType.of(Kind.UUID)),
                new PayloadField(3, "docs", PayloadType.listOf(Kind.JSON))));
    assertThat(InferredSchema.of(ArrowSchemas.toArrow(schema), null)).isEqualTo(schema);
  }

  @Test
  void metadataThatIsNoMetricOrStorageIsRefused() {
    for (String key : List.of(ArrowSchemas.METRIC, ArrowSchemas.STORAGE)) {
      Field vector =
          new Field(
              "v",
              new FieldType(true, new ArrowType.FixedSizeList(3), null, Map.of(key, "euclid")),
              List.of(Sent.field("item", Sent.FLOAT32)));
      assertThatThrownBy(() -> infer(id(), vector))
          .hasMessageContaining("column 'v': " + key + " is 'euclid', expected one of [")
          .hasMessageContaining(key.equals(ArrowSchemas.METRIC) ? "l2" : "mapped, memory");
    }
  }

  @Test
  void whatHasNoCounterpartIsRefusedByName() {
    assertThatThrownBy(() -> infer(Sent.fixedListField("v", 3, Sent.FLOAT32)))
        .isInstanceOf(SagittaException.class)
        .hasMessageContaining("'id' is missing");
    assertThatThrownBy(() -> infer(id(), Sent.listField("v", Sent.FLOAT32)))
        .hasMessageContaining("no column is a vector")
        .hasMessageContaining("fixed_size_list");
    assertThatThrownBy(
            () ->
                infer(
                    id(),
                    Sent.fixedListField("v", 3, Sent.FLOAT32),
                    Sent.field("price", new ArrowType.Decimal(10, 2, 128))))
        .hasMessageContaining("column 'price'")
        .hasMessageContaining("Decimal");
    assertThatThrownBy(
            () -> infer(Sent.field("id", Sent.FLOAT64), Sent.fixedListField("v", 3, Sent.FLOAT32)))
        .hasMessageContaining("column 'id'");
  }
}
