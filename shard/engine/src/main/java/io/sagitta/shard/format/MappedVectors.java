// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.model.Metric;
import io.sagitta.model.VectorField;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The vectors of one field of a segment, mapped or read into memory: rows at a fixed stride, in
 * ordinal order. Valid while its {@link MappedSegment} is open.
 */
public final class MappedVectors {
  private static final MemorySegment NONE = MemorySegment.NULL;

  private final VectorField field;
  private final int rows;
  private final int strideBytes;
  private final MemorySegment data;
  private final MemorySegment validity;
  private final MemorySegment inverseNorms;

  MappedVectors(
      VectorField field,
      int rows,
      int strideBytes,
      MemorySegment data,
      MemorySegment validity,
      MemorySegment inverseNorms) {
    this.field = field;
    this.rows = rows;
    this.strideBytes = strideBytes;
    this.data = data;
    this.validity = validity;
    this.inverseNorms = inverseNorms;
  }

  /** A field that no row has: it was added after the segment was frozen. */
  static MappedVectors absent(VectorField field, int rows) {
    return new MappedVectors(field, rows, 0, NONE, NONE, NONE);
  }

  /** Bytes that each row of a field takes in its file. */
  public static int rowBytes(VectorField field) {
    return VectorsFile.strideBytes(field) + (field.metric() == Metric.COSINE ? Float.BYTES : 0);
  }

  public VectorField field() {
    return field;
  }

  public int rows() {
    return rows;
  }

  /** Whether no row has a vector, since the field was added later; there is no data then. */
  public boolean isAbsent() {
    return strideBytes == 0;
  }

  /**
   * {@code rows * strideBytes} bytes, aligned to 64; a null row and the padding of rows are zeros.
   */
  public MemorySegment data() {
    return data;
  }

  /**
   * Bytes from one row to the next: the vector's bytes, padded to a multiple of 64, or to a power
   * of two below.
   */
  public int strideBytes() {
    return strideBytes;
  }

  /** Whether some row has no vector. */
  public boolean hasNulls() {
    return validity.byteSize() > 0 || isAbsent();
  }

  /** Whether a row has no vector. */
  public boolean isNull(int ordinal) {
    if (validity.byteSize() == 0) {
      return isAbsent();
    }
    byte bits = validity.get(ValueLayout.JAVA_BYTE, ordinal >> 3);
    return (bits >> (ordinal & 7) & 1) == 0;
  }

  /** One bit a row, least significant first, set where it has a vector; empty where all have. */
  public MemorySegment validity() {
    return validity;
  }

  /** float32 for each row of a cosine field, 0 for null rows; empty for other fields. */
  public MemorySegment inverseNorms() {
    return inverseNorms;
  }
}
