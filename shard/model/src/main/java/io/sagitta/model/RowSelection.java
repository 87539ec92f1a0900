// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.Objects;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Some rows of a root of canonical columns, in an order: all of them, a range, or picked ones. What
 * {@link RowBatchCodec} copies from, so that splitting, cutting and joining batches costs one copy.
 * Borrows the root: it must stay open and unchanged while the selection is used.
 */
public final class RowSelection {
  private final VectorSchemaRoot root;
  private final int[] picks;
  private final int from;
  private final int count;

  private RowSelection(VectorSchemaRoot root, int[] picks, int from, int count) {
    this.root = Objects.requireNonNull(root);
    this.picks = picks;
    this.from = from;
    this.count = count;
  }

  /** Every row, in order. */
  public static RowSelection all(VectorSchemaRoot root) {
    return new RowSelection(root, null, 0, root.getRowCount());
  }

  /** Rows {@code from} to {@code from + count - 1}. */
  public static RowSelection range(VectorSchemaRoot root, int from, int count) {
    Objects.checkFromIndexSize(from, count, root.getRowCount());
    return new RowSelection(root, null, from, count);
  }

  /** The rows with these numbers, in this order; a row may be picked more than once. */
  public static RowSelection picked(VectorSchemaRoot root, int[] rows) {
    for (int row : rows) {
      Objects.checkIndex(row, root.getRowCount());
    }
    return new RowSelection(root, rows.clone(), 0, rows.length);
  }

  /** Part of this selection: {@code count} of its rows from the one at {@code from}. */
  public RowSelection part(int from, int count) {
    Objects.checkFromIndexSize(from, count, this.count);
    return new RowSelection(root, picks, this.from + from, count);
  }

  /** Where the rows lie. */
  public VectorSchemaRoot root() {
    return root;
  }

  /** How many rows are selected. */
  public int count() {
    return count;
  }

  /** Number in the root of the selected row {@code index}. */
  public int row(int index) {
    return picks == null ? from + index : picks[from + index];
  }

  /** The selection as runs of neighbouring rows. */
  RowRuns runs() {
    RowRuns runs = new RowRuns();
    if (picks == null) {
      runs.add(from, count);
    } else {
      for (int i = 0; i < count; i++) {
        runs.add(picks[from + i], 1);
      }
    }
    return runs;
  }
}
