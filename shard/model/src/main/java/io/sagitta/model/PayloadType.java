// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

/**
 * Type of a payload field: a kind, or a list of it.
 *
 * @param kind the element kind
 * @param list whether values are lists of {@code kind}; {@code JSON} and {@code GEO} lists are
 *     allowed
 */
public record PayloadType(Kind kind, boolean list) {

  /** Element kinds; {@link #text} is their name in requests. */
  public enum Kind {
    BOOL("bool"),
    INT8("int8"),
    INT16("int16"),
    INT32("int32"),
    INT64("int64"),
    UINT8("uint8"),
    UINT16("uint16"),
    UINT32("uint32"),
    UINT64("uint64"),
    FLOAT32("float32"),
    FLOAT64("float64"),
    UTF8("utf8"),
    BINARY("binary"),
    /** Days since 1970-01-01 (Arrow date32). */
    DATE("date"),
    /** Microseconds since the epoch, UTC. */
    TIMESTAMP("timestamp"),
    UUID("uuid"),
    /** Struct of float64 {@code lat} and {@code lon}. */
    GEO("geo"),
    /** A JSON document as UTF-8 text. */
    JSON("json");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }
  }

  public static PayloadType of(Kind kind) {
    return new PayloadType(kind, false);
  }

  public static PayloadType listOf(Kind kind) {
    return new PayloadType(kind, true);
  }

  /** Parses {@code utf8} or {@code list<utf8>}; a name that is not known is INVALID_ARGUMENT. */
  public static PayloadType parse(String text) {
    boolean list = text.startsWith("list<") && text.endsWith(">");
    String element = list ? text.substring(5, text.length() - 1) : text;
    for (Kind kind : Kind.values()) {
      if (kind.text.equals(element)) {
        return new PayloadType(kind, list);
      }
    }
    throw SagittaException.invalid(
        "unknown payload type '" + text + "', expected a type such as utf8, int64 or list<utf8>");
  }

  /** The name used in requests: {@code utf8}, {@code list<int64>}. */
  public String text() {
    return list ? "list<" + kind.text() + ">" : kind.text();
  }
}
