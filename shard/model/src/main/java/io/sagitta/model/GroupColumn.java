// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.ExtensionTypeVector;
import org.apache.arrow.vector.FieldVector;

/**
 * A column that hits are grouped by. Its values are hashed and compared where they lie: nothing is
 * copied, however long a text is. Borrows the vector. One thread at a time.
 */
public final class GroupColumn {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final FieldVector column;
  private byte[] scratch = new byte[64];

  private GroupColumn(FieldVector column) {
    this.column = column;
  }

  /** The values of a canonical column of one of the types that {@link #field} lets pass. */
  public static GroupColumn of(FieldVector column) {
    return new GroupColumn(
        column instanceof ExtensionTypeVector<?> extension
            ? (FieldVector) extension.getUnderlyingVector()
            : column);
  }

  /**
   * The field that is to be grouped by.
   *
   * @throws SagittaException INVALID_ARGUMENT where there is no such field, or it has no values
   *     that are equal or not: vectors, lists, floats, geo points and documents
   */
  public static PayloadField field(CollectionSchema schema, String name) {
    if (schema.requireField(name) instanceof PayloadField payload && canGroup(payload.type())) {
      return payload;
    }
    throw SagittaException.invalid(
        "field %s is %s, which cannot be grouped by; expected bool, an integer type, utf8, binary, date, timestamp or uuid"
            .formatted(Names.quote(name), typeOf(schema.requireField(name))));
  }

  private static String typeOf(Field field) {
    return switch (field) {
      case VectorField ignored -> "a vector field";
      case PayloadField payload -> "of type " + payload.type().text();
    };
  }

  private static boolean canGroup(PayloadType type) {
    return !type.list()
        && switch (type.kind()) {
          case BOOL,
              INT8,
              INT16,
              INT32,
              INT64,
              UINT8,
              UINT16,
              UINT32,
              UINT64,
              UTF8,
              BINARY,
              DATE,
              TIMESTAMP,
              UUID ->
              true;
          case FLOAT32, FLOAT64, GEO, JSON -> false;
        };
  }

  /** The value of a row; null where it has none. */
  public Value value(int row) {
    return column.isNull(row) ? null : new Value(this, row, hash(row));
  }

  /** Hash of a row's value, the same on every node; the row must have one. */
  private long hash(int row) {
    return switch (column) {
      case BitVector bits -> mixed(bits.get(row));
      case BaseFixedWidthVector fixed when fixed.getTypeWidth() <= Long.BYTES ->
          mixed(number(bytes(row)));
      default -> {
        MemorySegment bytes = bytes(row);
        int length = (int) bytes.byteSize();
        if (scratch.length < length) {
          scratch = new byte[Math.max(length, 2 * scratch.length)];
        }
        MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, 0, scratch, 0, length);
        yield HashSlot.hash(scratch, 0, length);
      }
    };
  }

  private boolean isSame(int row, GroupColumn other, int otherRow) {
    if (column instanceof BitVector bits) {
      return bits.get(row) == ((BitVector) other.column).get(otherRow);
    }
    return bytes(row).mismatch(other.bytes(otherRow)) < 0;
  }

  private MemorySegment bytes(int row) {
    return switch (column) {
      case BaseVariableWidthVector text -> {
        int start = text.getStartOffset(row);
        yield of(text.getDataBuffer()).asSlice(start, text.getEndOffset(row) - start);
      }
      case BaseFixedWidthVector fixed -> {
        int width = fixed.getTypeWidth();
        yield of(fixed.getDataBuffer()).asSlice((long) row * width, width);
      }
      default -> throw new IllegalArgumentException("grouped by " + column.getField());
    };
  }

  private static MemorySegment of(ArrowBuf buffer) {
    return MemorySegment.ofAddress(buffer.memoryAddress()).reinterpret(buffer.capacity());
  }

  private static long number(MemorySegment bytes) {
    return switch ((int) bytes.byteSize()) {
      case Byte.BYTES -> bytes.get(ValueLayout.JAVA_BYTE, 0);
      case Short.BYTES -> bytes.get(SHORT, 0);
      case Integer.BYTES -> bytes.get(INT, 0);
      case Long.BYTES -> bytes.get(LONG, 0);
      default -> throw new IllegalArgumentException("a number of " + bytes.byteSize() + " bytes");
    };
  }

  /** SplitMix64's finaliser: neighbouring numbers do not share a place in a table. */
  private static long mixed(long number) {
    long z = number + 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** A value where it lies, as a key of a map; valid while the column is. */
  public static final class Value {
    private final GroupColumn column;
    private final int row;
    private final long hash;

    private Value(GroupColumn column, int row, long hash) {
      this.column = column;
      this.row = row;
      this.hash = hash;
    }

    /** The same for the same value on every node. */
    public long hash() {
      return hash;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Value value
          && value.hash == hash
          && column.isSame(row, value.column, value.row);
    }

    @Override
    public int hashCode() {
      return Long.hashCode(hash);
    }
  }
}
