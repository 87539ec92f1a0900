// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server.ipc;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import java.util.List;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.BufferLayout;
import org.apache.arrow.vector.BufferLayout.BufferType;
import org.apache.arrow.vector.TypeLayout;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Checks a record batch against its schema and its own body before anything of it is loaded, since
 * Arrow's loader believes every length: each buffer lies within the body and is long enough for its
 * rows; offsets grow and stay within their data. The loader even allocates by them, so that one
 * false offset of a list costs gigabytes. What passes is loaded without any vector growing.
 */
final class BatchGuard {
  /** Rows of a batch, or elements of a column nested in it. */
  private static final long LENGTH_MAX = 1L << 27;

  /** Rows of a batch: 16 MiB of the smallest ids there are. */
  static final int ROWS_MAX = 1 << 22;

  private final RecordBatch batch;
  private final ArrowBuf body;
  private int node;
  private int buffer;

  private BatchGuard(RecordBatch batch, ArrowBuf body) {
    this.batch = batch;
    this.body = body;
  }

  /** Checks the whole batch. */
  static void check(RecordBatch batch, List<Field> columns, ArrowBuf body) {
    if (batch.compression() != null) {
      throw new SagittaException(
          ErrorCode.UNIMPLEMENTED,
          "the record batch is compressed, expected an uncompressed one (turn off IPC compression)");
    }
    if (batch.length() > ROWS_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT, "record batch has " + batch.length() + " rows, at most " + ROWS_MAX);
    }
    BatchGuard guard = new BatchGuard(batch, body);
    for (Field column : columns) {
      long length = guard.checkField(column, column.getName());
      if (length != batch.length()) {
        throw guard.malformed(
            column.getName(), length + " values in a batch of " + batch.length() + " rows");
      }
    }
    if (guard.node != batch.nodesLength() || guard.buffer != batch.buffersLength()) {
      throw SagittaException.invalid(
          "malformed record batch: it has %d nodes and %d buffers, its schema %d and %d"
              .formatted(batch.nodesLength(), batch.buffersLength(), guard.node, guard.buffer));
    }
  }

  /** Checks the next field in depth-first order and returns its length. */
  private long checkField(Field field, String column) {
    if (node == batch.nodesLength()) {
      throw malformed(column, "its field node is missing");
    }
    FieldNode lengths = batch.nodes(node++);
    long length = lengths.length();
    long nulls = lengths.nullCount();
    if (length < 0 || length > LENGTH_MAX || nulls < 0 || nulls > length) {
      throw malformed(column, "it has " + length + " values, " + nulls + " of them null");
    }
    List<BufferLayout> layouts = TypeLayout.getTypeLayout(field.getType()).getBufferLayouts();
    boolean hasOffsets = layouts.stream().anyMatch(l -> l.getType() == BufferType.OFFSET);
    Buffer offsets = null;
    int offsetBytes = 0;
    // What offsets point into: bytes of data, or elements of the child.
    long end = 0;
    for (BufferLayout layout : layouts) {
      Buffer place = checkBuffer(column, bytesNeeded(layout, length, nulls, hasOffsets));
      if (layout.getType() == BufferType.VALIDITY) {
        checkValidity(place, length, column);
      }
      if (layout.getType() == BufferType.OFFSET) {
        offsets = place;
        offsetBytes = layout.getTypeBitWidth() / Byte.SIZE;
      } else if (layout.getType() == BufferType.DATA) {
        end = place.length();
      }
    }
    for (Field child : field.getChildren()) {
      end = checkField(child, column);
      checkChild(field, length, end, column);
    }
    if (offsets != null && length > 0) {
      checkOffsets(offsets.offset(), length, offsetBytes, end, column);
    }
    return length;
  }

  private static long bytesNeeded(
      BufferLayout layout, long length, long nulls, boolean hasOffsets) {
    long bits = layout.getTypeBitWidth();
    return switch (layout.getType()) {
      case VALIDITY -> nulls == 0 ? 0 : (length + 7) / 8;
      case OFFSET -> length == 0 ? 0 : (length + 1) * bits / 8;
      // Of variable width: the offsets say how much, once they can be read.
      case DATA -> hasOffsets ? 0 : (length * bits + 7) / 8;
      case TYPE, SIZE, VIEWS, VARIADIC_DATA_BUFFERS ->
          throw new IllegalStateException("refused with the schema: " + layout);
    };
  }

  private Buffer checkBuffer(String column, long bytesNeeded) {
    if (buffer == batch.buffersLength()) {
      throw malformed(column, "a buffer is missing");
    }
    Buffer place = batch.buffers(buffer++);
    long offset = place.offset();
    long length = place.length();
    long bodyBytes = body.capacity();
    if (offset < 0 || length < 0 || offset > bodyBytes || length > bodyBytes - offset) {
      throw malformed(
          column, "a buffer of " + length + " bytes at " + offset + " in a body of " + bodyBytes);
    }
    if (length < bytesNeeded) {
      throw malformed(column, "a buffer of " + length + " bytes, expected " + bytesNeeded);
    }
    return place;
  }

  /**
   * Where nothing is null the bits may be left out, but a part of them is none: Arrow would grow
   * the loaded vector to its rows, and loses what it has allocated when that fails.
   */
  private void checkValidity(Buffer place, long length, String column) {
    long bytesNeeded = (length + 7) / 8;
    if (place.length() > 0 && place.length() < bytesNeeded) {
      throw malformed(
          column, "a validity of " + place.length() + " bytes, expected none or " + bytesNeeded);
    }
  }

  private void checkChild(Field parent, long parentLength, long childLength, String column) {
    long needed =
        switch (parent.getType()) {
          case ArrowType.FixedSizeList list -> parentLength * list.getListSize();
          case ArrowType.Struct struct -> parentLength;
          default -> 0;
        };
    if (childLength < needed) {
      throw malformed(column, childLength + " elements, expected " + needed);
    }
  }

  private void checkOffsets(long from, long length, int offsetBytes, long end, String column) {
    long previous = 0;
    for (long i = 0; i <= length; i++) {
      long at = from + i * offsetBytes;
      long offset = offsetBytes == Integer.BYTES ? body.getInt(at) : body.getLong(at);
      if (offset < previous || offset > end) {
        throw malformed(
            column, "offset " + offset + " of value " + i + ", expected " + previous + ".." + end);
      }
      previous = offset;
    }
  }

  private SagittaException malformed(String column, String what) {
    return SagittaException.invalid(
        "malformed record batch: column " + Names.quote(column) + ": " + what);
  }
}
