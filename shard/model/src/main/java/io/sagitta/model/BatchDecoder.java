// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.BitVectorHelper;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Loads the body of a RecordBatch message into vectors without copying it, after checking that
 * every count, length and offset is what {@link BatchEncoder} would have written: Arrow itself
 * would believe them.
 */
final class BatchDecoder {
  /** How much of a body is read to check it. */
  enum Check {
    /** All of it, also the bits of validity and the text: the bytes come from elsewhere. */
    CONTENT,
    /** Lengths and offsets: the bytes were ours, and a checksum guards them. */
    OFFSETS
  }

  private final IpcMessage message;
  private final ArrowBuf body;
  private final BufferAllocator allocator;
  private final Check check;
  private int node;
  private int buffer;
  private String column = "";

  private BatchDecoder(IpcMessage message, ArrowBuf body, BufferAllocator allocator, Check check) {
    this.message = message;
    this.body = body;
    this.allocator = allocator;
    this.check = check;
  }

  /**
   * The rows of a message as vectors that share {@code body}, each with a reference of its own.
   *
   * @param schema the columns
   * @param rows how many rows are expected
   * @throws SagittaException INVALID_ARGUMENT when the message is not that of these rows
   */
  static VectorSchemaRoot load(
      IpcMessage message,
      Schema schema,
      int rows,
      ArrowBuf body,
      BufferAllocator allocator,
      Check check) {
    if (message.rows() != rows) {
      throw SagittaException.invalid(
          "row batch: message has " + message.rows() + " rows, expected " + rows);
    }
    VectorSchemaRoot root = VectorSchemaRoot.create(schema, allocator);
    try {
      BatchDecoder decoder = new BatchDecoder(message, body, allocator, check);
      for (FieldVector vector : root.getFieldVectors()) {
        decoder.column = vector.getName();
        decoder.load(vector, vector.getField().isNullable(), rows);
      }
      decoder.checkAllUsed();
      root.setRowCount(rows);
      return root;
    } catch (Throwable e) {
      root.close();
      throw e;
    }
  }

  private void load(FieldVector vector, boolean nullable, int count) {
    int nulls = nextNode(count, nullable);
    ArrowBuf validity = nextValidity(count, nulls);
    List<ArrowBuf> content = loadContent(vector, count);
    // Only now, when bytes of so many values have been seen, are any spent on them.
    List<ArrowBuf> buffers = new ArrayList<>(3);
    buffers.add(validity == null ? AllSet.validity(count, allocator) : validity);
    buffers.addAll(content);
    vector.loadFieldBuffers(new ArrowFieldNode(count, nulls), buffers);
  }

  /** Takes the buffers after the validity, and loads the children. */
  private List<ArrowBuf> loadContent(FieldVector vector, int count) {
    return switch (vector) {
      case BitVector ignored -> List.of(next((count + 7L) / 8, "data"));
      case BaseFixedWidthVector fixed -> List.of(next((long) count * fixed.getTypeWidth(), "data"));
      case BaseVariableWidthVector ignored -> {
        ArrowBuf offsets = nextOffsets(count);
        ArrowBuf data = next(last(offsets, count), "data");
        if (vector instanceof VarCharVector && check == Check.CONTENT) {
          checkText(offsets, count, data);
        }
        yield List.of(offsets, data);
      }
      case ListVector list -> {
        ArrowBuf offsets = nextOffsets(count);
        load(list.getDataVector(), true, last(offsets, count));
        yield List.of(offsets);
      }
      case FixedSizeListVector list -> {
        long items = (long) count * list.getListSize();
        if (items > Integer.MAX_VALUE) {
          throw invalid(count + " vectors have more than 2^31-1 components together");
        }
        load(list.getDataVector(), false, (int) items);
        yield List.of();
      }
      case StructVector struct -> {
        struct.getChildrenFromFields().forEach(child -> load(child, false, count));
        yield List.of();
      }
      default -> throw invalid("type " + vector.getField() + " is not canonical");
    };
  }

  private int nextNode(int count, boolean nullable) {
    if (2 * node >= message.nodes().length) {
      throw invalid("message has fewer columns than the schema");
    }
    long length = message.nodes()[2 * node];
    long nulls = message.nodes()[2 * node + 1];
    node++;
    if (length != count) {
      throw invalid("has " + length + " values, expected " + count);
    }
    if (nulls < 0 || nulls > (nullable ? count : 0)) {
      throw invalid("has " + nulls + " nulls, expected " + (nullable ? "0.." + count : "none"));
    }
    return (int) nulls;
  }

  /** The validity bits, null where all are set. */
  private ArrowBuf nextValidity(int count, int nulls) {
    if (nulls == 0) {
      next(0, "validity");
      return null;
    }
    ArrowBuf validity = next((count + 7L) / 8, "validity");
    if (check == Check.CONTENT) {
      int found = BitVectorHelper.getNullCount(validity, count);
      if (found != nulls) {
        throw invalid("validity has " + found + " nulls, its node says " + nulls);
      }
    }
    return validity;
  }

  private ArrowBuf nextOffsets(int count) {
    ArrowBuf offsets = next(4L * (count + 1L), "offsets");
    MemorySegment values =
        MemorySegment.ofAddress(offsets.memoryAddress()).reinterpret(offsets.capacity());
    int previous = 0;
    for (int i = 0; i <= count; i++) {
      int offset = values.get(JAVA_INT_UNALIGNED, (long) i * Integer.BYTES);
      if (offset < previous || (i == 0 && offset != 0)) {
        throw invalid(
            "offset %d is %d after %d, expected them to rise from 0"
                .formatted(i, offset, previous));
      }
      previous = offset;
    }
    return offsets;
  }

  private static int last(ArrowBuf offsets, int count) {
    return offsets.getInt((long) count * Integer.BYTES);
  }

  private ArrowBuf next(long length, String what) {
    if (2 * buffer >= message.buffers().length) {
      throw invalid("message has fewer buffers than the schema");
    }
    long offset = message.buffers()[2 * buffer];
    long actual = message.buffers()[2 * buffer + 1];
    buffer++;
    if (actual != length) {
      throw invalid("%s buffer has %d bytes, expected %d".formatted(what, actual, length));
    }
    return body.slice(offset, length);
  }

  /** Each value is valid UTF-8 when the whole is, and none begins within a character. */
  private void checkText(ArrowBuf offsets, int count, ArrowBuf data) {
    MemorySegment bytes =
        MemorySegment.ofAddress(data.memoryAddress()).reinterpret(data.capacity());
    int broken = Utf8.firstInvalid(bytes);
    for (int i = 0; i < count; i++) {
      int from = offsets.getInt((long) i * Integer.BYTES);
      int to = offsets.getInt((long) (i + 1) * Integer.BYTES);
      boolean splits = from < to && Utf8.isContinuation(bytes.get(JAVA_BYTE, from));
      if (splits || (broken >= from && broken < to)) {
        throw invalid("value " + i + " is not valid UTF-8");
      }
    }
  }

  private void checkAllUsed() {
    if (2 * node != message.nodes().length || 2 * buffer != message.buffers().length) {
      throw invalid("message has more columns or buffers than the schema");
    }
  }

  private SagittaException invalid(String what) {
    return SagittaException.invalid("row batch: column " + Names.quote(column) + ": " + what);
  }
}
