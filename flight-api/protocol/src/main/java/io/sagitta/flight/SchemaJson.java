// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import com.fasterxml.jackson.core.JsonGenerator;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Field;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.Names;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorStorage;
import io.sagitta.model.VectorType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Collections as JSON: {@code {"collection", "id", "fields": [{"name", "type", "dim", "metric",
 * "nullable", "storage"}], "shards", "replicas"}}. A field with {@code dim} is a vector field, any
 * other a payload field.
 */
public final class SchemaJson {
  static final List<String> CREATE_KEYS =
      List.of("collection", "id", "fields", "shards", "replicas");
  static final List<String> FIELD_KEYS =
      List.of("name", "type", "dim", "metric", "nullable", "storage");
  static final String AUTO = "auto";

  private SchemaJson() {}

  /** Parses an object with keys {@code id} and {@code fields}: the schema part of a description. */
  public static CollectionSchema parse(byte[] json) {
    try (StrictJson in = StrictJson.open(json, "")) {
      CollectionSchema schema = readCreate(in, true).schema();
      in.end();
      return schema;
    }
  }

  /** The schema as {@code {"id": .., "fields": [..]}}. */
  public static byte[] print(CollectionSchema schema) {
    return Commands.write(
        out -> {
          out.writeStartObject();
          writeSchema(schema, out);
          out.writeEndObject();
        });
  }

  /**
   * Reads the object at hand.
   *
   * @param within whether it stands within something that names the collection, so that it need
   *     not; the spec's name is null then unless it is repeated. Within a put the fields may be
   *     left out too, and the id with them, to be taken from the columns of the stream: the schema
   *     then has none
   */
  static CreateSpec readCreate(StrictJson in, boolean within) {
    String collection = null;
    Optional<IdType> id = Optional.empty();
    List<Field> fields = null;
    OptionalInt shards = OptionalInt.empty();
    OptionalInt replicas = OptionalInt.empty();
    in.enter(CREATE_KEYS);
    for (String key = in.nextKey(); key != null; key = in.nextKey()) {
      switch (key) {
        case "collection" ->
            collection = in.checked(() -> Names.checkCollection("collection", in.string()));
        case "id" -> id = Optional.of(in.oneOf(IdType.class));
        case "fields" -> fields = fields(in);
        case "shards" -> shards = OptionalInt.of(in.integer(1, RequestLimits.SHARDS_MAX));
        case "replicas" -> replicas = replicas(in);
        default -> throw new IllegalStateException("no reader for key " + key);
      }
    }
    in.require(within || collection != null, "collection");
    in.require(within || fields != null, "fields");
    IdType idType = id.orElse(IdType.INT64);
    if (fields == null) {
      if (id.isPresent()) {
        throw in.wrongHere("'id' without 'fields': it is then the type of the stream's id column");
      }
      return new CreateSpec(
          collection, new CollectionSchema(1, idType, List.of()), shards, replicas);
    }
    CollectionSchema schema = new CollectionSchema(1, idType, fields);
    if (schema.vectorFields().isEmpty()) {
      throw in.wrongHere("'fields' has no vector field (one with 'dim'), expected at least one");
    }
    return new CreateSpec(collection, schema, shards, replicas);
  }

  private static OptionalInt replicas(StrictJson in) {
    if (in.isString() && in.string().equals(AUTO)) {
      return OptionalInt.empty();
    }
    if (!in.isInteger()) {
      throw in.wrong("'auto' or an integer from 1 to " + RequestLimits.REPLICAS_MAX);
    }
    return OptionalInt.of(in.integer(1, RequestLimits.REPLICAS_MAX));
  }

  private static List<Field> fields(StrictJson in) {
    in.enterArray("an array of fields");
    List<Field> fields = new ArrayList<>();
    while (in.nextElement()) {
      if (fields.size() == CollectionSchema.FIELDS_MAX) {
        throw in.wrong("at most " + CollectionSchema.FIELDS_MAX + " fields");
      }
      in.rename("fields[" + fields.size() + "]");
      fields.add(field(in, fields.size() + 1));
    }
    in.rename("fields");
    return fields;
  }

  private static Field field(StrictJson in, int fieldId) {
    String name = null;
    String type = null;
    OptionalInt dim = OptionalInt.empty();
    Optional<Metric> metric = Optional.empty();
    Optional<Boolean> nullable = Optional.empty();
    Optional<VectorStorage> storage = Optional.empty();
    in.enter(FIELD_KEYS);
    for (String key = in.nextKey(); key != null; key = in.nextKey()) {
      switch (key) {
        case "name" -> name = in.checked(() -> Names.checkField(in.string()));
        case "type" -> type = in.string();
        case "dim" -> dim = OptionalInt.of(in.integer(1, VectorField.DIMENSION_BITS_MAX));
        case "metric" -> metric = Optional.of(in.oneOf(Metric.class));
        case "nullable" -> nullable = Optional.of(in.bool());
        case "storage" -> storage = Optional.of(in.oneOf(VectorStorage.class));
        default -> throw new IllegalStateException("no reader for key " + key);
      }
    }
    in.require(name != null, "name");
    in.require(type != null, "type");
    String fieldName = name;
    String fieldType = type;
    if (dim.isEmpty()) {
      if (storage.isPresent()) {
        throw in.wrongHere("'storage' without 'dim': only vector fields have one");
      }
      return payload(in, fieldId, fieldName, fieldType, metric, nullable);
    }
    VectorType vector = vectorType(in, fieldType);
    int dimension = dim.getAsInt();
    Metric scoredBy = metric.orElse(defaultMetric(vector));
    boolean optional = nullable.orElse(false);
    VectorStorage kept = storage.orElse(VectorStorage.MAPPED);
    return in.checked(
        () -> new VectorField(fieldId, fieldName, vector, dimension, scoredBy, optional, kept));
  }

  private static Field payload(
      StrictJson in,
      int fieldId,
      String name,
      String type,
      Optional<Metric> metric,
      Optional<Boolean> nullable) {
    if (metric.isPresent()) {
      throw in.wrongHere("'metric' without 'dim': only vector fields have a metric");
    }
    if (!nullable.orElse(true)) {
      throw in.wrongHere("'nullable' is false, but payload fields may always be null");
    }
    return new PayloadField(fieldId, name, in.checked(() -> PayloadType.parse(type)));
  }

  private static VectorType vectorType(StrictJson in, String type) {
    List<String> names = StrictJson.names(VectorType.class);
    if (!names.contains(type)) {
      throw in.wrongHere(
          "'type' is "
              + Names.quote(type)
              + ", expected one of "
              + names
              + " since 'dim' is given");
    }
    return VectorType.values()[names.indexOf(type)];
  }

  /** Cosine for floats, Euclidean distance for integers, differing bits for bits. */
  public static Metric defaultMetric(VectorType type) {
    return switch (type) {
      case FLOAT32, FLOAT16, BFLOAT16 -> Metric.COSINE;
      case INT8, UINT8 -> Metric.L2;
      case BINARY -> Metric.HAMMING;
    };
  }

  /** Writes the whole object, with the collection's name unless it stands within a put. */
  static void write(CreateSpec spec, boolean within, JsonGenerator out) throws IOException {
    out.writeStartObject();
    if (!within) {
      out.writeStringField("collection", spec.collection());
    }
    if (!spec.schema().fields().isEmpty()) {
      writeSchema(spec.schema(), out);
    }
    if (spec.shards().isPresent()) {
      out.writeNumberField("shards", spec.shards().getAsInt());
    }
    if (spec.replicas().isPresent() && spec.replicas().getAsInt() > 0) {
      out.writeNumberField("replicas", spec.replicas().getAsInt());
    }
    out.writeEndObject();
  }

  private static void writeSchema(CollectionSchema schema, JsonGenerator out) throws IOException {
    out.writeStringField("id", StrictJson.nameOf(schema.idType()));
    out.writeArrayFieldStart("fields");
    for (Field field : schema.fields()) {
      out.writeStartObject();
      out.writeStringField("name", field.name());
      switch (field) {
        case VectorField vector -> {
          out.writeStringField("type", StrictJson.nameOf(vector.type()));
          out.writeNumberField("dim", vector.dimension());
          out.writeStringField("metric", StrictJson.nameOf(vector.metric()));
          out.writeBooleanField("nullable", vector.nullable());
          if (vector.storage() != VectorStorage.MAPPED) {
            out.writeStringField("storage", StrictJson.nameOf(vector.storage()));
          }
        }
        case PayloadField payload -> out.writeStringField("type", payload.type().text());
      }
      out.writeEndObject();
    }
    out.writeEndArray();
  }
}
