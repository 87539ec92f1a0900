// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import io.sagitta.model.ArrowSchemas;
import java.util.List;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * A run of consecutive rows of a segment as canonical Arrow columns: the id column first, then
 * fields, each known by the field id in its metadata. Which fields there are may differ by chunk: a
 * field that was added later is missing in chunks from before (all null there), and the vectors of
 * a segment that lies in files are not columns but {@code MappedVectors}. Borrowed from the
 * segment, read-only.
 *
 * @param firstOrdinal ordinal of its first row
 * @param columns its rows
 */
public record RowChunk(int firstOrdinal, VectorSchemaRoot columns) {
  /** Number of rows. */
  public int rows() {
    return columns.getRowCount();
  }

  /** The ids. */
  public FieldVector ids() {
    return columns.getVector(0);
  }

  /** The column of a field, or null where the chunk has none: every value is null then. */
  public FieldVector column(int fieldId) {
    String id = Integer.toString(fieldId);
    List<Field> fields = columns.getSchema().getFields();
    for (int i = 0; i < fields.size(); i++) {
      if (id.equals(fields.get(i).getMetadata().get(ArrowSchemas.FIELD_ID))) {
        return columns.getVector(i);
      }
    }
    return null;
  }
}
