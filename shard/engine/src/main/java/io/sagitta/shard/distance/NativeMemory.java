// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.apache.arrow.memory.ArrowBuf;

/**
 * The address space as one segment: a constant base and bound let the compiler drop the checks that
 * ordinary segments pay per load. Addresses given here must have been checked by the caller.
 */
public final class NativeMemory {
  static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  static final ByteOrder LE = ByteOrder.LITTLE_ENDIAN;
  static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(LE);
  static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(LE);
  static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(LE);
  static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(LE);
  static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  private NativeMemory() {}

  /** The bytes of an Arrow buffer; valid while the buffer's reference is held. */
  public static MemorySegment of(ArrowBuf buffer) {
    return MemorySegment.ofAddress(buffer.memoryAddress()).reinterpret(buffer.capacity());
  }

  /** The int at an address. */
  public static int intAt(long address) {
    return ALL.get(INT, address);
  }

  /** Stores an int. */
  public static void putInt(long address, int value) {
    ALL.set(INT, address, value);
  }

  static void putFloat(long address, float value) {
    ALL.set(FLOAT, address, value);
  }

  static void putByte(long address, byte value) {
    ALL.set(BYTE, address, value);
  }

  static void fill(long address, long bytes, byte value) {
    ALL.asSlice(address, bytes).fill(value);
  }

  static void copy(byte[] from, long address) {
    MemorySegment.copy(from, 0, ALL, BYTE, address, from.length);
  }

  static float floatAt(long address) {
    return ALL.get(FLOAT, address);
  }

  static int shortAt(long address) {
    return ALL.get(SHORT, address);
  }

  static float halfAt(long address) {
    return Float.float16ToFloat(ALL.get(SHORT, address));
  }

  static float brainAt(long address) {
    return Float.intBitsToFloat(ALL.get(SHORT, address) << 16);
  }

  static int byteAt(long address) {
    return ALL.get(BYTE, address);
  }

  static int unsignedByteAt(long address) {
    return Byte.toUnsignedInt(ALL.get(BYTE, address));
  }

  static long longAt(long address) {
    return ALL.get(LONG, address);
  }
}
