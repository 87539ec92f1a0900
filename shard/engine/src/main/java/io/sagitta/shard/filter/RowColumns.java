// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.filter;

import org.apache.arrow.vector.FieldVector;

/** The columns of a run of rows. */
public interface RowColumns {
  int rows();

  /** A payload column, or the id for 0; null where these rows have none: every value is null. */
  FieldVector column(int fieldId);

  /** Whether a row has a vector of a vector field. */
  boolean hasVector(int fieldId, int row);
}
