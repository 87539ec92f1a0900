// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.model.CollectionSchema;
import io.sagitta.shard.segment.RowChunk;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.arrow.vector.VectorSchemaRoot;

/** A segment of given rows; versions and norms are made up from the ordinal. */
final class RowsSource implements SegmentSource {
  private final UUID segmentId;
  private final CollectionSchema schema;
  private final List<RowChunk> chunks = new ArrayList<>();
  private int rows;

  RowsSource(UUID segmentId, CollectionSchema schema, List<VectorSchemaRoot> roots) {
    this.segmentId = segmentId;
    this.schema = schema;
    for (VectorSchemaRoot root : roots) {
      chunks.add(new RowChunk(rows, root));
      rows += root.getRowCount();
    }
  }

  @Override
  public UUID segmentId() {
    return segmentId;
  }

  @Override
  public CollectionSchema schema() {
    return schema;
  }

  @Override
  public int rows() {
    return rows;
  }

  @Override
  public List<RowChunk> chunks() {
    return chunks;
  }

  @Override
  public long version(int ordinal) {
    return 1_000_000_000_007L * ordinal - 5;
  }

  @Override
  public float inverseNorm(int fieldId, int ordinal) {
    return 1f / (ordinal + fieldId);
  }
}
