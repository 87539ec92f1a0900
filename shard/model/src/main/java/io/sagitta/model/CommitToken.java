// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;

/**
 * How far a client's writes and reads have come: shard incarnation to log index. Its text is opaque
 * to clients: base64url of a version byte and (UUID, index) pairs.
 *
 * @param indexes log index by shard
 */
public record CommitToken(Map<ShardId, Long> indexes) {
  public static final CommitToken EMPTY = new CommitToken(Map.of());
  private static final byte VERSION = 1;
  private static final int PAIR_BYTES = 24;

  public CommitToken {
    indexes = Map.copyOf(indexes);
  }

  public OptionalLong index(ShardId shard) {
    Long index = indexes.get(shard);
    return index == null ? OptionalLong.empty() : OptionalLong.of(index);
  }

  /** The later of both for each shard. */
  public CommitToken merge(CommitToken other) {
    Map<ShardId, Long> merged = new TreeMap<>(indexes);
    other.indexes.forEach((shard, index) -> merged.merge(shard, index, Math::max));
    return new CommitToken(merged);
  }

  public String text() {
    ByteBuffer out = ByteBuffer.allocate(1 + indexes.size() * PAIR_BYTES).put(VERSION);
    new TreeMap<>(indexes)
        .forEach(
            (shard, index) ->
                out.putLong(shard.value().getMostSignificantBits())
                    .putLong(shard.value().getLeastSignificantBits())
                    .putLong(index));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(out.array());
  }

  /** Reads {@link #text}; anything else is INVALID_ARGUMENT. */
  public static CommitToken parse(String text) {
    byte[] bytes;
    try {
      bytes = Base64.getUrlDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw new SagittaException(ErrorCode.INVALID_ARGUMENT, "'token' is malformed", e);
    }
    if (bytes.length == 0 || bytes[0] != VERSION || (bytes.length - 1) % PAIR_BYTES != 0) {
      throw SagittaException.invalid("'token' is malformed");
    }
    Map<ShardId, Long> indexes = new TreeMap<>();
    ByteBuffer in = ByteBuffer.wrap(bytes).position(1);
    while (in.hasRemaining()) {
      indexes.put(new ShardId(new UUID(in.getLong(), in.getLong())), in.getLong());
    }
    return new CommitToken(indexes);
  }
}
