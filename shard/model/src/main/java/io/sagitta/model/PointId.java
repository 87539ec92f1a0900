// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/**
 * The id of a point. Ids of one collection have one type; comparing across types is a bug. The
 * order is that of ties in answers and of scans: numbers as numbers, bytes unsigned.
 */
public sealed interface PointId extends Comparable<PointId> {
  /** Bytes an UTF-8 id may have. */
  int UTF8_BYTES_MAX = 512;

  IdType type();

  /** int64 big-endian, UTF-8, or the 16 UUID bytes: what slots are hashed from. */
  byte[] canonicalBytes();

  /** The id as text: decimal, the string itself, lower-case UUID. */
  @Override
  String toString();

  /** A signed 64-bit id. */
  record Int64(long value) implements PointId {
    @Override
    public IdType type() {
      return IdType.INT64;
    }

    @Override
    public byte[] canonicalBytes() {
      return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    @Override
    public int compareTo(PointId other) {
      return Long.compare(value, ((Int64) other).value);
    }

    @Override
    public String toString() {
      return Long.toString(value);
    }
  }

  /** A text id of 1 to 512 bytes of valid UTF-8. */
  record Utf8(String value) implements PointId {
    public Utf8 {
      byte[] bytes = encode(value);
      if (bytes.length < 1 || bytes.length > UTF8_BYTES_MAX) {
        throw SagittaException.invalid(
            "id has " + bytes.length + " bytes, expected 1.." + UTF8_BYTES_MAX);
      }
    }

    @Override
    public IdType type() {
      return IdType.UTF8;
    }

    @Override
    public byte[] canonicalBytes() {
      return value.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public int compareTo(PointId other) {
      return Arrays.compareUnsigned(canonicalBytes(), other.canonicalBytes());
    }

    @Override
    public String toString() {
      return value;
    }

    private static byte[] encode(String value) {
      try {
        ByteBuffer bytes =
            StandardCharsets.UTF_8
                .newEncoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .encode(CharBuffer.wrap(value));
        byte[] out = new byte[bytes.remaining()];
        bytes.get(out);
        return out;
      } catch (CharacterCodingException e) {
        throw new SagittaException(
            ErrorCode.INVALID_ARGUMENT, "id is not valid Unicode: unpaired surrogate", e);
      }
    }
  }

  /** A UUID. */
  record Uuid(UUID value) implements PointId {
    @Override
    public IdType type() {
      return IdType.UUID;
    }

    @Override
    public byte[] canonicalBytes() {
      return ByteBuffer.allocate(16)
          .putLong(value.getMostSignificantBits())
          .putLong(value.getLeastSignificantBits())
          .array();
    }

    @Override
    public int compareTo(PointId other) {
      UUID that = ((Uuid) other).value;
      int high =
          Long.compareUnsigned(value.getMostSignificantBits(), that.getMostSignificantBits());
      return high != 0
          ? high
          : Long.compareUnsigned(value.getLeastSignificantBits(), that.getLeastSignificantBits());
    }

    @Override
    public String toString() {
      return value.toString();
    }
  }

  /** Parses an id of the given type; what does not fit is INVALID_ARGUMENT, never wrapped. */
  static PointId parse(IdType type, String text) {
    return switch (type) {
      case INT64 -> {
        try {
          yield new Int64(Long.parseLong(text));
        } catch (NumberFormatException e) {
          throw new SagittaException(
              ErrorCode.INVALID_ARGUMENT,
              "id " + Names.quote(text) + " is not an int64 (-2^63 to 2^63-1)",
              e);
        }
      }
      case UTF8 -> new Utf8(text);
      case UUID -> new Uuid(UuidText.parse(text));
    };
  }
}
