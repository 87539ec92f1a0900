// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model.filter;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Field;
import io.sagitta.model.FilterText;
import io.sagitta.model.Names;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.filter.Filter.Op;
import io.sagitta.model.filter.Filter.Operand;
import io.sagitta.model.filter.Predicate.Truth;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Binds a filter to a schema: fields by name, literals by the field's type. An unknown field, or a
 * literal that cannot be compared with its field, is INVALID_ARGUMENT naming both.
 */
public final class FilterBinder {
  private final CollectionSchema schema;

  private FilterBinder(CollectionSchema schema) {
    this.schema = schema;
  }

  /** Parses and binds. */
  public static Predicate bind(FilterText filter, CollectionSchema schema) {
    Map<Literal, Integer> places = new IdentityHashMap<>();
    Filter parsed = FilterParser.parse(filter, places);
    return bind(parsed, schema, places);
  }

  /** Binds. */
  public static Predicate bind(Filter filter, CollectionSchema schema) {
    return bind(filter, schema, Map.of());
  }

  private static Predicate bind(
      Filter filter, CollectionSchema schema, Map<Literal, Integer> places) {
    try {
      return new FilterBinder(schema).bind(filter);
    } catch (Comparisons.NotOfTheType e) {
      Integer at = places.get(e.value);
      throw at == null
          ? SagittaException.invalid("filter: " + e.getMessage())
          : FilterLexer.error(at, e.getMessage());
    }
  }

  private Predicate bind(Filter filter) {
    return switch (filter) {
      case Filter.And(var parts) -> new Predicate.And(parts.stream().map(this::bind).toList());
      case Filter.Or(var parts) -> or(parts);
      case Filter.Not(var part) -> new Predicate.Not(bind(part));
      case Filter.Constant(var value) -> constant(value);
      case Filter.Compare(var operand, var op, var value) -> compare(operand, op, value);
      case Filter.In(var operand, var values) -> in(operand, values);
      case Filter.Prefix(var operand, var prefix) -> prefix(operand, prefix);
      case Filter.IsNull(var operand) -> isNull(operand);
      case Filter.Contains(var field, var values, var all) -> contains(field, values, all);
      case Filter.GeoWithin(var field, var lat, var lon, var metres) ->
          new Predicate.GeoWithin(geo(field), lat, lon, metres);
      case Filter.GeoBox(var field, var top, var left, var bottom, var right) ->
          new Predicate.GeoBox(geo(field), top, left, bottom, right);
    };
  }

  private static Predicate constant(Literal value) {
    return switch (value) {
      case Literal.Bool(var bool) -> new Predicate.Constant(bool ? Truth.TRUE : Truth.FALSE);
      case Literal.Null _ -> unknown();
      case Literal.Num _, Literal.Text _, Literal.Hex _ ->
          throw SagittaException.invalid("filter: " + value + " is no condition");
    };
  }

  private static Predicate unknown() {
    return new Predicate.Constant(Truth.UNKNOWN);
  }

  /** Equalities of one operand become one IN, so that ten thousand of them cost one look-up. */
  private Predicate or(List<Filter> parts) {
    Map<Operand, List<Literal>> equal = new LinkedHashMap<>();
    List<Predicate> bound = new ArrayList<>();
    for (Filter part : parts) {
      if (part instanceof Filter.Compare(var operand, var op, var value)
          && op == Op.EQ
          && !(operand instanceof Operand.JsonPath)) {
        equal.computeIfAbsent(operand, o -> new ArrayList<>()).add(value);
      } else {
        bound.add(bind(part));
      }
    }
    equal.forEach((operand, values) -> bound.add(in(operand, values)));
    return bound.size() == 1 ? bound.getFirst() : new Predicate.Or(bound);
  }

  private Predicate compare(Operand operand, Op op, Literal value) {
    return switch (operand) {
      case Operand.FieldValue(var name) -> comparison(scalar(name), op, value);
      case Operand.Length(var name) -> {
        Column list = list(name).column();
        if (value instanceof Literal.Null) {
          yield unknown();
        }
        var range = Bounds.integers(op, number(name, value), 0, Integer.MAX_VALUE);
        yield new Predicate.ListLength(list, range.low(), range.high());
      }
      case Operand.JsonPath(var name, var steps) ->
          value instanceof Literal.Null
              ? unknown()
              : new Predicate.JsonCompare(json(name), steps, op, value);
    };
  }

  private Predicate in(Operand operand, List<Literal> values) {
    if (values.isEmpty()) {
      // False of a value, since it equals none; unknown of a null, as every comparison is.
      return new Predicate.And(List.of(isNull(comparable(operand)), unknown()));
    }
    List<Literal> known = values.stream().filter(v -> !(v instanceof Literal.Null)).toList();
    Predicate in;
    if (operand instanceof Operand.FieldValue(var name)) {
      in = Comparisons.in(scalar(name), known);
    } else {
      in = new Predicate.Or(known.stream().map(v -> compare(operand, Op.EQ, v)).toList());
    }
    // As in SQL: a value that is in no list with a NULL may yet be equal to it.
    return known.size() == values.size() ? in : new Predicate.Or(List.of(in, unknown()));
  }

  /** The operand, where values of it can be compared. */
  private Operand comparable(Operand operand) {
    if (operand instanceof Operand.FieldValue(var name)) {
      scalar(name);
    }
    return operand;
  }

  private static Predicate comparison(Named scalar, Op op, Literal value) {
    return value instanceof Literal.Null ? unknown() : Comparisons.compare(scalar, op, value);
  }

  private Predicate prefix(Operand operand, String prefix) {
    return switch (operand) {
      case Operand.FieldValue(var name) -> {
        Named field = scalar(name);
        if (!field.text()) {
          throw SagittaException.invalid(
              "filter: LIKE takes a text field, " + Names.quote(name) + " is " + field.typeName());
        }
        yield new Predicate.BytesPrefix(field.column(), Bytes.utf8(prefix));
      }
      case Operand.JsonPath(var name, var steps) ->
          new Predicate.JsonPrefix(json(name), steps, prefix);
      case Operand.Length _ ->
          throw SagittaException.invalid("filter: LIKE takes a text field, length() is a number");
    };
  }

  private Predicate isNull(Operand operand) {
    return switch (operand) {
      case Operand.FieldValue(var name) -> new Predicate.IsNull(any(name));
      case Operand.Length(var name) -> new Predicate.IsNull(list(name).column());
      case Operand.JsonPath(var name, var steps) -> new Predicate.JsonIsNull(json(name), steps);
    };
  }

  private Predicate contains(String name, List<Literal> values, boolean all) {
    Named list = list(name);
    Named element = list.element();
    if (values.isEmpty()) {
      // All of no values are in any list and none of them is in one; of a null list both are
      // unknown.
      Predicate isList = new Predicate.ListLength(list.column(), 0, Integer.MAX_VALUE);
      return all ? isList : new Predicate.Not(isList);
    }
    List<Predicate> each = new ArrayList<>();
    if (all) {
      for (Literal value : values) {
        each.add(new Predicate.ListAny(list.column(), comparison(element, Op.EQ, value)));
      }
      return each.size() == 1 ? each.getFirst() : new Predicate.And(each);
    }
    List<Literal> known = values.stream().filter(v -> !(v instanceof Literal.Null)).toList();
    return new Predicate.ListAny(list.column(), Comparisons.in(element, known));
  }

  private static java.math.BigDecimal number(String field, Literal value) {
    if (value instanceof Literal.Num(var number)) {
      return number;
    }
    throw SagittaException.invalid(
        "filter: length(" + field + ") is a number, it cannot be compared with " + value);
  }

  private Named scalar(String name) {
    Named field = named(name);
    if (field.list() || field.column().type() == Column.Type.GEO || field.json()) {
      throw SagittaException.invalid(
          "filter: field "
              + Names.quote(name)
              + " is "
              + field.typeName()
              + ", which is not compared as a whole; see contains, geo_within, geo_box, json_path");
    }
    return field;
  }

  private Named list(String name) {
    Named field = named(name);
    if (!field.list()) {
      throw SagittaException.invalid(
          "filter: field " + Names.quote(name) + " is " + field.typeName() + ", expected a list");
    }
    return field;
  }

  private Column geo(String name) {
    Named field = named(name);
    if (field.list() || field.column().type() != Column.Type.GEO) {
      throw SagittaException.invalid(
          "filter: field " + Names.quote(name) + " is " + field.typeName() + ", expected geo");
    }
    return field.column();
  }

  private Column json(String name) {
    Named field = named(name);
    if (field.list() || !field.json()) {
      throw SagittaException.invalid(
          "filter: field " + Names.quote(name) + " is " + field.typeName() + ", expected json");
    }
    return field.column();
  }

  /** Any field, vectors too: for IS NULL. */
  private Column any(String name) {
    if (!name.equals(CollectionSchema.ID) && field(name) instanceof VectorField vector) {
      return new Column(vector.fieldId(), Column.Type.VECTOR);
    }
    return named(name).column();
  }

  private Named named(String name) {
    if (name.equals(CollectionSchema.ID)) {
      return Named.id(schema.idType());
    }
    return switch (field(name)) {
      case PayloadField payload -> Named.payload(payload);
      case VectorField _ ->
          throw SagittaException.invalid(
              "filter: field " + Names.quote(name) + " holds vectors; only IS NULL can be asked");
    };
  }

  private Field field(String name) {
    return schema
        .field(name)
        .orElseThrow(
            () ->
                SagittaException.invalid(
                    "filter: unknown field "
                        + Names.quote(name)
                        + ", expected id or one of "
                        + schema.fields().stream().map(Field::name).toList()));
  }

  /**
   * A field with what its literals must fit.
   *
   * @param kind type of its values, or of its elements
   * @param column where it lies
   */
  record Named(String name, PayloadType.Kind kind, boolean list, Column column) {
    static Named id(io.sagitta.model.IdType type) {
      return switch (type) {
        case INT64 -> of("id", PayloadType.Kind.INT64, false, 0);
        case UTF8 -> of("id", PayloadType.Kind.UTF8, false, 0);
        case UUID -> of("id", PayloadType.Kind.UUID, false, 0);
      };
    }

    static Named payload(PayloadField field) {
      return of(field.name(), field.type().kind(), field.type().list(), field.fieldId());
    }

    private static Named of(String name, PayloadType.Kind kind, boolean list, int fieldId) {
      Column.Type type = list ? Column.Type.LIST : memory(kind);
      return new Named(name, kind, list, new Column(fieldId, type));
    }

    /** The elements of a list. */
    Named element() {
      return new Named(name, kind, false, new Column(column.fieldId(), memory(kind)));
    }

    boolean text() {
      return !list && kind == PayloadType.Kind.UTF8;
    }

    boolean json() {
      return kind == PayloadType.Kind.JSON;
    }

    String typeName() {
      return new PayloadType(kind, list).text();
    }

    private static Column.Type memory(PayloadType.Kind kind) {
      return switch (kind) {
        case BOOL -> Column.Type.BOOL;
        case INT8 -> Column.Type.INT8;
        case INT16 -> Column.Type.INT16;
        case INT32 -> Column.Type.INT32;
        case INT64 -> Column.Type.INT64;
        case UINT8 -> Column.Type.UINT8;
        case UINT16 -> Column.Type.UINT16;
        case UINT32 -> Column.Type.UINT32;
        case UINT64 -> Column.Type.UINT64;
        case FLOAT32 -> Column.Type.FLOAT32;
        case FLOAT64 -> Column.Type.FLOAT64;
        case UTF8, BINARY, JSON -> Column.Type.VAR_BYTES;
        case DATE -> Column.Type.DAY;
        case TIMESTAMP -> Column.Type.MICROSECOND;
        case UUID -> Column.Type.FIXED_BYTES;
        case GEO -> Column.Type.GEO;
      };
    }
  }
}
