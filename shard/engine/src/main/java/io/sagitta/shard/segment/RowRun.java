// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import io.sagitta.shard.distance.VectorRows;
import org.apache.arrow.vector.FieldVector;

/**
 * Neighbouring rows of a segment whose columns lie together: a chunk in memory or one in a file.
 */
public interface RowRun {
  /** Ordinal of the first row. */
  int start();

  /** Number of rows. */
  int rows();

  IdColumn ids();

  /** The rows as Arrow columns; vector fields need not be among them. */
  RowChunk columns();

  /** Values of a payload field; null where the rows were written before the field was added. */
  FieldVector column(int fieldId);

  /** Vectors of a field; null where the rows were written before the field was added. */
  VectorRows vectors(int fieldId);

  /** Whether row {@code row} of this run has a vector; the field must be one of the segment's. */
  boolean hasVector(int fieldId, int row);

  /** Whether every row of this run has a vector. */
  boolean allHaveVectors(int fieldId);
}
