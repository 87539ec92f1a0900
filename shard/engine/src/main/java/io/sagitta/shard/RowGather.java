// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.Field;
import io.sagitta.model.IdType;
import io.sagitta.model.PayloadField;
import io.sagitta.model.VectorField;
import io.sagitta.shard.distance.VectorRows;
import io.sagitta.shard.segment.RowRun;
import io.sagitta.shard.segment.Segment;
import io.sagitta.shard.segment.SegmentSet;
import java.lang.foreign.MemorySegment;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVectorHelper;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Copies columns of rows picked from anywhere in a set of segments, in the order picked. A row
 * whose segment does not know a field, since it is older, has null there.
 */
final class RowGather {
  private static final int GEO_BYTES = 16;

  private final Segment[] segments;
  private final RowRun[] runs;
  private final int[] rows;

  /** Rows by their references; see {@link SegmentSet#ref}. */
  RowGather(SegmentSet set, long[] refs, int count) {
    this.segments = new Segment[count];
    this.runs = new RowRun[count];
    this.rows = new int[count];
    for (int i = 0; i < count; i++) {
      int row = SegmentSet.row(refs[i]);
      segments[i] = set.segments().get(SegmentSet.segment(refs[i]));
      runs[i] = segments[i].runOf(row);
      rows[i] = row - runs[i].start();
    }
  }

  int count() {
    return rows.length;
  }

  /** The ids. */
  FieldVector ids(IdType type, BufferAllocator allocator) {
    FieldVector out = ArrowSchemas.idField(type).createVector(allocator);
    return filled(
        out,
        () -> {
          for (int i = 0; i < rows.length; i++) {
            out.copyFromSafe(rows[i], i, runs[i].columns().ids());
          }
        });
  }

  /** The versions, into a column of their own. */
  FieldVector versions(BigIntVector out) {
    return filled(
        out,
        () -> {
          for (int i = 0; i < rows.length; i++) {
            out.set(i, segments[i].version(runs[i].start() + rows[i]));
          }
        });
  }

  /** One field's values. */
  FieldVector column(Field field, BufferAllocator allocator) {
    FieldVector out = ArrowSchemas.field(field).createVector(allocator);
    return filled(
        out,
        () -> {
          switch (field) {
            case PayloadField payload -> copyPayload(payload, out);
            case VectorField vector -> copyVectors(vector, out);
          }
        });
  }

  /** Bytes of a row's value, as far as it varies from row to row or is large; an estimate. */
  long valueBytes(Field field, int i) {
    return switch (field) {
      case VectorField vector -> vector.vectorBytes();
      case PayloadField payload -> {
        FieldVector column = runs[i].column(payload.fieldId());
        yield column == null ? 0 : bytes(column, rows[i]);
      }
    };
  }

  /** A column of a field without a single value. */
  static FieldVector nulls(Field field, int count, BufferAllocator allocator) {
    return filled(ArrowSchemas.field(field).createVector(allocator), count, () -> {});
  }

  /** A column of a payload field whose every value is the one in row 0 of another. */
  static FieldVector repeated(
      Field field, FieldVector value, int count, BufferAllocator allocator) {
    FieldVector out = ArrowSchemas.field(field).createVector(allocator);
    return filled(
        out,
        count,
        () -> {
          for (int i = 0; i < count; i++) {
            if (value.isNull(0)) {
              out.setNull(i);
            } else {
              copy(value, 0, out, i);
            }
          }
        });
  }

  private FieldVector filled(FieldVector out, Runnable fill) {
    return filled(out, rows.length, fill);
  }

  private static FieldVector filled(FieldVector out, int count, Runnable fill) {
    try {
      out.setInitialCapacity(Math.max(1, count));
      out.allocateNew();
      if (out instanceof FixedSizeListVector list) {
        setItems((BaseFixedWidthVector) list.getDataVector(), (long) count * list.getListSize());
      }
      fill.run();
      out.setValueCount(count);
      return out;
    } catch (Throwable e) {
      out.close();
      throw e;
    }
  }

  /** Components are never null, also those of a vector that is. */
  private static void setItems(BaseFixedWidthVector items, long count) {
    MemorySegment.ofAddress(items.getValidityBuffer().memoryAddress())
        .reinterpret((count + 7) / 8)
        .fill((byte) -1);
  }

  private void copyPayload(PayloadField field, FieldVector out) {
    for (int i = 0; i < rows.length; i++) {
      FieldVector from = runs[i].column(field.fieldId());
      if (from == null || from.isNull(rows[i])) {
        out.setNull(i);
      } else {
        copy(from, rows[i], out, i);
      }
    }
  }

  /** Copies a value that is not null. Arrow's own copying does not know every type within lists. */
  private static void copy(FieldVector from, int row, FieldVector out, int at) {
    switch (from) {
      case ListVector list -> {
        ListVector target = (ListVector) out;
        int first = list.getElementStartIndex(row);
        int items = list.getElementEndIndex(row) - first;
        int start = target.startNewValue(at);
        for (int i = 0; i < items; i++) {
          if (list.getDataVector().isNull(first + i)) {
            target.getDataVector().setNull(start + i);
          } else {
            copy(list.getDataVector(), first + i, target.getDataVector(), start + i);
          }
        }
        target.endValue(at, items);
      }
      case StructVector struct -> {
        StructVector target = (StructVector) out;
        for (int i = 0; i < struct.size(); i++) {
          copy(
              struct.getChildrenFromFields().get(i),
              row,
              target.getChildrenFromFields().get(i),
              at);
        }
        target.setIndexDefined(at);
      }
      default -> out.copyFromSafe(row, at, from);
    }
  }

  private void copyVectors(VectorField field, FieldVector out) {
    int width = field.vectorBytes();
    ArrowBuf data =
        out instanceof FixedSizeListVector list
            ? list.getDataVector().getDataBuffer()
            : out.getDataBuffer();
    MemorySegment to = MemorySegment.ofAddress(data.memoryAddress()).reinterpret(data.capacity());
    for (int i = 0; i < rows.length; i++) {
      VectorRows vectors = runs[i].vectors(field.fieldId());
      if (vectors != null && runs[i].hasVector(field.fieldId(), rows[i])) {
        BitVectorHelper.setBit(out.getValidityBuffer(), i);
        MemorySegment.copy(vectors.bytes(rows[i]), 0, to, (long) i * width, width);
      }
    }
  }

  private static long bytes(FieldVector column, int row) {
    if (column.isNull(row)) {
      return 0;
    }
    return switch (column) {
      case BaseVariableWidthVector text -> text.getValueLength(row);
      case ListVector list -> {
        long bytes = 0;
        FieldVector items = list.getDataVector();
        for (int i = list.getElementStartIndex(row); i < list.getElementEndIndex(row); i++) {
          bytes += Integer.BYTES + bytes(items, i);
        }
        yield bytes;
      }
      case BaseFixedWidthVector fixed -> fixed.getTypeWidth();
      default -> GEO_BYTES;
    };
  }
}
