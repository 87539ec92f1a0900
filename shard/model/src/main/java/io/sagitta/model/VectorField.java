// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.Objects;

/**
 * A vector field.
 *
 * @param fieldId stable number of the field
 * @param name the field's name
 * @param type type of the components as stored
 * @param dimension number of components: 1 to 16,384, or 1 to 65,535 bits for binary
 * @param metric how vectors of this field are scored; HAMMING exactly for binary
 * @param nullable whether a point may have no vector here
 * @param storage where full vectors are kept for reading
 */
public record VectorField(
    int fieldId,
    String name,
    VectorType type,
    int dimension,
    Metric metric,
    boolean nullable,
    VectorStorage storage)
    implements Field {

  public static final int DIMENSION_MAX = 16_384;
  public static final int DIMENSION_BITS_MAX = 65_535;

  public VectorField {
    Names.checkField(name);
    Objects.requireNonNull(storage);
    int max = type == VectorType.BINARY ? DIMENSION_BITS_MAX : DIMENSION_MAX;
    if (dimension < 1 || dimension > max) {
      throw SagittaException.invalid(
          "field '" + name + "': dimension " + dimension + " is outside 1.." + max);
    }
    if ((metric == Metric.HAMMING) != (type == VectorType.BINARY)) {
      throw SagittaException.invalid(
          "field '"
              + name
              + "': metric hamming and type binary go together, got "
              + metric
              + " with "
              + type);
    }
  }

  /** A field whose vectors are mapped: the default. */
  public VectorField(
      int fieldId, String name, VectorType type, int dimension, Metric metric, boolean nullable) {
    this(fieldId, name, type, dimension, metric, nullable, VectorStorage.MAPPED);
  }

  /** Bytes of one vector as stored, without padding. */
  public int vectorBytes() {
    return type.bytes(dimension);
  }
}
