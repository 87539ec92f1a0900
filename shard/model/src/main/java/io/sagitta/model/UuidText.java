// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.UUID;

/** The usual spellings of a UUID: hyphens or none, braces, {@code urn:uuid:}, any case. */
public final class UuidText {
  private UuidText() {}

  /** Parses any usual spelling; anything else is INVALID_ARGUMENT. */
  public static UUID parse(String text) {
    String hex = text;
    if (hex.regionMatches(true, 0, "urn:uuid:", 0, 9)) {
      hex = hex.substring(9);
    } else if (hex.startsWith("{") && hex.endsWith("}")) {
      hex = hex.substring(1, hex.length() - 1);
    }
    if (hex.length() == 36
        && hex.charAt(8) == '-'
        && hex.charAt(13) == '-'
        && hex.charAt(18) == '-'
        && hex.charAt(23) == '-') {
      hex =
          hex.substring(0, 8)
              + hex.substring(9, 13)
              + hex.substring(14, 18)
              + hex.substring(19, 23)
              + hex.substring(24);
    }
    if (hex.length() != 32 || !hex.chars().allMatch(UuidText::isHex)) {
      throw SagittaException.invalid(Names.quote(text) + " is not a UUID");
    }
    return new UUID(
        Long.parseUnsignedLong(hex.substring(0, 16), 16),
        Long.parseUnsignedLong(hex.substring(16), 16));
  }

  private static boolean isHex(int c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  }
}
