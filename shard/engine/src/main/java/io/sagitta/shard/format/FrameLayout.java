// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Sizes, places and constants of the frame; the table stands in the package's description. */
final class FrameLayout {
  static final int VERSION = 1;
  static final int VERSION_OLDEST = 1;

  static final int HEADER_BYTES = 64;
  static final int HEADER_LENGTH_AT = 8;
  static final int VERSION_AT = 12;
  static final int KIND_AT = 14;
  static final int OWNER_AT = 16;
  static final int NUMBER_AT = 32;
  static final int ROWS_AT = 40;
  static final int HEADER_ZEROS_AT = 48;
  static final int HEADER_CRC_AT = 60;

  static final int SECTION_ALIGNMENT = 64;
  static final int SECTION_ENTRY_BYTES = 24;
  static final int BLOCK_BYTES = 64 << 10;
  static final int BLOCK_ENTRY_BYTES = 4;

  static final int FOOTER_BYTES = 48;
  static final int TABLES_OFFSET_AT = 0;
  static final int FILE_LENGTH_AT = 8;
  static final int SECTIONS_AT = 16;
  static final int BLOCKS_AT = 20;
  static final int BLOCK_BYTES_AT = 24;
  static final int TABLES_CRC_AT = 28;
  static final int FOOTER_MAGIC_AT = 32;
  static final int FOOTER_CRC_AT = 44;

  /** Reads as 89 53 47 54 41 0d 0a 1a in the file. */
  static final long MAGIC = 0x1a0a0d4154475389L;

  /** The same backwards. */
  static final long FOOTER_MAGIC = Long.reverseBytes(MAGIC);

  static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong BIG_ENDIAN_LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private FrameLayout() {}

  static long align(long offset, int alignment) {
    return (offset + alignment - 1) & -alignment;
  }
}
