// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

/**
 * A query in graph space, for all indexes of a field: made once per search, since the rotation
 * depends on the dimension alone. Reusable; one thread at a time while it is set.
 */
public final class CodeQuery {
  private final IndexParameters parameters;
  private final Rotation rotation;
  private final float[] prepared;

  /** Room for queries on one field. */
  public CodeQuery(IndexParameters parameters) {
    this.parameters = parameters;
    this.rotation = parameters.bits() ? null : new Rotation(parameters.dimension());
    this.prepared = new float[parameters.dimension()];
  }

  /**
   * Takes the {@code dimension} components from {@code values[at]} on; finite, for binary vectors 0
   * or 1.
   */
  public void set(float[] values, int at) {
    System.arraycopy(values, at, prepared, 0, parameters.dimension());
    if (!parameters.bits()) {
      GraphSpace.prepare(parameters, rotation, prepared);
    }
  }

  IndexParameters parameters() {
    return parameters;
  }

  float[] prepared() {
    return prepared;
  }
}
