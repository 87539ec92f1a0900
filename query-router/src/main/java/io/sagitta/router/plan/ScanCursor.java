// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.plan;

import io.sagitta.model.CollectionId;
import io.sagitta.model.CommitToken;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.UUID;

/**
 * Where a scan goes on. Holds all there is to know, so that any node can go on, also after
 * restarts: the last id given, and the log index read of each shard, which the next page must not
 * be older than. Its text is opaque to clients: base64url of {@code u8 version | 16 collection | u8
 * id type | u16 length | id | token}.
 *
 * @param collection incarnation scanned; a cursor of a dropped collection is refused
 * @param after last id given
 * @param seen log index read, by shard
 */
public record ScanCursor(CollectionId collection, PointId after, CommitToken seen) {
  /** What a scan answers that has come to its end. */
  public static final String END = "";

  private static final byte VERSION = 1;

  public String text() {
    byte[] id = after.canonicalBytes();
    byte[] token = seen.text().getBytes(StandardCharsets.US_ASCII);
    ByteBuffer out =
        ByteBuffer.allocate(1 + 16 + 1 + Short.BYTES + id.length + token.length)
            .put(VERSION)
            .putLong(collection.value().getMostSignificantBits())
            .putLong(collection.value().getLeastSignificantBits())
            .put(typeByte(after.type()))
            .putShort((short) id.length)
            .put(id)
            .put(token);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(out.array());
  }

  /**
   * Reads {@link #text}.
   *
   * @throws SagittaException INVALID_ARGUMENT for anything else, and for a cursor of another
   *     collection
   */
  public static ScanCursor parse(String text, CollectionId collection) {
    ScanCursor cursor;
    try {
      cursor = read(ByteBuffer.wrap(Base64.getUrlDecoder().decode(text)));
    } catch (IllegalArgumentException | BufferUnderflowException | SagittaException e) {
      throw new SagittaException(ErrorCode.INVALID_ARGUMENT, "'cursor' is malformed", e);
    }
    if (!cursor.collection.equals(collection)) {
      throw SagittaException.invalid("'cursor' is of another collection, or of one dropped since");
    }
    return cursor;
  }

  private static ScanCursor read(ByteBuffer in) {
    if (in.get() != VERSION) {
      throw new IllegalArgumentException("version");
    }
    CollectionId collection = new CollectionId(new UUID(in.getLong(), in.getLong()));
    byte type = in.get();
    byte[] id = new byte[in.getShort() & 0xffff];
    in.get(id);
    byte[] token = new byte[in.remaining()];
    in.get(token);
    return new ScanCursor(
        collection, id(type, id), CommitToken.parse(new String(token, StandardCharsets.US_ASCII)));
  }

  private static byte typeByte(IdType type) {
    return switch (type) {
      case INT64 -> 1;
      case UTF8 -> 2;
      case UUID -> 3;
    };
  }

  private static PointId id(byte type, byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    return switch (type) {
      case 1 -> new PointId.Int64(in.getLong());
      case 2 -> new PointId.Utf8(new String(bytes, StandardCharsets.UTF_8));
      case 3 -> new PointId.Uuid(new UUID(in.getLong(), in.getLong()));
      default -> throw new IllegalArgumentException("id type " + type);
    };
  }
}
