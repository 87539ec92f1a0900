// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.List;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.ExtensionTypeVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.ListVector;

/** How large rows get in a message: upper bounds, close ones, found without encoding them. */
final class RowSizes {
  /** A value's bits of validity and, where it is a bool, of data are counted as a byte each. */
  private static final int BIT = 1;

  private RowSizes() {}

  /** Per selected row the bytes it adds at most in the given columns of its root. */
  static int[] of(List<FieldVector> columns, RowSelection rows) {
    int[] sizes = new int[rows.count()];
    for (FieldVector vector : columns) {
      int fixed = fixedBytes(vector);
      for (int i = 0; i < sizes.length; i++) {
        long bytes = fixed >= 0 ? fixed : valueBytes(vector, rows.row(i));
        sizes[i] = (int) Math.min(sizes[i] + bytes, Integer.MAX_VALUE);
      }
    }
    return sizes;
  }

  /** What a message takes at most beside its rows: metadata, padding, first offsets. */
  static int overhead(VectorSchemaRoot root) {
    int nodes = 0;
    for (FieldVector vector : root.getFieldVectors()) {
      nodes += nodes(vector);
    }
    int buffers = 3 * nodes;
    return IpcMessage.metadataBytesMax(nodes, buffers)
        + buffers * (IpcMessage.ALIGNMENT + Integer.BYTES);
  }

  private static int nodes(FieldVector vector) {
    int nodes = 1;
    for (FieldVector child : vector.getChildrenFromFields()) {
      nodes += nodes(child);
    }
    return nodes;
  }

  /** Bytes of any value of the vector, or -1 where they vary. */
  private static int fixedBytes(FieldVector vector) {
    if (vector instanceof BitVector) {
      return 2 * BIT;
    }
    if (vector instanceof BaseFixedWidthVector fixed) {
      return BIT + fixed.getTypeWidth();
    }
    if (vector instanceof ExtensionTypeVector<?> extension) {
      return fixedBytes((FieldVector) extension.getUnderlyingVector());
    }
    if (vector instanceof FixedSizeListVector list) {
      int width = ((BaseFixedWidthVector) list.getDataVector()).getTypeWidth();
      return BIT + list.getListSize() * width;
    }
    return -1;
  }

  private static long valueBytes(FieldVector vector, int row) {
    if (vector instanceof BaseVariableWidthVector variable) {
      return (long) BIT + Integer.BYTES + (vector.isNull(row) ? 0 : variable.getValueLength(row));
    }
    if (vector instanceof ListVector list) {
      FieldVector items = list.getDataVector();
      long bytes = (long) BIT + Integer.BYTES;
      if (!list.isNull(row)) {
        for (int i = list.getElementStartIndex(row); i < list.getElementEndIndex(row); i++) {
          int fixed = fixedBytes(items);
          bytes += fixed >= 0 ? fixed : valueBytes(items, i);
        }
      }
      return bytes;
    }
    long bytes = BIT;
    for (FieldVector child : vector.getChildrenFromFields()) {
      bytes += fixedBytes(child);
    }
    return bytes;
  }
}
