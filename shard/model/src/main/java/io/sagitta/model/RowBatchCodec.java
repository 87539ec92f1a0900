// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Rows of canonical columns ({@link ArrowSchemas}) to {@link RowBatch} and back, and what is done
 * to batches on their way: rows picked by shard, cut to the size of a log entry, joined.
 *
 * <p>Encoding is canonical: the same values give the same bytes. Decoding checks everything before
 * it is used. Decoded roots are read-only, since columns without nulls share one validity buffer.
 */
public final class RowBatchCodec {
  /** Bytes one row may take, encoded (docs/contract.md, section 7). */
  public static final int ROW_BYTES_MAX = 960 << 10;

  /** Bytes of a message that leave room for the header in a log entry of 1 MiB. */
  public static final int PIECE_BYTES_MAX = (1 << 20) - (16 << 10);

  private RowBatchCodec() {}

  /** All rows of a root; {@code columns} names its columns by field id. */
  public static RowBatch encode(VectorSchemaRoot root, List<Integer> columns) {
    return encode(columns, RowSelection.all(root));
  }

  /** The selected rows. */
  public static RowBatch encode(List<Integer> columns, RowSelection rows) {
    return encode(columns, List.of(rows));
  }

  /** The rows of all parts in order; the parts have the same columns. */
  public static RowBatch encode(List<Integer> columns, List<RowSelection> parts) {
    int rows = 0;
    for (RowSelection part : parts) {
      if (part.root().getFieldVectors().size() != columns.size()) {
        throw new IllegalArgumentException(
            part.root().getFieldVectors().size() + " columns for field ids " + columns);
      }
      rows = Math.addExact(rows, part.count());
    }
    return new RowBatch(columns, rows, ByteBuffer.wrap(encodeAlike(parts)));
  }

  /**
   * The selected rows in pieces, in order, each a message of at most {@code messageBytesMax} bytes
   * ({@link #PIECE_BYTES_MAX} for log entries). No rows give no piece.
   *
   * @throws SagittaException LIMIT naming the row of the root that alone is larger than {@link
   *     #ROW_BYTES_MAX}
   */
  public static List<RowBatch> pieces(
      List<Integer> columns, RowSelection rows, int messageBytesMax) {
    int[] sizes = rowBytes(rows);
    int overhead = RowSizes.overhead(rows.root());
    List<RowBatch> pieces = new ArrayList<>();
    int from = 0;
    while (from < sizes.length) {
      checkRow(rows.row(from), sizes[from]);
      long bytes = (long) overhead + sizes[from];
      int to = from + 1;
      while (to < sizes.length && bytes + sizes[to] <= messageBytesMax) {
        checkRow(rows.row(to), sizes[to]);
        bytes += sizes[to++];
      }
      pieces.add(encode(columns, rows.part(from, to - from)));
      from = to;
    }
    return pieces;
  }

  /** Upper bounds of the bytes each selected row adds to a message, in order. */
  public static int[] rowBytes(RowSelection rows) {
    return RowSizes.of(rows.root().getFieldVectors(), rows);
  }

  /**
   * Rows in memory of their own; close the root.
   *
   * @throws SagittaException INVALID_ARGUMENT when the batch is not exactly what {@link #encode}
   *     makes of rows of these columns, or an id is empty or too long; whatever the bytes, nothing
   *     else is thrown for them and nothing outside of them is read
   */
  public static VectorSchemaRoot decode(
      RowBatch batch, CollectionSchema schema, BufferAllocator allocator) {
    if (Set.copyOf(batch.columns()).size() != batch.columns().size()) {
      throw SagittaException.invalid("row batch: columns " + batch.columns() + " are not distinct");
    }
    Schema columns = ArrowSchemas.batchSchema(schema, batch.columns());
    VectorSchemaRoot root = decode(batch.message(), columns, batch.rows(), allocator);
    try {
      checkIds(root, schema, batch.columns());
      return root;
    } catch (Throwable e) {
      root.close();
      throw e;
    }
  }

  /** Copies rows of all parts, in order, into a root of its own; close it. */
  public static VectorSchemaRoot copy(List<RowSelection> parts, BufferAllocator allocator) {
    Schema schema = parts.getFirst().root().getSchema();
    int rows = parts.stream().mapToInt(RowSelection::count).sum();
    return decode(ByteBuffer.wrap(encodeAlike(parts)), schema, rows, allocator);
  }

  /**
   * The message with some columns of the rows of all parts, in order. Columns are found by the
   * field id in their metadata; where a part lacks one, its rows have null there.
   *
   * @param columns the wanted columns, as {@link ArrowSchemas} makes them
   * @param allocator nothing is allocated from it
   */
  public static ByteBuffer encodeMessage(
      Schema columns, List<RowSelection> parts, BufferAllocator allocator) {
    try (VectorSchemaRoot types = VectorSchemaRoot.create(columns, allocator)) {
      List<FieldVector[]> vectors = new ArrayList<>();
      for (org.apache.arrow.vector.types.pojo.Field column : columns.getFields()) {
        vectors.add(
            parts.stream().map(part -> find(part.root(), column)).toArray(FieldVector[]::new));
      }
      return ByteBuffer.wrap(BatchEncoder.encode(parts, vectors, types.getFieldVectors()));
    }
  }

  /** As {@link #rowBytes} for the columns that {@link #encodeMessage} would take. */
  public static int[] rowBytes(Schema columns, RowSelection rows) {
    List<FieldVector> vectors = new ArrayList<>();
    for (org.apache.arrow.vector.types.pojo.Field column : columns.getFields()) {
      FieldVector vector = find(rows.root(), column);
      if (vector != null) {
        vectors.add(vector);
      }
    }
    return RowSizes.of(vectors, rows);
  }

  /**
   * Rows of a message that stays where it is, such as a mapped file whose checksum is checked
   * elsewhere: lengths and offsets are checked here, content is not. Close the root.
   *
   * @param message the whole message, native memory
   * @param owner keeps that memory while the root is open
   */
  public static VectorSchemaRoot view(
      MemorySegment message,
      Schema columns,
      int rows,
      BorrowedMemory owner,
      BufferAllocator allocator) {
    IpcMessage parsed = IpcMessage.parse(message.asByteBuffer());
    ArrowBuf body = owner.buffer(message.address() + parsed.bodyOffset(), parsed.bodyLength());
    return BatchDecoder.load(parsed, columns, rows, body, allocator, BatchDecoder.Check.OFFSETS);
  }

  private static byte[] encodeAlike(List<RowSelection> parts) {
    List<FieldVector> types = parts.getFirst().root().getFieldVectors();
    List<FieldVector[]> vectors = new ArrayList<>();
    for (int column = 0; column < types.size(); column++) {
      int index = column;
      vectors.add(
          parts.stream().map(part -> part.root().getVector(index)).toArray(FieldVector[]::new));
    }
    return BatchEncoder.encode(parts, vectors, types);
  }

  private static FieldVector find(
      VectorSchemaRoot root, org.apache.arrow.vector.types.pojo.Field column) {
    String fieldId = column.getMetadata().get(ArrowSchemas.FIELD_ID);
    List<org.apache.arrow.vector.types.pojo.Field> fields = root.getSchema().getFields();
    for (int i = 0; i < fields.size(); i++) {
      if (fieldId.equals(fields.get(i).getMetadata().get(ArrowSchemas.FIELD_ID))) {
        return root.getVector(i);
      }
    }
    return null;
  }

  private static VectorSchemaRoot decode(
      ByteBuffer message, Schema columns, int rows, BufferAllocator allocator) {
    IpcMessage parsed = IpcMessage.parse(message);
    // Room to begin at a cache line, so that vectors do.
    ArrowBuf memory = allocator.buffer(parsed.bodyLength() + IpcMessage.ALIGNMENT);
    try {
      long shift = -memory.memoryAddress() & (IpcMessage.ALIGNMENT - 1);
      ArrowBuf body = memory.slice(shift, parsed.bodyLength());
      MemorySegment.ofAddress(body.memoryAddress())
          .reinterpret(parsed.bodyLength())
          .copyFrom(
              MemorySegment.ofBuffer(message).asSlice(parsed.bodyOffset(), parsed.bodyLength()));
      return BatchDecoder.load(parsed, columns, rows, body, allocator, BatchDecoder.Check.CONTENT);
    } finally {
      memory.close();
    }
  }

  private static void checkIds(
      VectorSchemaRoot root, CollectionSchema schema, List<Integer> columns) {
    int column = columns.indexOf(RowBatch.COLUMN_ID);
    if (schema.idType() != IdType.UTF8 || column < 0) {
      return;
    }
    VarCharVector ids = (VarCharVector) root.getVector(column);
    for (int row = 0; row < root.getRowCount(); row++) {
      int length = ids.getValueLength(row);
      if (length < 1 || length > PointId.UTF8_BYTES_MAX) {
        throw SagittaException.invalid(
            "row batch: row %d: id has %d bytes, expected 1..%d"
                .formatted(row, length, PointId.UTF8_BYTES_MAX));
      }
    }
  }

  private static void checkRow(int row, int bytes) {
    if (bytes > ROW_BYTES_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT,
          "row %d takes %d bytes encoded, expected at most %d"
              .formatted(row, bytes, ROW_BYTES_MAX));
    }
  }
}
