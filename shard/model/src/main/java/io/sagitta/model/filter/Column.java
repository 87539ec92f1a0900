// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model.filter;

/**
 * A column a predicate reads.
 *
 * @param fieldId field, or 0 for the id
 * @param type how its values lie in memory
 */
public record Column(int fieldId, Type type) {

  /** How values lie in memory; for lists, how elements do. */
  public enum Type {
    BOOL,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    FLOAT32,
    FLOAT64,
    /** Variable-length bytes: text, binary, JSON. */
    VAR_BYTES,
    /** 16 bytes. */
    FIXED_BYTES,
    /** int32 days. */
    DAY,
    /** int64 microseconds. */
    MICROSECOND,
    GEO,
    LIST,
    /** A vector field: only its nulls can be asked for. */
    VECTOR
  }
}
