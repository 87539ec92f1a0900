// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import io.sagitta.model.HashSlot;
import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.VarCharVector;

/**
 * The ids of a chunk or a batch, hashed and compared where they lie. Borrows the vector. Columns
 * that are compared with each other are of one type.
 */
public abstract sealed class IdColumn {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong BIG_ENDIAN_LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  final int rows;

  private IdColumn(int rows) {
    this.rows = rows;
  }

  /** The ids in an id column of the given type. */
  public static IdColumn of(IdType type, FieldVector ids) {
    int rows = ids.getValueCount();
    return switch (type) {
      case INT64 -> new Int64(rows, OffHeap.segment(((BigIntVector) ids).getDataBuffer()));
      case UTF8 -> {
        VarCharVector text = (VarCharVector) ids;
        yield new Utf8(
            rows, OffHeap.segment(text.getOffsetBuffer()), OffHeap.segment(text.getDataBuffer()));
      }
      case UUID -> new Uuid(rows, OffHeap.segment(((FixedSizeBinaryVector) ids).getDataBuffer()));
    };
  }

  public final int rows() {
    return rows;
  }

  /** {@link HashSlot#hash} of every id, in row order. */
  public final long[] hashes() {
    return hashes(0, rows);
  }

  /** {@link HashSlot#hash} of the ids of rows {@code [from, to)}, in row order. */
  public final long[] hashes(int from, int to) {
    long[] hashes = new long[to - from];
    byte[] scratch = new byte[PointId.UTF8_BYTES_MAX];
    for (int row = from; row < to; row++) {
      int length = canonical(row, scratch);
      hashes[row - from] = HashSlot.hash(scratch, 0, length);
    }
    return hashes;
  }

  /** Whether two rows have the same id. */
  public abstract boolean same(int row, IdColumn other, int otherRow);

  /** Orders two rows by id as {@link PointId} does. */
  public abstract int compare(int row, IdColumn other, int otherRow);

  /** The id of a row. */
  public abstract PointId get(int row);

  /** Writes an id's canonical bytes; returns how many. */
  abstract int canonical(int row, byte[] out);

  private static final class Int64 extends IdColumn {
    private final MemorySegment values;

    Int64(int rows, MemorySegment values) {
      super(rows);
      this.values = values;
    }

    private long value(int row) {
      return values.get(LONG, (long) row * Long.BYTES);
    }

    @Override
    public boolean same(int row, IdColumn other, int otherRow) {
      return value(row) == ((Int64) other).value(otherRow);
    }

    @Override
    public int compare(int row, IdColumn other, int otherRow) {
      return Long.compare(value(row), ((Int64) other).value(otherRow));
    }

    @Override
    public PointId get(int row) {
      return new PointId.Int64(value(row));
    }

    @Override
    int canonical(int row, byte[] out) {
      MemorySegment.ofArray(out).set(BIG_ENDIAN_LONG, 0, value(row));
      return Long.BYTES;
    }
  }

  private static final class Utf8 extends IdColumn {
    private final MemorySegment offsets;
    private final MemorySegment data;

    Utf8(int rows, MemorySegment offsets, MemorySegment data) {
      super(rows);
      this.offsets = offsets;
      this.data = data;
    }

    private int start(int row) {
      return offsets.get(INT, (long) row * Integer.BYTES);
    }

    private long mismatch(int row, Utf8 other, int otherRow) {
      return MemorySegment.mismatch(
          data,
          start(row),
          start(row + 1),
          other.data,
          other.start(otherRow),
          other.start(otherRow + 1));
    }

    @Override
    public boolean same(int row, IdColumn other, int otherRow) {
      return mismatch(row, (Utf8) other, otherRow) < 0;
    }

    @Override
    public int compare(int row, IdColumn other, int otherRow) {
      Utf8 that = (Utf8) other;
      long at = mismatch(row, that, otherRow);
      if (at < 0) {
        return 0;
      }
      int length = start(row + 1) - start(row);
      int otherLength = that.start(otherRow + 1) - that.start(otherRow);
      if (at == length || at == otherLength) {
        return Integer.compare(length, otherLength);
      }
      return Integer.compare(
          Byte.toUnsignedInt(data.get(ValueLayout.JAVA_BYTE, start(row) + at)),
          Byte.toUnsignedInt(that.data.get(ValueLayout.JAVA_BYTE, that.start(otherRow) + at)));
    }

    @Override
    public PointId get(int row) {
      byte[] bytes = new byte[PointId.UTF8_BYTES_MAX];
      return new PointId.Utf8(new String(bytes, 0, canonical(row, bytes), StandardCharsets.UTF_8));
    }

    @Override
    int canonical(int row, byte[] out) {
      int start = start(row);
      int length = start(row + 1) - start;
      MemorySegment.copy(data, ValueLayout.JAVA_BYTE, start, out, 0, length);
      return length;
    }
  }

  private static final class Uuid extends IdColumn {
    private static final int BYTES = 16;

    private final MemorySegment values;

    Uuid(int rows, MemorySegment values) {
      super(rows);
      this.values = values;
    }

    private long high(int row) {
      return values.get(BIG_ENDIAN_LONG, (long) row * BYTES);
    }

    private long low(int row) {
      return values.get(BIG_ENDIAN_LONG, (long) row * BYTES + Long.BYTES);
    }

    @Override
    public boolean same(int row, IdColumn other, int otherRow) {
      Uuid that = (Uuid) other;
      return high(row) == that.high(otherRow) && low(row) == that.low(otherRow);
    }

    @Override
    public int compare(int row, IdColumn other, int otherRow) {
      Uuid that = (Uuid) other;
      int byHigh = Long.compareUnsigned(high(row), that.high(otherRow));
      return byHigh != 0 ? byHigh : Long.compareUnsigned(low(row), that.low(otherRow));
    }

    @Override
    public PointId get(int row) {
      return new PointId.Uuid(new UUID(high(row), low(row)));
    }

    @Override
    int canonical(int row, byte[] out) {
      MemorySegment.copy(values, ValueLayout.JAVA_BYTE, (long) row * BYTES, out, 0, BYTES);
      return BYTES;
    }
  }
}
