// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import io.sagitta.model.CollectionSchema;
import java.util.List;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Checked rows in canonical columns, row i being row i of the batch sent. Columns that were
 * canonical as sent are the batch's own; closing this closes only those that were converted.
 */
public final class CanonicalRows implements AutoCloseable {
  private final CollectionSchema schema;
  private final List<Integer> columns;
  private final VectorSchemaRoot root;
  private final List<ReadColumn> read;

  CanonicalRows(CollectionSchema schema, List<Integer> columns, int rows, List<ReadColumn> read) {
    this.schema = schema;
    this.columns = List.copyOf(columns);
    this.root =
        new VectorSchemaRoot(
            read.stream().map(column -> column.vector().getField()).toList(),
            read.stream().map(ReadColumn::vector).toList(),
            rows);
    this.read = List.copyOf(read);
  }

  public CollectionSchema schema() {
    return schema;
  }

  /** Field ids of the columns, the id column first. */
  public List<Integer> columns() {
    return columns;
  }

  /** The columns; never close it, it may hold vectors of the batch sent. */
  public VectorSchemaRoot root() {
    return root;
  }

  public int count() {
    return root.getRowCount();
  }

  /** The id column. */
  public FieldVector ids() {
    return root.getVector(0);
  }

  @Override
  public void close() {
    read.forEach(ReadColumn::close);
  }
}
