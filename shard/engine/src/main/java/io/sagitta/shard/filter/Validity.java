// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.filter;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.FieldVector;

/** Which rows of a column have a value, 64 at a time. */
final class Validity {
  private Validity() {}

  static long word(FieldVector vector, int word, int rows) {
    long present = Truths.rowsOf(word, rows);
    if (vector.getNullCount() == 0) {
      return present;
    }
    return bits(vector.getValidityBuffer(), word) & present;
  }

  /** Bits of a packed buffer; those past its end are zero. */
  static long bits(ArrowBuf buffer, int word) {
    long at = (long) word * Long.BYTES;
    if (at + Long.BYTES <= buffer.capacity()) {
      return buffer.getLong(at);
    }
    long bits = 0;
    for (int i = 0; i < Long.BYTES && at + i < buffer.capacity(); i++) {
      bits |= (buffer.getByte(at + i) & 0xffL) << (i * Byte.SIZE);
    }
    return bits;
  }
}
