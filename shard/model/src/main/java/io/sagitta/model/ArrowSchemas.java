// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * The canonical Arrow types: how ids, vectors and payload lie in the log, on disk and in answers.
 *
 * <table>
 *   <caption>Canonical types</caption>
 *   <tr><td>id</td><td>int64 | utf8 | fixed_size_binary(16) tagged arrow.uuid; not null</td></tr>
 *   <tr><td>float32, float16, int8, uint8</td><td>fixed_size_list&lt;item: that type, not null&gt;[d]</td></tr>
 *   <tr><td>bfloat16</td><td>fixed_size_list&lt;item: fixed_size_binary(2), not null&gt;[d]</td></tr>
 *   <tr><td>binary vector</td><td>fixed_size_binary(ceil(d / 8)), most significant bit first</td></tr>
 *   <tr><td>date, timestamp</td><td>date32; timestamp(us, "UTC")</td></tr>
 *   <tr><td>uuid</td><td>fixed_size_binary(16) tagged arrow.uuid</td></tr>
 *   <tr><td>geo</td><td>struct&lt;lat: float64, lon: float64&gt;, both not null</td></tr>
 *   <tr><td>json</td><td>utf8</td></tr>
 *   <tr><td>lists</td><td>list&lt;item: that type, nullable&gt;</td></tr>
 * </table>
 *
 * <p>A schema also carries, as metadata of its fields, what Arrow has no words for, so that {@link
 * #fromArrow} gives back the very {@link CollectionSchema} that {@link #toArrow} was given.
 */
public final class ArrowSchemas {
  /** Metadata key of a field: {@code id}, {@code vector} or {@code payload}. */
  public static final String ROLE = "sagitta.role";

  /** Metadata key of a field: its type as requests spell it, such as {@code bfloat16}. */
  public static final String TYPE = "sagitta.type";

  /** Metadata key of a vector field: {@code cosine}, {@code dot}, {@code l2} or {@code hamming}. */
  public static final String METRIC = "sagitta.metric";

  /** Metadata key of a vector field: number of components (bits for binary). */
  public static final String DIMENSION = "sagitta.dimension";

  /** Metadata key of a vector field: {@code memory}; absent where its vectors are mapped. */
  public static final String STORAGE = "sagitta.storage";

  /** Metadata key of a field: its number, which outlives renames. */
  public static final String FIELD_ID = "sagitta.field_id";

  /** Metadata key of a schema: {@link CollectionSchema#version}. */
  public static final String SCHEMA_VERSION = "sagitta.schema_version";

  /** Name of the column of conditions ({@link RowBatch#COLUMN_IF_VERSION}). */
  public static final String IF_VERSION = "_if_version";

  /** Name of the one child of every list. */
  public static final String ITEM = "item";

  /** Names of the children of a geo point, in order. */
  public static final List<String> GEO_CHILDREN = List.of("lat", "lon");

  private static final String EXTENSION_NAME = "ARROW:extension:name";
  private static final String EXTENSION_METADATA = "ARROW:extension:metadata";
  private static final String UUID_EXTENSION = "arrow.uuid";
  private static final int UUID_BYTES = 16;

  private ArrowSchemas() {}

  /** The schema of whole points: id first, then the fields in order. */
  public static Schema toArrow(CollectionSchema schema) {
    List<org.apache.arrow.vector.types.pojo.Field> columns = new ArrayList<>();
    columns.add(idField(schema.idType()));
    schema.fields().forEach(field -> columns.add(field(field)));
    return new Schema(columns, Map.of(SCHEMA_VERSION, Integer.toString(schema.version())));
  }

  /**
   * The schema of a batch with the given columns, in their order.
   *
   * @throws SagittaException INVALID_ARGUMENT when a column is not in the schema
   */
  public static Schema batchSchema(CollectionSchema schema, List<Integer> columns) {
    List<org.apache.arrow.vector.types.pojo.Field> fields = new ArrayList<>(columns.size());
    for (int column : columns) {
      fields.add(
          switch (column) {
            case RowBatch.COLUMN_ID -> idField(schema.idType());
            case RowBatch.COLUMN_IF_VERSION -> ifVersionField();
            default ->
                field(
                    schema
                        .field(column)
                        .orElseThrow(
                            () ->
                                SagittaException.invalid(
                                    "column has field id "
                                        + column
                                        + ", which schema version "
                                        + schema.version()
                                        + " does not have")));
          });
    }
    return new Schema(fields);
  }

  /** The id column. */
  public static org.apache.arrow.vector.types.pojo.Field idField(IdType type) {
    Map<String, String> metadata = new LinkedHashMap<>();
    metadata.put(ROLE, "id");
    metadata.put(TYPE, lower(type));
    metadata.put(FIELD_ID, Integer.toString(RowBatch.COLUMN_ID));
    return switch (type) {
      case INT64 -> leaf(CollectionSchema.ID, false, new ArrowType.Int(64, true), metadata);
      case UTF8 -> leaf(CollectionSchema.ID, false, ArrowType.Utf8.INSTANCE, metadata);
      case UUID -> uuid(CollectionSchema.ID, false, metadata);
    };
  }

  /** The int64 column of conditions; null in it means that the row has none. */
  public static org.apache.arrow.vector.types.pojo.Field ifVersionField() {
    return leaf(IF_VERSION, true, new ArrowType.Int(64, true), Map.of());
  }

  /** The column of one field. */
  public static org.apache.arrow.vector.types.pojo.Field field(Field field) {
    return switch (field) {
      case VectorField vector -> vectorField(vector);
      case PayloadField payload -> payloadField(payload);
    };
  }

  /**
   * The collection schema that {@link #toArrow} turned into {@code schema}; also after a client's
   * Arrow library has turned tagged columns into extension types.
   *
   * @throws SagittaException INVALID_ARGUMENT naming the column, what it has and what was expected
   */
  public static CollectionSchema fromArrow(Schema schema) {
    if (schema.getFields().isEmpty()) {
      throw SagittaException.invalid("schema has no columns, expected the id column first");
    }
    org.apache.arrow.vector.types.pojo.Field id = schema.getFields().getFirst();
    IdType idType = constant(IdType.class, id, TYPE);
    check(id, idField(idType));
    List<Field> fields = new ArrayList<>();
    for (var column : schema.getFields().subList(1, schema.getFields().size())) {
      Field field = parse(column);
      check(column, field(field));
      fields.add(field);
    }
    String version = schema.getCustomMetadata().get(SCHEMA_VERSION);
    return new CollectionSchema(number("schema", SCHEMA_VERSION, version), idType, fields);
  }

  private static org.apache.arrow.vector.types.pojo.Field vectorField(VectorField field) {
    Map<String, String> metadata = metadata(field, "vector", lower(field.type()));
    metadata.put(METRIC, lower(field.metric()));
    metadata.put(DIMENSION, Integer.toString(field.dimension()));
    if (field.storage() != VectorStorage.MAPPED) {
      metadata.put(STORAGE, lower(field.storage()));
    }
    ArrowType component =
        switch (field.type()) {
          case FLOAT32 -> new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE);
          case FLOAT16 -> new ArrowType.FloatingPoint(FloatingPointPrecision.HALF);
          case BFLOAT16 -> new ArrowType.FixedSizeBinary(2);
          case INT8 -> new ArrowType.Int(8, true);
          case UINT8 -> new ArrowType.Int(8, false);
          case BINARY -> new ArrowType.FixedSizeBinary(field.vectorBytes());
        };
    if (field.type() == VectorType.BINARY) {
      return leaf(field.name(), field.nullable(), component, metadata);
    }
    return new org.apache.arrow.vector.types.pojo.Field(
        field.name(),
        new FieldType(
            field.nullable(), new ArrowType.FixedSizeList(field.dimension()), null, metadata),
        List.of(leaf(ITEM, false, component, Map.of())));
  }

  private static org.apache.arrow.vector.types.pojo.Field payloadField(PayloadField field) {
    PayloadType type = field.type();
    Map<String, String> metadata = metadata(field, "payload", type.text());
    if (!type.list()) {
      return value(field.name(), type.kind(), metadata);
    }
    return new org.apache.arrow.vector.types.pojo.Field(
        field.name(),
        new FieldType(true, ArrowType.List.INSTANCE, null, metadata),
        List.of(value(ITEM, type.kind(), Map.of())));
  }

  private static org.apache.arrow.vector.types.pojo.Field value(
      String name, PayloadType.Kind kind, Map<String, String> metadata) {
    return switch (kind) {
      case BOOL -> leaf(name, true, ArrowType.Bool.INSTANCE, metadata);
      case INT8 -> leaf(name, true, new ArrowType.Int(8, true), metadata);
      case INT16 -> leaf(name, true, new ArrowType.Int(16, true), metadata);
      case INT32 -> leaf(name, true, new ArrowType.Int(32, true), metadata);
      case INT64 -> leaf(name, true, new ArrowType.Int(64, true), metadata);
      case UINT8 -> leaf(name, true, new ArrowType.Int(8, false), metadata);
      case UINT16 -> leaf(name, true, new ArrowType.Int(16, false), metadata);
      case UINT32 -> leaf(name, true, new ArrowType.Int(32, false), metadata);
      case UINT64 -> leaf(name, true, new ArrowType.Int(64, false), metadata);
      case FLOAT32 ->
          leaf(name, true, new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE), metadata);
      case FLOAT64 -> leaf(name, true, float64(), metadata);
      case UTF8, JSON -> leaf(name, true, ArrowType.Utf8.INSTANCE, metadata);
      case BINARY -> leaf(name, true, ArrowType.Binary.INSTANCE, metadata);
      case DATE -> leaf(name, true, new ArrowType.Date(DateUnit.DAY), metadata);
      case TIMESTAMP ->
          leaf(name, true, new ArrowType.Timestamp(TimeUnit.MICROSECOND, "UTC"), metadata);
      case UUID -> uuid(name, true, metadata);
      case GEO ->
          new org.apache.arrow.vector.types.pojo.Field(
              name,
              new FieldType(true, ArrowType.Struct.INSTANCE, null, metadata),
              GEO_CHILDREN.stream().map(c -> leaf(c, false, float64(), Map.of())).toList());
    };
  }

  private static ArrowType float64() {
    return new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE);
  }

  private static org.apache.arrow.vector.types.pojo.Field uuid(
      String name, boolean nullable, Map<String, String> metadata) {
    Map<String, String> tagged = new LinkedHashMap<>(metadata);
    tagged.put(EXTENSION_NAME, UUID_EXTENSION);
    tagged.put(EXTENSION_METADATA, "");
    return leaf(name, nullable, new ArrowType.FixedSizeBinary(UUID_BYTES), tagged);
  }

  private static org.apache.arrow.vector.types.pojo.Field leaf(
      String name, boolean nullable, ArrowType type, Map<String, String> metadata) {
    return new org.apache.arrow.vector.types.pojo.Field(
        name, new FieldType(nullable, type, null, metadata), List.of());
  }

  private static Map<String, String> metadata(Field field, String role, String type) {
    Map<String, String> metadata = new LinkedHashMap<>();
    metadata.put(ROLE, role);
    metadata.put(TYPE, type);
    metadata.put(FIELD_ID, Integer.toString(field.fieldId()));
    return metadata;
  }

  private static Field parse(org.apache.arrow.vector.types.pojo.Field column) {
    int fieldId = number(column, FIELD_ID);
    String role = required(column, ROLE);
    return switch (role) {
      case "vector" ->
          new VectorField(
              fieldId,
              column.getName(),
              constant(VectorType.class, column, TYPE),
              number(column, DIMENSION),
              constant(Metric.class, column, METRIC),
              column.isNullable(),
              column.getMetadata().containsKey(STORAGE)
                  ? constant(VectorStorage.class, column, STORAGE)
                  : VectorStorage.MAPPED);
      case "payload" ->
          new PayloadField(fieldId, column.getName(), PayloadType.parse(required(column, TYPE)));
      default ->
          throw SagittaException.invalid(
              at(column) + ROLE + " is '" + role + "', expected vector or payload");
    };
  }

  /**
   * Fails unless names, types and nullability are those expected; metadata has been read before.
   */
  private static void check(
      org.apache.arrow.vector.types.pojo.Field actual,
      org.apache.arrow.vector.types.pojo.Field expected) {
    if (!sameShape(actual, expected) || !actual.getName().equals(expected.getName())) {
      throw SagittaException.invalid(
          at(actual) + "Arrow type is " + actual + ", expected " + expected);
    }
  }

  private static boolean sameShape(
      org.apache.arrow.vector.types.pojo.Field actual,
      org.apache.arrow.vector.types.pojo.Field expected) {
    if (!storage(actual.getType()).equals(expected.getType())
        || actual.isNullable() != expected.isNullable()
        || actual.getChildren().size() != expected.getChildren().size()) {
      return false;
    }
    for (int i = 0; i < expected.getChildren().size(); i++) {
      if (!sameShape(actual.getChildren().get(i), expected.getChildren().get(i))) {
        return false;
      }
    }
    return true;
  }

  private static ArrowType storage(ArrowType type) {
    return type instanceof ArrowType.ExtensionType extension ? extension.storageType() : type;
  }

  private static <E extends Enum<E>> E constant(
      Class<E> type, org.apache.arrow.vector.types.pojo.Field column, String key) {
    String text = required(column, key);
    for (E value : type.getEnumConstants()) {
      if (lower(value).equals(text)) {
        return value;
      }
    }
    throw SagittaException.invalid(
        at(column)
            + key
            + " is "
            + Names.quote(text)
            + ", expected one of "
            + List.of(type.getEnumConstants()).stream().map(ArrowSchemas::lower).toList());
  }

  private static int number(org.apache.arrow.vector.types.pojo.Field column, String key) {
    return number("column " + Names.quote(column.getName()), key, required(column, key));
  }

  private static int number(String where, String key, String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new SagittaException(
          ErrorCode.INVALID_ARGUMENT,
          where + ": " + key + " is " + Names.quote(text) + ", expected a number",
          e);
    }
  }

  private static String required(org.apache.arrow.vector.types.pojo.Field column, String key) {
    String text = column.getMetadata().get(key);
    if (text == null) {
      throw SagittaException.invalid(at(column) + "metadata " + key + " is missing");
    }
    return text;
  }

  private static String at(org.apache.arrow.vector.types.pojo.Field column) {
    return "column " + Names.quote(column.getName()) + ": ";
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
