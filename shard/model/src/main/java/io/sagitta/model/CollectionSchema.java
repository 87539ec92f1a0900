// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a collection's points look like. Fields may be added and dropped, which raises {@code
 * version}; the type of an existing field never changes.
 *
 * @param version grows by one with every change, starts at 1
 * @param idType the type of ids
 * @param fields all fields but the id, in the order in which they are returned
 */
public record CollectionSchema(int version, IdType idType, List<Field> fields) {
  /** Name of the id column on every wire. */
  public static final String ID = "id";

  /** Fields a collection may have. */
  public static final int FIELDS_MAX = 1_024;

  public CollectionSchema {
    fields = List.copyOf(fields);
    if (fields.size() > FIELDS_MAX) {
      throw SagittaException.invalid(
          "a collection has at most " + FIELDS_MAX + " fields, got " + fields.size());
    }
    Set<String> names = new HashSet<>();
    Set<Integer> ids = new HashSet<>();
    for (Field field : fields) {
      if (!names.add(field.name())) {
        throw SagittaException.invalid("field " + Names.quote(field.name()) + " is declared twice");
      }
      if (!ids.add(field.fieldId())) {
        throw new IllegalArgumentException("field id " + field.fieldId() + " is used twice");
      }
    }
  }

  public Optional<Field> field(String name) {
    return fields.stream().filter(f -> f.name().equals(name)).findFirst();
  }

  public Optional<Field> field(int fieldId) {
    return fields.stream().filter(f -> f.fieldId() == fieldId).findFirst();
  }

  public List<VectorField> vectorFields() {
    return fields.stream()
        .filter(VectorField.class::isInstance)
        .map(VectorField.class::cast)
        .toList();
  }

  /** The named field, or INVALID_ARGUMENT naming it and the fields there are. */
  public Field requireField(String name) {
    return field(name)
        .orElseThrow(
            () ->
                SagittaException.invalid(
                    "unknown field "
                        + Names.quote(name)
                        + ", expected one of "
                        + fields.stream().map(Field::name).toList()));
  }

  /** The named vector field; with {@code null} the only one there is. */
  public VectorField requireVectorField(String nameOrNull) {
    List<VectorField> vectors = vectorFields();
    if (nameOrNull == null) {
      if (vectors.size() != 1) {
        throw SagittaException.invalid(
            "'field' is needed: the collection has vector fields "
                + vectors.stream().map(VectorField::name).toList());
      }
      return vectors.getFirst();
    }
    if (requireField(nameOrNull) instanceof VectorField vector) {
      return vector;
    }
    throw SagittaException.invalid("field " + Names.quote(nameOrNull) + " is not a vector field");
  }
}
