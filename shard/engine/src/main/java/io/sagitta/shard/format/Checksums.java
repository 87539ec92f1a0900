// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import java.util.zip.CRC32C;

/** CRC32C (Castagnoli), which the JVM computes with the machine's own instruction. */
final class Checksums {
  private static final long STEP_BYTES = 1 << 20;

  private Checksums() {}

  /** The checksum of all bytes. */
  static int of(MemorySegment bytes) {
    return of(bytes, step -> {});
  }

  /**
   * The checksum of all bytes.
   *
   * @param pace told before each step how many bytes are going to be read; it may wait
   */
  static int of(MemorySegment bytes, IntConsumer pace) {
    CRC32C crc = new CRC32C();
    for (long at = 0; at < bytes.byteSize(); at += STEP_BYTES) {
      long step = Math.min(STEP_BYTES, bytes.byteSize() - at);
      pace.accept((int) step);
      crc.update(bytes.asSlice(at, step).asByteBuffer());
    }
    return (int) crc.getValue();
  }
}
