// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model.filter;

import io.sagitta.model.Utf8;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/** Bytes that compare by value, unsigned. Nobody writes into them. */
public final class Bytes implements Comparable<Bytes> {
  private final byte[] array;

  private Bytes(byte[] array) {
    this.array = array;
  }

  public static Bytes of(byte[] array) {
    return new Bytes(array.clone());
  }

  /**
   * A text in UTF-8. Half a character, which the escapes of a JSON document may spell, is encoded
   * as if it were one ("WTF-8"): it orders by its number and equals nothing else.
   */
  public static Bytes utf8(String text) {
    if (Utf8.firstUnpaired(text) < 0) {
      return new Bytes(text.getBytes(StandardCharsets.UTF_8));
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream(3 * text.length());
    text.codePoints()
        .forEach(
            point -> {
              if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
                out.write(0xe0 | (point >> 12));
                out.write(0x80 | ((point >> 6) & 0x3f));
                out.write(0x80 | (point & 0x3f));
              } else {
                out.writeBytes(Character.toString(point).getBytes(StandardCharsets.UTF_8));
              }
            });
    return new Bytes(out.toByteArray());
  }

  public int length() {
    return array.length;
  }

  public byte get(int at) {
    return array[at];
  }

  @Override
  public int compareTo(Bytes other) {
    return Arrays.compareUnsigned(array, other.array);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Bytes that && Arrays.equals(array, that.array);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(array);
  }

  @Override
  public String toString() {
    return HexFormat.of().formatHex(array);
  }
}
