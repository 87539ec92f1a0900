// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Rows read from a view, in memory of their own: valid after the view is closed. The caller closes
 * it.
 *
 * @param rows Search: {@code query: int32}, id, {@code _score: float32}, {@code _version: int64},
 *     fields, best first per query; Get and Scan: id, {@code _version}, fields; Count: one row
 *     {@code count: int64}
 * @param stats how the read was answered
 */
public record ReadResult(VectorSchemaRoot rows, ReadStats stats) implements AutoCloseable {
  @Override
  public void close() {
    rows.close();
  }
}
