// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import io.sagitta.model.VectorType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Brings float32 vectors into the type that a field stores. */
final class StoredComponents {
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private StoredComponents() {}

  /**
   * Writes one vector, rounded to the nearest that the type has. int8 is for cosine: each vector is
   * scaled so that its greatest component becomes 127.
   */
  static void write(VectorType type, float[] vector, MemorySegment out) {
    switch (type) {
      case FLOAT32 -> {
        for (int d = 0; d < vector.length; d++) {
          out.set(FLOAT, 4L * d, vector[d]);
        }
      }
      case FLOAT16 -> {
        for (int d = 0; d < vector.length; d++) {
          out.set(SHORT, 2L * d, Float.floatToFloat16(vector[d]));
        }
      }
      case BFLOAT16 -> {
        for (int d = 0; d < vector.length; d++) {
          out.set(SHORT, 2L * d, brain(vector[d]));
        }
      }
      case INT8 -> {
        float greatest = 0;
        for (float component : vector) {
          greatest = Math.max(greatest, Math.abs(component));
        }
        for (int d = 0; d < vector.length; d++) {
          out.set(ValueLayout.JAVA_BYTE, d, (byte) Math.round(vector[d] * (127 / greatest)));
        }
      }
      case UINT8, BINARY -> throw new IllegalArgumentException(type + " has no signs");
    }
  }

  /** The upper half of a float, ties to even; finite values only. */
  static short brain(float value) {
    int bits = Float.floatToRawIntBits(value);
    int rounded = bits + 0x7fff + (bits >>> 16 & 1);
    return (short) (rounded >>> 16);
  }
}
