// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import io.sagitta.model.HashSlot;
import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.ExtensionTypeVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.VarCharVector;

/**
 * A canonical id column read as ids: their hash, which decides the slot, their order and equality,
 * and their values. Compares bytes in place.
 */
public abstract sealed class IdKeys {
  private IdKeys() {}

  /** The ids of a canonical column, as it lies in the log or comes in an answer. */
  public static IdKeys of(IdType type, FieldVector ids) {
    FieldVector vector =
        ids instanceof ExtensionTypeVector<?> extension
            ? (FieldVector) extension.getUnderlyingVector()
            : ids;
    return switch (type) {
      case INT64 -> new Longs((BigIntVector) vector);
      case UTF8 -> new Texts((VarCharVector) vector);
      case UUID -> new Uuids((FixedSizeBinaryVector) vector);
    };
  }

  /** The 64-bit hash whose top bits are the slot. */
  public abstract long hash(int row);

  public abstract PointId id(int row);

  /**
   * Order of this column's id at {@code row} and another's of the same type, as {@link PointId}.
   */
  public abstract int compare(int row, IdKeys other, int otherRow);

  /** Hashes of the first {@code rows} ids. */
  public final long[] hashes(int rows) {
    long[] hashes = new long[rows];
    for (int row = 0; row < rows; row++) {
      hashes[row] = hash(row);
    }
    return hashes;
  }

  private static final class Longs extends IdKeys {
    private final BigIntVector ids;

    private Longs(BigIntVector ids) {
      this.ids = ids;
    }

    @Override
    public long hash(int row) {
      return HashSlot.hash(new PointId.Int64(ids.get(row)).canonicalBytes());
    }

    @Override
    public PointId id(int row) {
      return new PointId.Int64(ids.get(row));
    }

    @Override
    public int compare(int row, IdKeys other, int otherRow) {
      return Long.compare(ids.get(row), ((Longs) other).ids.get(otherRow));
    }
  }

  private static final class Texts extends IdKeys {
    private final VarCharVector ids;

    private Texts(VarCharVector ids) {
      this.ids = ids;
    }

    @Override
    public long hash(int row) {
      return HashSlot.hash(ids.get(row));
    }

    @Override
    public PointId id(int row) {
      return new PointId.Utf8(new String(ids.get(row), StandardCharsets.UTF_8));
    }

    @Override
    public int compare(int row, IdKeys other, int otherRow) {
      return compareUnsigned(bytes(row), ((Texts) other).bytes(otherRow));
    }

    private MemorySegment bytes(int row) {
      return Memory.of(ids.getDataBuffer())
          .asSlice(ids.getStartOffset(row), ids.getValueLength(row));
    }
  }

  private static final class Uuids extends IdKeys {
    private static final int BYTES = 16;
    private final FixedSizeBinaryVector ids;

    private Uuids(FixedSizeBinaryVector ids) {
      this.ids = ids;
    }

    @Override
    public long hash(int row) {
      return HashSlot.hash(ids.get(row));
    }

    @Override
    public PointId id(int row) {
      MemorySegment bytes = bytes(row);
      var buffer = bytes.asByteBuffer();
      return new PointId.Uuid(new UUID(buffer.getLong(), buffer.getLong()));
    }

    @Override
    public int compare(int row, IdKeys other, int otherRow) {
      return compareUnsigned(bytes(row), ((Uuids) other).bytes(otherRow));
    }

    private MemorySegment bytes(int row) {
      return Memory.of(ids.getDataBuffer()).asSlice((long) row * BYTES, BYTES);
    }
  }

  private static int compareUnsigned(MemorySegment a, MemorySegment b) {
    long at = a.mismatch(b);
    if (at < 0) {
      return 0;
    }
    if (at >= Math.min(a.byteSize(), b.byteSize())) {
      return Long.compare(a.byteSize(), b.byteSize());
    }
    return Byte.compareUnsigned(
        a.get(java.lang.foreign.ValueLayout.JAVA_BYTE, at),
        b.get(java.lang.foreign.ValueLayout.JAVA_BYTE, at));
  }
}
