// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.PayloadType;
import io.sagitta.model.RowBatch;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.types.pojo.Field;

/** The column {@code _if_version}: a version, 0 for "must not exist", null for no condition. */
final class ConditionColumn implements ColumnReader {
  private final PayloadColumn values;

  ConditionColumn(Field sent) {
    values =
        PayloadColumn.of(
            RowBatch.COLUMN_IF_VERSION,
            PayloadType.of(PayloadType.Kind.INT64),
            ArrowSchemas.ifVersionField(),
            sent);
  }

  @Override
  public int column() {
    return RowBatch.COLUMN_IF_VERSION;
  }

  @Override
  public ReadColumn read(SentColumn sent, BufferAllocator allocator) {
    ReadColumn read = values.read(sent, allocator);
    BigIntVector versions = (BigIntVector) read.vector();
    for (int row = 0; row < sent.rows(); row++) {
      if (!versions.isNull(row) && versions.get(row) < 0) {
        long version = versions.get(row);
        read.close();
        throw Refusal.row(
            row, ArrowSchemas.IF_VERSION, version + " is negative, expected a version or 0");
      }
    }
    return read;
  }
}
