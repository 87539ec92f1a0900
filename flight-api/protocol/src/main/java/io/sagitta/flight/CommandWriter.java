// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import com.fasterxml.jackson.core.JsonGenerator;
import io.sagitta.flight.Command.Consistency;
import io.sagitta.flight.Command.IdText;
import io.sagitta.flight.Command.Query;
import io.sagitta.model.FilterText;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardRead.Effort;
import io.sagitta.model.WriteMode;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Writes the inner object of each verb: the mirror of {@link CommandReader}. */
final class CommandWriter {
  private CommandWriter() {}

  static void write(Command command, JsonGenerator out) throws IOException {
    if (command instanceof Command.Create create) {
      SchemaJson.write(create.spec(), false, out);
      return;
    }
    out.writeStartObject();
    switch (command) {
      case Command.Search search -> search(search, out);
      case Command.Get get -> get(get, out);
      case Command.Scan scan -> scan(scan, out);
      case Command.Put put -> put(put, out);
      case Command.Create create -> throw new IllegalStateException("written above: " + create);
      case Command.Drop drop -> out.writeStringField("collection", drop.collection());
      case Command.Describe describe -> out.writeStringField("collection", describe.collection());
      case Command.Verify verify -> out.writeStringField("collection", verify.collection());
      case Command.Count count -> {
        out.writeStringField("collection", count.collection());
        filter(count.filter(), out);
        consistency(count.consistency(), out);
      }
      case Command.Delete delete -> {
        out.writeStringField("collection", delete.collection());
        filter(Optional.of(delete.filter()), out);
      }
      case Command.SetPayload set -> {
        out.writeStringField("collection", set.collection());
        filter(set.filter(), out);
        ids(set.ids(), out);
        out.writeFieldName("values");
        value(set.values(), out);
      }
      case Command.UnsetPayload unset -> {
        out.writeStringField("collection", unset.collection());
        filter(unset.filter(), out);
        ids(unset.ids(), out);
        strings("fields", unset.fields(), out);
      }
      case Command.OpenWriter open -> {
        if (open.afterMs().isPresent()) {
          out.writeNumberField("after", open.afterMs().getAsLong());
        }
      }
      case Command.Status status -> {}
    }
    out.writeEndObject();
  }

  private static void search(Command.Search search, JsonGenerator out) throws IOException {
    out.writeStringField("collection", search.collection());
    if (search.field().isPresent()) {
      out.writeStringField("field", search.field().get());
    }
    query(search.query(), out);
    out.writeNumberField("k", search.k());
    if (search.offset() > 0) {
      out.writeNumberField("offset", search.offset());
    }
    filter(search.filter(), out);
    switch (search.effort()) {
      case Effort.Recall recall -> {
        if (!recall.equals(CommandReader.DEFAULT_EFFORT)) {
          out.writeNumberField("recall", recall.target());
        }
      }
      case Effort.Ef ef -> out.writeNumberField("ef", ef.value());
      case Effort.Exact exact -> out.writeBooleanField("exact", true);
    }
    if (search.minScore().isPresent()) {
      out.writeNumberField("min_score", search.minScore().getAsDouble());
    }
    if (search.maxDistance().isPresent()) {
      out.writeNumberField("max_distance", search.maxDistance().getAsDouble());
    }
    if (search.groupBy().isPresent()) {
      out.writeStringField("group_by", search.groupBy().get().field());
      out.writeNumberField("group_size", search.groupBy().get().size());
    }
    fields(search.fields(), out);
    consistency(search.consistency(), out);
    if (search.partial()) {
      out.writeBooleanField("partial", true);
    }
    if (search.timeoutMs().isPresent()) {
      out.writeNumberField("timeout_ms", search.timeoutMs().getAsLong());
    }
    if (search.explain()) {
      out.writeBooleanField("explain", true);
    }
  }

  private static void query(Query query, JsonGenerator out) throws IOException {
    switch (query) {
      case Query.Vectors vectors -> {
        boolean one = vectors.rows().length == 1;
        out.writeFieldName(one ? "vector" : "vectors");
        if (!one) {
          out.writeStartArray();
        }
        for (float[] row : vectors.rows()) {
          out.writeStartArray();
          for (float component : row) {
            out.writeNumber(component);
          }
          out.writeEndArray();
        }
        if (!one) {
          out.writeEndArray();
        }
      }
      case Query.PackedVectors packed -> out.writeBinaryField("vector_f32", packed.littleEndian());
      case Query.Like like -> {
        out.writeFieldName("like");
        id(like.id(), out);
      }
    }
  }

  private static void get(Command.Get get, JsonGenerator out) throws IOException {
    out.writeStringField("collection", get.collection());
    ids(Optional.of(get.ids()), out);
    fields(get.fields(), out);
    consistency(get.consistency(), out);
  }

  private static void scan(Command.Scan scan, JsonGenerator out) throws IOException {
    out.writeStringField("collection", scan.collection());
    filter(scan.filter(), out);
    fields(scan.fields(), out);
    if (scan.cursor().isPresent()) {
      out.writeStringField("cursor", scan.cursor().get());
    }
    if (scan.limit().isPresent()) {
      out.writeNumberField("limit", scan.limit().getAsInt());
    }
    consistency(scan.consistency(), out);
    if (scan.shard().isPresent()) {
      out.writeNumberField("shard", scan.shard().getAsInt());
    }
  }

  private static void put(Command.Put put, JsonGenerator out) throws IOException {
    out.writeStringField("collection", put.collection());
    if (put.mode() != WriteMode.UPSERT) {
      out.writeStringField("mode", StrictJson.nameOf(put.mode()));
    }
    if (put.writer().isPresent()) {
      out.writeStringField("writer", put.writer().get().toString());
    }
    if (put.create().isPresent()) {
      out.writeFieldName("create");
      SchemaJson.write(put.create().get(), true, out);
    }
  }

  private static void filter(Optional<FilterText> filter, JsonGenerator out) throws IOException {
    if (filter.isEmpty()) {
      return;
    }
    out.writeStringField("filter", filter.get().text());
    if (!filter.get().params().isEmpty()) {
      out.writeFieldName("params");
      value(filter.get().params(), out);
    }
  }

  private static void consistency(Consistency consistency, JsonGenerator out) throws IOException {
    if (consistency.level() != Consistency.Level.STRONG) {
      out.writeStringField("consistency", StrictJson.nameOf(consistency.level()));
    }
    if (consistency.token().isPresent()) {
      out.writeStringField("token", consistency.token().get());
    }
    if (consistency.maxStalenessMs().isPresent()) {
      out.writeNumberField("max_staleness_ms", consistency.maxStalenessMs().getAsLong());
    }
  }

  private static void fields(Optional<List<String>> fields, JsonGenerator out) throws IOException {
    if (fields.isPresent()) {
      strings("fields", fields.get(), out);
    }
  }

  private static void strings(String key, List<String> values, JsonGenerator out)
      throws IOException {
    out.writeArrayFieldStart(key);
    for (String value : values) {
      out.writeString(value);
    }
    out.writeEndArray();
  }

  private static void ids(Optional<List<IdText>> ids, JsonGenerator out) throws IOException {
    if (ids.isEmpty()) {
      return;
    }
    out.writeArrayFieldStart("ids");
    for (IdText id : ids.get()) {
      id(id, out);
    }
    out.writeEndArray();
  }

  private static void id(IdText id, JsonGenerator out) throws IOException {
    if (id.quoted()) {
      out.writeString(id.text());
    } else {
      out.writeNumber(new BigInteger(id.text()));
    }
  }

  /**
   * Writes a value so that it reads back as the same number: a double as the exact decimal it
   * stands for, since the shortest one that rounds to it is another number.
   */
  static void value(Object value, JsonGenerator out) throws IOException {
    switch (value) {
      case null -> out.writeNull();
      case Boolean bool -> out.writeBoolean(bool);
      case String text -> out.writeString(text);
      case Long number -> out.writeNumber(number);
      case Integer number -> out.writeNumber(number);
      case BigInteger number -> out.writeNumber(number);
      case BigDecimal number -> out.writeNumber(number);
      case Double number -> out.writeNumber(exact(number));
      case Float number -> out.writeNumber(exact(number.doubleValue()));
      case List<?> list -> {
        out.writeStartArray();
        for (Object element : list) {
          value(element, out);
        }
        out.writeEndArray();
      }
      case Map<?, ?> map -> {
        out.writeStartObject();
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          out.writeFieldName((String) entry.getKey());
          value(entry.getValue(), out);
        }
        out.writeEndObject();
      }
      default ->
          throw new IllegalArgumentException("no JSON for a value of type " + value.getClass());
    }
  }

  private static BigDecimal exact(double value) {
    if (!Double.isFinite(value)) {
      throw SagittaException.invalid("a parameter is " + value + ", expected a finite number");
    }
    return new BigDecimal(value);
  }
}
