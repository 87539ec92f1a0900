// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model.filter;

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

  public static Bytes utf8(String text) {
    return new Bytes(text.getBytes(StandardCharsets.UTF_8));
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
