// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.model.CollectionSchema;
import io.sagitta.shard.segment.RowChunk;
import java.util.List;
import java.util.UUID;

/**
 * A segment to be written to files: all its rows, dead ones too, in ordinal order. Everything here
 * follows from the log alone, so that every replica writes the same bytes.
 */
public interface SegmentSource {
  /** Names the files; decided by the log, not drawn. */
  UUID segmentId();

  /** The fields to write: those of the schema when the segment was frozen. */
  CollectionSchema schema();

  /** Number of rows. */
  int rows();

  /** The rows with their vectors as columns, from ordinal 0 without a gap. */
  List<RowChunk> chunks();

  /** {@code _version} of a row. */
  long version(int ordinal);

  /** Canonical {@code 1 / |v|} of a cosine field; asked only where the field has a vector. */
  float inverseNorm(int fieldId, int ordinal);
}
