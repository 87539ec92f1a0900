// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Cuts rows into messages of a bounded size: many Flight clients refuse more than 4 MiB, and Arrow
 * for Java has no splitter. Cuts are slices, not copies, wherever a column's layout allows it.
 * Holds one root that is overwritten cut by cut. One thread at a time.
 */
final class BatchCutter implements AutoCloseable {
  /** Per column: field node, buffers' places, alignment. */
  private static final int HEADER_BYTES_PER_FIELD = 96;

  private static final int HEADER_BYTES = 1 << 10;

  private final VectorSchemaRoot out;
  private final long bodyBytesMax;
  private int next;
  private int guess = Integer.MAX_VALUE;

  /**
   * A cutter of rows with this schema.
   *
   * @param messageBytesMax bytes of one message, header included
   */
  BatchCutter(Schema schema, int messageBytesMax, BufferAllocator allocator) {
    this.out = VectorSchemaRoot.create(schema, allocator);
    long header = HEADER_BYTES + (long) HEADER_BYTES_PER_FIELD * fields(schema.getFields());
    // A row is never larger than a message, but its column headers may be many.
    this.bodyBytesMax = Math.max(messageBytesMax / 2, messageBytesMax - header);
  }

  private static int fields(List<Field> fields) {
    int count = 0;
    for (Field field : fields) {
      count += 1 + fields(field.getChildren());
    }
    return count;
  }

  /** The root that holds the cut made last. */
  VectorSchemaRoot root() {
    return out;
  }

  /** Begins with the first row of a batch. */
  void begin() {
    next = 0;
  }

  /**
   * Makes the next cut of {@code rows} in {@link #root}: as many rows as fit, at least one; false
   * when there are none left. A batch without rows gives no cut.
   */
  boolean cut(VectorSchemaRoot rows) {
    int left = rows.getRowCount() - next;
    if (left == 0) {
      return false;
    }
    int count = Math.min(left, guess);
    while (true) {
      slice(rows, next, count);
      long bytes = bytes(out);
      if (bytes <= bodyBytesMax || count == 1) {
        break;
      }
      // Aim a little low: rows are not all of one size, and each miss slices again.
      count = Math.clamp((long) (count * 0.95 * bodyBytesMax / bytes), 1, count - 1);
      guess = count;
    }
    next += count;
    return true;
  }

  private void slice(VectorSchemaRoot rows, int from, int count) {
    out.clear();
    for (int column = 0; column < rows.getFieldVectors().size(); column++) {
      FieldVector source = rows.getVector(column);
      source.makeTransferPair(out.getVector(column)).splitAndTransfer(from, count);
    }
    out.setRowCount(count);
  }

  /** Bytes of a root's buffers as they travel. */
  static long bytes(VectorSchemaRoot root) {
    long bytes = 0;
    for (FieldVector vector : root.getFieldVectors()) {
      bytes += vector.getBufferSize();
    }
    return bytes;
  }

  @Override
  public void close() {
    out.close();
  }
}
