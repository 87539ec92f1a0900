// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/** Validity of UTF-8 (RFC 3629: no surrogates, no overlong forms, at most U+10FFFF). */
public final class Utf8 {
  private static final long HIGH_BITS = 0x8080808080808080L;

  private Utf8() {}

  /** Place of the first byte that does not belong to a valid character, or -1. */
  public static int firstInvalid(MemorySegment bytes) {
    int length = (int) bytes.byteSize();
    int i = 0;
    while (i < length) {
      if (i + Long.BYTES <= length && (bytes.get(JAVA_LONG_UNALIGNED, i) & HIGH_BITS) == 0) {
        i += Long.BYTES;
        continue;
      }
      int size = characterBytes(bytes, i, length);
      if (size == 0) {
        return i;
      }
      i += size;
    }
    return -1;
  }

  /** Place of the first half of a character that stands alone, which UTF-8 cannot have, or -1. */
  public static int firstUnpaired(String text) {
    int i = 0;
    while (i < text.length()) {
      int point = text.codePointAt(i);
      if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
        return i;
      }
      i += Character.charCount(point);
    }
    return -1;
  }

  static boolean isContinuation(byte b) {
    return (b & 0xc0) == 0x80;
  }

  /** Bytes of the character at {@code at}, 0 where there is no valid one. */
  private static int characterBytes(MemorySegment bytes, int at, int length) {
    int first = bytes.get(JAVA_BYTE, at) & 0xff;
    if (first < 0x80) {
      return 1;
    }
    int size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || at + size > length) {
      return 0;
    }
    int second = bytes.get(JAVA_BYTE, at + 1) & 0xff;
    int low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    int high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (second < low || second > high) {
      return 0;
    }
    for (int i = 2; i < size; i++) {
      if (!isContinuation(bytes.get(JAVA_BYTE, at + i))) {
        return 0;
      }
    }
    return size;
  }
}
