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
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.TypeLayout;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Checks a record batch against its schema and its own body, since Arrow's loader believes every
 * length: first that each buffer lies within the body and is long enough for its rows, then, once
 * loaded, that offsets grow and stay within their data.
 */
final class BatchGuard {
  /** Rows of a batch, or elements of a column nested in it. */
  private static final long LENGTH_MAX = 1L << 27;

  /** Rows of a batch: 16 MiB of the smallest ids there are. */
  static final int ROWS_MAX = 1 << 22;

  private final RecordBatch batch;
  private final long bodyBytes;
  private int node;
  private int buffer;

  private BatchGuard(RecordBatch batch, long bodyBytes) {
    this.batch = batch;
    this.bodyBytes = bodyBytes;
  }

  /** Checks lengths before anything is loaded. */
  static void checkLayout(RecordBatch batch, List<Field> columns, long bodyBytes) {
    if (batch.compression() != null) {
      throw new SagittaException(
          ErrorCode.UNIMPLEMENTED,
          "the record batch is compressed, expected an uncompressed one (turn off IPC compression)");
    }
    if (batch.length() > ROWS_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT, "record batch has " + batch.length() + " rows, at most " + ROWS_MAX);
    }
    BatchGuard guard = new BatchGuard(batch, bodyBytes);
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
    for (BufferLayout layout : layouts) {
      checkBuffer(column, bytesNeeded(layout, length, nulls, hasOffsets));
    }
    for (Field child : field.getChildren()) {
      checkChild(field, length, checkField(child, column), column);
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

  private void checkBuffer(String column, long bytesNeeded) {
    if (buffer == batch.buffersLength()) {
      throw malformed(column, "a buffer is missing");
    }
    Buffer place = batch.buffers(buffer++);
    long offset = place.offset();
    long length = place.length();
    if (offset < 0 || length < 0 || offset > bodyBytes || length > bodyBytes - offset) {
      throw malformed(
          column, "a buffer of " + length + " bytes at " + offset + " in a body of " + bodyBytes);
    }
    if (length < bytesNeeded) {
      throw malformed(column, "a buffer of " + length + " bytes, expected " + bytesNeeded);
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

  private SagittaException malformed(String column, String what) {
    return SagittaException.invalid(
        "malformed record batch: column " + Names.quote(column) + ": " + what);
  }

  /** Checks offsets of what has been loaded. */
  static void checkOffsets(List<FieldVector> columns) {
    for (FieldVector column : columns) {
      checkOffsets(column, column.getName());
    }
  }

  private static void checkOffsets(FieldVector vector, String column) {
    List<FieldVector> children = vector.getChildrenFromFields();
    switch (vector.getField().getType().getTypeID()) {
      case Utf8, Binary -> checkOffsets(vector, column, 4, vector.getDataBuffer().capacity());
      case LargeUtf8, LargeBinary ->
          checkOffsets(vector, column, 8, vector.getDataBuffer().capacity());
      case List, Map -> checkOffsets(vector, column, 4, children.getFirst().getValueCount());
      case LargeList -> checkOffsets(vector, column, 8, children.getFirst().getValueCount());
      default -> {}
    }
    for (FieldVector child : children) {
      checkOffsets(child, column);
    }
  }

  private static void checkOffsets(FieldVector vector, String column, int width, long end) {
    ArrowBuf offsets = vector.getOffsetBuffer();
    long previous = 0;
    if (vector.getValueCount() == 0) {
      return;
    }
    for (long i = 0; i <= vector.getValueCount(); i++) {
      long offset = width == 4 ? offsets.getInt(i * 4) : offsets.getLong(i * 8);
      if (offset < previous || offset > end) {
        throw SagittaException.invalid(
            "malformed record batch: column %s: offset %d of value %d, expected %d..%d"
                .formatted(Names.quote(column), offset, i, previous, end));
      }
      previous = offset;
    }
  }
}
