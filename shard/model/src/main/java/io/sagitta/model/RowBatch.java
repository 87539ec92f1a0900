// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * Rows in the canonical form that is logged: one encapsulated Arrow IPC RecordBatch message (no
 * schema message, no compression, no dictionaries, no views) whose columns are named by field ids.
 * {@link RowBatchCodec} makes and reads it.
 *
 * @param columns field id of each column in order: {@link #COLUMN_ID} first, then optionally {@link
 *     #COLUMN_IF_VERSION}, then fields in schema order
 * @param rows number of rows
 * @param message the IPC message, read-only
 */
public record RowBatch(List<Integer> columns, int rows, ByteBuffer message) {
  /** The id column. */
  public static final int COLUMN_ID = 0;

  /** The int64 column of conditions, {@code _if_version}. */
  public static final int COLUMN_IF_VERSION = -1;

  public RowBatch {
    columns = List.copyOf(columns);
    message = message.asReadOnlyBuffer();
  }
}
