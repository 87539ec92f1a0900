// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import io.sagitta.flight.SchemaJson;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Field;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.Names;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorStorage;
import io.sagitta.model.VectorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * A collection's schema from that of a stream, for a first put that says {@code create} and gives
 * no fields.
 *
 * <p>The id's type is that of the column {@code id}. A list of fixed size whose items can be
 * components is a vector field: of float32 for float32 and float64 items, else of the items' type
 * (bool: binary); not nullable, since clients mark every column nullable unasked; of the metric
 * that {@code create} would take, unless the column's metadata names one under {@link
 * ArrowSchemas#METRIC}; mapped, unless it says otherwise under {@link ArrowSchemas#STORAGE}. Every
 * other column is payload of the kind its type says, or of the one under {@link ArrowSchemas#TYPE}.
 */
public final class InferredSchema {
  private InferredSchema() {}

  /**
   * Infers version 1 of a schema.
   *
   * @throws SagittaException INVALID_ARGUMENT naming the column whose type has no counterpart, or
   *     when there is no id or no vector
   */
  public static CollectionSchema of(Schema sent, DictionaryProvider dictionaries) {
    IdType idType = null;
    List<Field> fields = new ArrayList<>();
    for (var column : sent.getFields()) {
      var values = SentColumn.valueField(column, dictionaries);
      if (column.getName().equals(CollectionSchema.ID)) {
        idType = idType(values);
      } else if (!column.getName().equals(ArrowSchemas.IF_VERSION)) {
        fields.add(field(fields.size() + 1, column.getName(), column.getMetadata(), values));
      }
    }
    if (idType == null) {
      throw SagittaException.invalid("column 'id' is missing");
    }
    if (fields.stream().noneMatch(VectorField.class::isInstance)) {
      throw SagittaException.invalid(
          "no column is a vector, expected at least one fixed_size_list of float32 or another"
              + " component type; create the collection with 'fields' to send other lists");
    }
    return new CollectionSchema(1, idType, fields);
  }

  private static IdType idType(org.apache.arrow.vector.types.pojo.Field id) {
    ArrowType type = SentColumn.storage(id.getType());
    if (type instanceof ArrowType.Int) {
      return IdType.INT64;
    }
    if (isText(type)) {
      return IdType.UTF8;
    }
    if (type.equals(new ArrowType.FixedSizeBinary(16))) {
      return IdType.UUID;
    }
    throw Refusal.column(
        CollectionSchema.ID,
        "type " + id.getType() + " is not accepted, expected an integer, text or 16 bytes");
  }

  private static Field field(
      int fieldId,
      String name,
      Map<String, String> metadata,
      org.apache.arrow.vector.types.pojo.Field values) {
    if (values.getType() instanceof ArrowType.FixedSizeList list) {
      VectorType type = componentType(values.getChildren().getFirst());
      if (type != null) {
        return new VectorField(
            fieldId,
            name,
            type,
            list.getListSize(),
            declared(
                name,
                metadata,
                ArrowSchemas.METRIC,
                Metric.values(),
                SchemaJson.defaultMetric(type)),
            false,
            declared(
                name,
                metadata,
                ArrowSchemas.STORAGE,
                VectorStorage.values(),
                VectorStorage.MAPPED));
      }
    }
    String declared = metadata.get(ArrowSchemas.TYPE);
    PayloadType type = declared == null ? payloadType(values) : PayloadType.parse(declared);
    if (type == null) {
      throw Refusal.column(name, "type " + values.getType() + " is not accepted");
    }
    return new PayloadField(fieldId, name, type);
  }

  private static VectorType componentType(org.apache.arrow.vector.types.pojo.Field item) {
    return switch (SentColumn.storage(item.getType())) {
      case ArrowType.FloatingPoint floating ->
          switch (floating.getPrecision()) {
            case HALF -> VectorType.FLOAT16;
            case SINGLE, DOUBLE -> VectorType.FLOAT32;
          };
      case ArrowType.Int integer when integer.getBitWidth() == Byte.SIZE ->
          integer.getIsSigned() ? VectorType.INT8 : VectorType.UINT8;
      case ArrowType.FixedSizeBinary bytes when bytes.getByteWidth() == 2 -> VectorType.BFLOAT16;
      case ArrowType.Bool ignored -> VectorType.BINARY;
      default -> null;
    };
  }

  /** What the column's metadata says under a key: the name of one of {@code known}. */
  private static <E extends Enum<E>> E declared(
      String column, Map<String, String> metadata, String key, E[] known, E otherwise) {
    String declared = metadata.get(key);
    if (declared == null) {
      return otherwise;
    }
    List<String> names =
        Arrays.stream(known).map(value -> value.name().toLowerCase(Locale.ROOT)).toList();
    int place = names.indexOf(declared);
    if (place < 0) {
      throw Refusal.column(
          column, key + " is " + Names.quote(declared) + ", expected one of " + names);
    }
    return known[place];
  }

  private static PayloadType payloadType(org.apache.arrow.vector.types.pojo.Field values) {
    ArrowType type = SentColumn.storage(values.getType());
    boolean list =
        type instanceof ArrowType.List
            || type instanceof ArrowType.LargeList
            || type instanceof ArrowType.FixedSizeList;
    PayloadType.Kind kind = kind(list ? values.getChildren().getFirst() : values);
    return kind == null ? null : new PayloadType(kind, list);
  }

  private static PayloadType.Kind kind(org.apache.arrow.vector.types.pojo.Field values) {
    return switch (SentColumn.storage(values.getType())) {
      case ArrowType.Bool ignored -> PayloadType.Kind.BOOL;
      case ArrowType.Int integer -> integerKind(integer);
      case ArrowType.FloatingPoint floating ->
          switch (floating.getPrecision()) {
            case HALF, SINGLE -> PayloadType.Kind.FLOAT32;
            case DOUBLE -> PayloadType.Kind.FLOAT64;
          };
      case ArrowType.Date ignored -> PayloadType.Kind.DATE;
      case ArrowType.Timestamp ignored -> PayloadType.Kind.TIMESTAMP;
      case ArrowType.FixedSizeBinary bytes when bytes.getByteWidth() == 16 ->
          values.getType() instanceof ArrowType.ExtensionType
                  || "arrow.uuid".equals(values.getMetadata().get("ARROW:extension:name"))
              ? PayloadType.Kind.UUID
              : PayloadType.Kind.BINARY;
      case ArrowType.FixedSizeBinary ignored -> PayloadType.Kind.BINARY;
      case ArrowType.Binary ignored -> PayloadType.Kind.BINARY;
      case ArrowType.LargeBinary ignored -> PayloadType.Kind.BINARY;
      case ArrowType.BinaryView ignored -> PayloadType.Kind.BINARY;
      case ArrowType.Struct ignored ->
          ValueCopies.find(PayloadType.Kind.GEO, values).isPresent() ? PayloadType.Kind.GEO : null;
      case ArrowType type when isText(type) -> PayloadType.Kind.UTF8;
      default -> null;
    };
  }

  private static PayloadType.Kind integerKind(ArrowType.Int type) {
    boolean signed = type.getIsSigned();
    return switch (type.getBitWidth()) {
      case 8 -> signed ? PayloadType.Kind.INT8 : PayloadType.Kind.UINT8;
      case 16 -> signed ? PayloadType.Kind.INT16 : PayloadType.Kind.UINT16;
      case 32 -> signed ? PayloadType.Kind.INT32 : PayloadType.Kind.UINT32;
      default -> signed ? PayloadType.Kind.INT64 : PayloadType.Kind.UINT64;
    };
  }

  private static boolean isText(ArrowType type) {
    return type instanceof ArrowType.Utf8
        || type instanceof ArrowType.LargeUtf8
        || type instanceof ArrowType.Utf8View;
  }
}
