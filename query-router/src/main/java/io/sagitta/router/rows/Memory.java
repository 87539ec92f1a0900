// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import java.lang.foreign.MemorySegment;
import org.apache.arrow.memory.ArrowBuf;

/** Arrow's buffers as bounds-checked segments. */
final class Memory {
  private Memory() {}

  /** The whole buffer; valid while the buffer is. */
  static MemorySegment of(ArrowBuf buffer) {
    return MemorySegment.ofAddress(buffer.memoryAddress()).reinterpret(buffer.capacity());
  }
}
