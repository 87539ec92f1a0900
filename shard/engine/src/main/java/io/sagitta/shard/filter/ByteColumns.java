// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.filter;

import io.sagitta.model.filter.Bytes;
import io.sagitta.model.filter.Predicate;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;

/** Text, bytes and UUIDs, compared byte by byte, unsigned, where they lie. */
final class ByteColumns {
  private final FieldVector vector;
  private final ArrowBuf data;
  private final ArrowBuf offsets;
  private final int width;

  private ByteColumns(FieldVector vector, ArrowBuf offsets, int width) {
    this.vector = vector;
    this.data = vector.getDataBuffer();
    this.offsets = offsets;
    this.width = width;
  }

  static ByteColumns of(FieldVector vector) {
    return switch (vector) {
      case FixedSizeBinaryVector fixed -> new ByteColumns(fixed, null, fixed.getByteWidth());
      case BaseVariableWidthVector variable ->
          new ByteColumns(variable, variable.getOffsetBuffer(), 0);
      default -> throw new IllegalStateException("not bytes: " + vector.getField());
    };
  }

  static Truths range(ByteColumns column, Predicate.BytesRange range, int rows) {
    Bytes low = range.low();
    Bytes high = range.high();
    return Truths.of(
        column.vector,
        rows,
        row -> {
          if (low != null) {
            int order = column.compare(row, low);
            if (order < 0 || (order == 0 && !range.lowIn())) {
              return false;
            }
          }
          if (high != null) {
            int order = column.compare(row, high);
            return order < 0 || (order == 0 && range.highIn());
          }
          return true;
        });
  }

  static Truths in(ByteColumns column, List<Bytes> sorted, int rows) {
    if (sorted.size() == 1) {
      Bytes only = sorted.getFirst();
      return Truths.of(
          column.vector,
          rows,
          row -> column.length(row) == only.length() && column.compare(row, only) == 0);
    }
    Bytes[] values = sorted.toArray(Bytes[]::new);
    return Truths.of(column.vector, rows, row -> column.search(row, values));
  }

  static Truths prefix(ByteColumns column, Bytes prefix, int rows) {
    return Truths.of(
        column.vector,
        rows,
        row ->
            column.length(row) >= prefix.length()
                && column.mismatch(row, prefix, prefix.length()) == prefix.length());
  }

  private boolean search(int row, Bytes[] sorted) {
    int low = 0;
    int high = sorted.length - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int order = compare(row, sorted[middle]);
      if (order == 0) {
        return true;
      }
      if (order > 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return false;
  }

  private long start(int row) {
    return offsets == null ? (long) row * width : offsets.getInt((long) row * Integer.BYTES);
  }

  private int length(int row) {
    return offsets == null
        ? width
        : offsets.getInt((row + 1L) * Integer.BYTES) - offsets.getInt((long) row * Integer.BYTES);
  }

  private int compare(int row, Bytes value) {
    int common = Math.min(length(row), value.length());
    int at = mismatch(row, value, common);
    return at < common
        ? Byte.compareUnsigned(data.getByte(start(row) + at), value.get(at))
        : Integer.compare(length(row), value.length());
  }

  /** The first of {@code limit} bytes that differs, or {@code limit}. */
  private int mismatch(int row, Bytes value, int limit) {
    long start = start(row);
    int at = 0;
    while (at < limit && data.getByte(start + at) == value.get(at)) {
      at++;
    }
    return at;
  }
}
