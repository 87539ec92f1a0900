// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseLargeVariableWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BaseVariableWidthViewVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.ExtensionTypeVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Checks that a column's buffers hold what its lengths and offsets say. Arrow's reader believes the
 * sender, and reading through a wild offset ends the process or shows another client's bytes.
 */
final class SentStructure {
  private final String column;

  private SentStructure(String column) {
    this.column = column;
  }

  /** Fails unless the first {@code count} values of the vector lie within its buffers. */
  static void check(String column, FieldVector vector, int count) {
    new SentStructure(column).check(vector, count);
  }

  private void check(FieldVector vector, int count) {
    require(vector.getValueCount() >= count, "has fewer values than the batch has rows");
    if (vector instanceof ExtensionTypeVector<?> extension) {
      check((FieldVector) extension.getUnderlyingVector(), count);
      return;
    }
    if (vector instanceof NullVector || count == 0) {
      return;
    }
    require(holds(vector.getValidityBuffer(), bitBytes(count)), "validity buffer is too short");
    switch (vector) {
      case BitVector bits ->
          require(holds(bits.getDataBuffer(), bitBytes(count)), "data buffer is too short");
      case BaseFixedWidthVector fixed ->
          require(
              holds(fixed.getDataBuffer(), (long) count * fixed.getTypeWidth()),
              "data buffer is too short");
      case BaseVariableWidthVector ignored ->
          checkOffsets(vector.getOffsetBuffer(), count, vector.getDataBuffer().capacity());
      case BaseLargeVariableWidthVector ignored ->
          checkLargeOffsets(vector.getOffsetBuffer(), count, vector.getDataBuffer().capacity());
      case BaseVariableWidthViewVector views -> checkViews(views, count);
      case ListVector list -> {
        FieldVector items = list.getDataVector();
        checkOffsets(list.getOffsetBuffer(), count, items.getValueCount());
        check(items, items.getValueCount());
      }
      case LargeListVector list -> {
        FieldVector items = list.getDataVector();
        checkLargeOffsets(list.getOffsetBuffer(), count, items.getValueCount());
        check(items, items.getValueCount());
      }
      case FixedSizeListVector list -> {
        long items = (long) count * list.getListSize();
        require(items <= list.getDataVector().getValueCount(), "has fewer items than its lists");
        check(list.getDataVector(), (int) items);
      }
      case StructVector struct -> {
        for (FieldVector child : struct.getChildrenFromFields()) {
          check(child, count);
        }
      }
      default ->
          throw Refusal.column(column, "type " + vector.getField().getType() + " is not accepted");
    }
  }

  private void checkOffsets(ArrowBuf offsets, int count, long end) {
    require(holds(offsets, (count + 1L) * Integer.BYTES), "offset buffer is too short");
    long last = 0;
    for (long i = 0; i <= count; i++) {
      int offset = offsets.getInt(i * Integer.BYTES);
      require(offset >= last && offset <= end, "offsets leave the data buffer");
      last = offset;
    }
  }

  private void checkLargeOffsets(ArrowBuf offsets, int count, long end) {
    require(holds(offsets, (count + 1L) * Long.BYTES), "offset buffer is too short");
    long last = 0;
    for (long i = 0; i <= count; i++) {
      long offset = offsets.getLong(i * Long.BYTES);
      require(offset >= last && offset <= end, "offsets leave the data buffer");
      last = offset;
    }
  }

  private void checkViews(BaseVariableWidthViewVector views, int count) {
    ArrowBuf view = views.getDataBuffer();
    require(
        holds(view, (long) count * BaseVariableWidthViewVector.ELEMENT_SIZE),
        "view buffer is too short");
    for (int i = 0; i < count; i++) {
      long at = (long) i * BaseVariableWidthViewVector.ELEMENT_SIZE;
      int length = view.getInt(at);
      if (views.isNull(i) || (length >= 0 && length <= BaseVariableWidthViewVector.INLINE_SIZE)) {
        continue;
      }
      int buffer = view.getInt(at + 8);
      int offset = view.getInt(at + 12);
      boolean known = length > 0 && buffer >= 0 && buffer < views.getDataBuffers().size();
      require(
          known
              && offset >= 0
              && (long) offset + length <= views.getDataBuffers().get(buffer).capacity(),
          "views leave their buffers");
    }
  }

  private void require(boolean holds, String otherwise) {
    if (!holds) {
      throw Refusal.column(column, "is damaged: " + otherwise);
    }
  }

  private static boolean holds(ArrowBuf buffer, long bytes) {
    return buffer.capacity() >= bytes;
  }

  private static long bitBytes(int count) {
    return (count + 7L) / 8;
  }
}
