// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.regex.Pattern;

/** The one rule for names that users give (docs/contract.md, section 2), applied at every entry. */
public final class Names {
  public static final String COLLECTION_RULE = "[a-z0-9][a-z0-9_-]{0,62}";
  public static final String FIELD_RULE = "[A-Za-z][A-Za-z0-9_.]{0,127}";

  private static final Pattern COLLECTION = Pattern.compile(COLLECTION_RULE);
  private static final Pattern FIELD = Pattern.compile(FIELD_RULE);

  private Names() {}

  /**
   * Checks the name of a collection, alias or snapshot; {@code what} names the thing in the error.
   */
  public static String checkCollection(String what, String name) {
    if (name == null || !COLLECTION.matcher(name).matches()) {
      throw SagittaException.invalid(
          what + " " + quote(name) + " is not allowed: expected " + COLLECTION_RULE);
    }
    return name;
  }

  /**
   * Checks the name of a field; {@code id} and names with a leading underscore are the engine's.
   */
  public static String checkField(String name) {
    if (name == null || !FIELD.matcher(name).matches() || name.equals("id")) {
      throw SagittaException.invalid(
          "field name " + quote(name) + " is not allowed: expected " + FIELD_RULE + ", not 'id'");
    }
    return name;
  }

  /** The name as it may stand in a message: quoted, control characters escaped, cut at 80. */
  public static String quote(String name) {
    if (name == null) {
      return "null";
    }
    StringBuilder out = new StringBuilder("'");
    name.codePoints()
        .limit(80)
        .forEach(
            c -> {
              if (Character.isISOControl(c)) {
                out.append(String.format("\\u%04x", c));
              } else {
                out.appendCodePoint(c);
              }
            });
    return out.append(name.length() > 80 ? "...'" : "'").toString();
  }
}
