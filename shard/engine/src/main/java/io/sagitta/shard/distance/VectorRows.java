// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import io.sagitta.model.VectorType;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Where the vectors of one column lie: row {@code i} is the {@code type.bytes(dimension)} bytes at
 * {@code offset + i * stride} of a native segment, little-endian. Immutable; make it once per
 * chunk. The memory must stay alive and unchanged while it is scored; bounds are checked here and
 * not again.
 *
 * <p>Kernels read whole blocks of 16 components, so up to 63 bytes behind a row are read too, never
 * beyond the segment, and never used.
 */
public final class VectorRows {
  private final VectorType type;
  private final int dimension;
  private final int count;
  private final MemorySegment memory;
  private final long base;
  private final long stride;
  private final long end;
  private final long inverseNorms;
  private final MemorySegment inverseNormMemory;

  private VectorRows(
      VectorType type,
      int dimension,
      int count,
      MemorySegment memory,
      long offset,
      long stride,
      MemorySegment inverseNorms) {
    int bytes = type.bytes(dimension);
    if (dimension < 1 || count < 0 || offset < 0 || stride < bytes) {
      throw new IllegalArgumentException(
          count + " rows of " + bytes + " bytes at " + offset + " with stride " + stride);
    }
    if (!memory.isNative() || (inverseNorms != null && !inverseNorms.isNative())) {
      throw new IllegalArgumentException("vectors must lie in native memory");
    }
    long needed = count == 0 ? 0 : Math.addExact(offset + bytes, (count - 1) * stride);
    if (needed > memory.byteSize()) {
      throw new IllegalArgumentException(
          count + " rows need " + needed + " bytes, the segment has " + memory.byteSize());
    }
    if (inverseNorms != null && inverseNorms.byteSize() < (long) count * Float.BYTES) {
      throw new IllegalArgumentException(
          count + " inverse norms in " + inverseNorms.byteSize() + " bytes");
    }
    this.type = type;
    this.dimension = dimension;
    this.count = count;
    this.memory = memory;
    this.base = memory.address() + offset;
    this.stride = stride;
    this.end = memory.address() + memory.byteSize();
    this.inverseNormMemory = inverseNorms;
    this.inverseNorms = inverseNorms == null ? 0 : inverseNorms.address();
  }

  /**
   * Rows without norms: for dot, l2 and hamming.
   *
   * @param count number of rows
   * @param memory native memory that holds them
   * @param offset bytes before the first row
   * @param stride bytes from row to row, at least {@code type.bytes(dimension)}
   */
  public static VectorRows of(
      VectorType type, int dimension, int count, MemorySegment memory, long offset, long stride) {
    return new VectorRows(type, dimension, count, memory, offset, stride, null);
  }

  /** Rows as Arrow lays them out: from the start of the segment, without padding. */
  public static VectorRows packed(VectorType type, int dimension, int count, MemorySegment memory) {
    return of(type, dimension, count, memory, 0, type.bytes(dimension));
  }

  /** The same rows with {@code count} float32 values that {@link InverseNorms#fill} wrote. */
  public VectorRows withInverseNorms(MemorySegment norms) {
    return new VectorRows(type, dimension, count, memory, base - memory.address(), stride, norms);
  }

  public VectorType type() {
    return type;
  }

  public int dimension() {
    return dimension;
  }

  public int count() {
    return count;
  }

  public boolean hasInverseNorms() {
    return inverseNormMemory != null;
  }

  /** The bytes of one row, without padding. */
  public MemorySegment bytes(int row) {
    Objects.checkIndex(row, count);
    return memory.asSlice(base - memory.address() + row * stride, type.bytes(dimension));
  }

  /** Writes a row's components to {@code out[0..dimension)}; bits as 0 and 1. */
  public void read(int row, float[] out) {
    long at = base + Objects.checkIndex(row, count) * stride;
    switch (type) {
      case FLOAT32 -> {
        for (int i = 0; i < dimension; i++) {
          out[i] = NativeMemory.floatAt(at + 4L * i);
        }
      }
      case FLOAT16 -> {
        for (int i = 0; i < dimension; i++) {
          out[i] = NativeMemory.halfAt(at + 2L * i);
        }
      }
      case BFLOAT16 -> {
        for (int i = 0; i < dimension; i++) {
          out[i] = NativeMemory.brainAt(at + 2L * i);
        }
      }
      case INT8 -> {
        for (int i = 0; i < dimension; i++) {
          out[i] = NativeMemory.byteAt(at + i);
        }
      }
      case UINT8 -> {
        for (int i = 0; i < dimension; i++) {
          out[i] = NativeMemory.unsignedByteAt(at + i);
        }
      }
      case BINARY -> {
        for (int i = 0; i < dimension; i++) {
          out[i] = NativeMemory.byteAt(at + i / 8) >> (7 - i % 8) & 1;
        }
      }
    }
  }

  /** Address of a row's first byte. */
  long address(int row) {
    assert row >= 0 && row < count : row + " of " + count;
    return base + row * stride;
  }

  /** Address behind the last byte that may be read. */
  long end() {
    return end;
  }

  /** What {@link InverseNorms} gave for a row; only where {@link #hasInverseNorms}. */
  public float inverseNorm(int row) {
    assert row >= 0 && row < count : row + " of " + count;
    return NativeMemory.floatAt(inverseNorms + (long) row * Float.BYTES);
  }
}
