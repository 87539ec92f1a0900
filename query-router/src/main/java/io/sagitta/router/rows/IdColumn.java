// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PointId;
import io.sagitta.model.RowBatch;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * The id column. Accepted: for int64 every integer type, values in range; for utf8 every text type,
 * 1 to 512 bytes; for uuid 16 bytes or text in any spelling. Never null.
 */
final class IdColumn implements ColumnReader {
  private final PayloadColumn values;

  private IdColumn(PayloadColumn values) {
    this.values = values;
  }

  /** Compiles the reader of an id column whose values are of the field {@code sent}. */
  static IdColumn of(IdType type, Field sent) {
    PayloadType.Kind kind =
        switch (type) {
          case INT64 -> PayloadType.Kind.INT64;
          case UTF8 -> PayloadType.Kind.UTF8;
          case UUID -> PayloadType.Kind.UUID;
        };
    return new IdColumn(
        PayloadColumn.of(
            RowBatch.COLUMN_ID, PayloadType.of(kind), ArrowSchemas.idField(type), sent));
  }

  @Override
  public int column() {
    return RowBatch.COLUMN_ID;
  }

  @Override
  public ReadColumn read(SentColumn sent, BufferAllocator allocator) {
    for (int row = 0; row < sent.rows(); row++) {
      if (sent.isNull(row)) {
        throw Refusal.row(row, CollectionSchema.ID, "is null, expected an id");
      }
    }
    ReadColumn ids = values.read(sent, allocator);
    try {
      if (ids.vector() instanceof VarCharVector texts) {
        checkLengths(texts, sent.rows());
      }
      return ids;
    } catch (Throwable e) {
      ids.close();
      throw e;
    }
  }

  private static void checkLengths(VarCharVector ids, int rows) {
    for (int row = 0; row < rows; row++) {
      int bytes = ids.getValueLength(row);
      if (bytes < 1 || bytes > PointId.UTF8_BYTES_MAX) {
        throw Refusal.row(
            row,
            CollectionSchema.ID,
            "has " + bytes + " bytes, expected 1.." + PointId.UTF8_BYTES_MAX);
      }
    }
  }
}
