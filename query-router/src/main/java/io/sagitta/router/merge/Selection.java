// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.merge;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.RowSelection;
import io.sagitta.model.SagittaException;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Field;

/** Rows picked from several roots of the same columns, in an order, as runs of neighbours. */
final class Selection {
  private final List<VectorSchemaRoot> roots;
  private final List<RowSelection> parts = new ArrayList<>();
  private int root = -1;
  private int from;
  private int count;
  private int rows;

  /**
   * A selection.
   *
   * @throws SagittaException UNAVAILABLE where the roots differ in columns: their shards are on
   *     either side of a schema change, and will agree in a moment
   */
  Selection(List<VectorSchemaRoot> roots) {
    this.roots = roots;
    List<Field> first = roots.getFirst().getSchema().getFields();
    for (VectorSchemaRoot other : roots) {
      if (!sameColumns(first, other.getSchema().getFields())) {
        throw SagittaException.unavailable("the collection's schema is changing; ask again", 100);
      }
    }
  }

  /** Appends a row of a root. */
  void add(int ofRoot, int row) {
    rows++;
    if (ofRoot == root && row == from + count) {
      count++;
      return;
    }
    flush();
    root = ofRoot;
    from = row;
    count = 1;
  }

  int rows() {
    return rows;
  }

  /**
   * Copies the rows into a root of their own.
   *
   * @throws SagittaException LIMIT when they take more than {@code bytesMax}
   */
  VectorSchemaRoot copy(long bytesMax, BufferAllocator allocator) {
    flush();
    root = -1;
    if (parts.isEmpty()) {
      parts.add(RowSelection.range(roots.getFirst(), 0, 0));
    }
    long bytes = 0;
    for (RowSelection part : parts) {
      for (int size : RowBatchCodec.rowBytes(part)) {
        bytes += size;
      }
    }
    if (bytes > bytesMax) {
      throw new SagittaException(
          ErrorCode.LIMIT,
          "the answer has %d rows of %d bytes together, expected at most %d; ask for fewer rows or fields"
              .formatted(rows, bytes, bytesMax));
    }
    return RowBatchCodec.copy(parts, allocator);
  }

  private void flush() {
    if (root >= 0) {
      parts.add(RowSelection.range(roots.get(root), from, count));
    }
  }

  private static boolean sameColumns(List<Field> a, List<Field> b) {
    if (a.size() != b.size()) {
      return false;
    }
    for (int i = 0; i < a.size(); i++) {
      if (!a.get(i).getName().equals(b.get(i).getName())
          || !a.get(i).getType().equals(b.get(i).getType())) {
        return false;
      }
    }
    return true;
  }
}
