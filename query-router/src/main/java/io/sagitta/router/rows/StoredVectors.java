// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.sagitta.model.VectorField;
import java.lang.foreign.MemorySegment;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;

/** Stored vectors as the numbers they stand for. */
public final class StoredVectors {
  private StoredVectors() {}

  /**
   * The components of one vector, exactly; bits as 0 and 1.
   *
   * @param vectors a canonical column of the field
   * @param row one that is not null
   */
  public static float[] components(VectorField field, FieldVector vectors, int row) {
    MemorySegment data =
        vectors instanceof FixedSizeListVector list
            ? Memory.of(list.getDataVector().getDataBuffer())
            : Memory.of(vectors.getDataBuffer());
    long offset = (long) row * field.vectorBytes();
    float[] components = new float[field.dimension()];
    for (int i = 0; i < components.length; i++) {
      components[i] =
          switch (field.type()) {
            case FLOAT32 -> data.get(JAVA_FLOAT_UNALIGNED, offset + 4L * i);
            case FLOAT16 -> Float.float16ToFloat(data.get(JAVA_SHORT_UNALIGNED, offset + 2L * i));
            case BFLOAT16 ->
                Float.intBitsToFloat(data.get(JAVA_SHORT_UNALIGNED, offset + 2L * i) << 16);
            case INT8 -> data.get(JAVA_BYTE, offset + i);
            case UINT8 -> data.get(JAVA_BYTE, offset + i) & 0xff;
            case BINARY -> (data.get(JAVA_BYTE, offset + (i >> 3)) >> (7 - (i & 7))) & 1;
          };
    }
    return components;
  }
}
