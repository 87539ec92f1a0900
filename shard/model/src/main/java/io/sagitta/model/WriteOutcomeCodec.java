// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * {@link WriteOutcome} as bytes: what Raft hands back to the proposer and what a shard remembers of
 * a writer's calls. Little-endian: {@code u8 version | u8 kind | fields}; a text is {@code int32
 * length | UTF-8}, an error code its name as text, so that the enum's order may change.
 *
 * <table>
 *   <caption>Fields by kind</caption>
 *   <tr><td>1 Applied</td><td>int64 index, int32 rows, u8 replayed, int32 n, n x (int32 row, code, message)</td></tr>
 *   <tr><td>2 StaleShardMap</td><td>int64 shardEpoch</td></tr>
 *   <tr><td>3 StaleSchema</td><td>int32 shardSchemaVersion</td></tr>
 *   <tr><td>4 SessionExpired</td><td>int64 horizonMs</td></tr>
 *   <tr><td>5 Refused</td><td>code, message</td></tr>
 * </table>
 */
public final class WriteOutcomeCodec {
  private static final byte VERSION = 1;
  private static final byte APPLIED = 1;
  private static final byte STALE_SHARD_MAP = 2;
  private static final byte STALE_SCHEMA = 3;
  private static final byte SESSION_EXPIRED = 4;
  private static final byte REFUSED = 5;

  private static final int REJECT_BYTES_MIN = 12;

  private WriteOutcomeCodec() {}

  /** The outcome's bytes; the same outcome gives the same bytes. */
  public static byte[] encode(WriteOutcome outcome) {
    Writer out = new Writer();
    out.bytes.put(VERSION);
    switch (outcome) {
      case WriteOutcome.Applied applied -> {
        out.bytes.put(APPLIED).putLong(applied.index()).putInt(applied.rows());
        out.bytes.put((byte) (applied.replayed() ? 1 : 0)).putInt(applied.rejects().size());
        for (WriteOutcome.RowReject reject : applied.rejects()) {
          out.reserve(Integer.BYTES).putInt(reject.row());
          out.text(reject.code().name());
          out.text(reject.message());
        }
      }
      case WriteOutcome.StaleShardMap stale ->
          out.bytes.put(STALE_SHARD_MAP).putLong(stale.shardEpoch());
      case WriteOutcome.StaleSchema stale ->
          out.bytes.put(STALE_SCHEMA).putInt(stale.shardSchemaVersion());
      case WriteOutcome.SessionExpired expired ->
          out.bytes.put(SESSION_EXPIRED).putLong(expired.horizonMs());
      case WriteOutcome.Refused refused -> {
        out.bytes.put(REFUSED);
        out.text(refused.code().name());
        out.text(refused.message());
      }
    }
    return out.toByteArray();
  }

  /**
   * The outcome that {@link #encode} wrote.
   *
   * @throws SagittaException CORRUPT when the bytes are not those of an outcome this version knows
   */
  public static WriteOutcome decode(ByteBuffer bytes) {
    ByteBuffer in = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
    try {
      byte version = in.get();
      if (version != VERSION) {
        throw corrupt("version " + version + ", expected " + VERSION, null);
      }
      WriteOutcome outcome = decodeBody(in);
      if (in.hasRemaining()) {
        throw corrupt(in.remaining() + " bytes too many", null);
      }
      return outcome;
    } catch (BufferUnderflowException e) {
      throw corrupt("ends after " + in.limit() + " bytes, expected more", e);
    }
  }

  private static WriteOutcome decodeBody(ByteBuffer in) {
    byte kind = in.get();
    return switch (kind) {
      case APPLIED -> applied(in);
      case STALE_SHARD_MAP -> new WriteOutcome.StaleShardMap(in.getLong());
      case STALE_SCHEMA -> new WriteOutcome.StaleSchema(in.getInt());
      case SESSION_EXPIRED -> new WriteOutcome.SessionExpired(in.getLong());
      case REFUSED -> new WriteOutcome.Refused(code(in), text(in));
      default -> throw corrupt("kind " + kind + ", expected 1..5", null);
    };
  }

  private static WriteOutcome.Applied applied(ByteBuffer in) {
    long index = in.getLong();
    int rows = in.getInt();
    byte replayed = in.get();
    int count = in.getInt();
    if (replayed < 0 || replayed > 1 || count < 0 || count > in.remaining() / REJECT_BYTES_MIN) {
      throw corrupt("replayed " + replayed + " with " + count + " rejects", null);
    }
    List<WriteOutcome.RowReject> rejects = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      rejects.add(new WriteOutcome.RowReject(in.getInt(), code(in), text(in)));
    }
    return new WriteOutcome.Applied(index, rows, rejects, replayed == 1);
  }

  private static ErrorCode code(ByteBuffer in) {
    String name = text(in);
    try {
      return ErrorCode.valueOf(name);
    } catch (IllegalArgumentException e) {
      throw corrupt("unknown error code " + Names.quote(name), e);
    }
  }

  private static String text(ByteBuffer in) {
    int length = in.getInt();
    if (length < 0 || length > in.remaining()) {
      throw corrupt("text of " + length + " bytes, " + in.remaining() + " are left", null);
    }
    byte[] text = new byte[length];
    in.get(text);
    return new String(text, StandardCharsets.UTF_8);
  }

  private static SagittaException corrupt(String what, Throwable cause) {
    return new SagittaException(ErrorCode.CORRUPT, "write outcome: " + what, cause);
  }

  /** A buffer that grows; the fixed fields of any kind fit into its first bytes. */
  private static final class Writer {
    private ByteBuffer bytes = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);

    private ByteBuffer reserve(int length) {
      if (bytes.remaining() < length) {
        int capacity = Math.max(bytes.capacity() * 2, bytes.position() + length);
        bytes = ByteBuffer.allocate(capacity).order(ByteOrder.LITTLE_ENDIAN).put(bytes.flip());
      }
      return bytes;
    }

    private void text(String text) {
      byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
      reserve(Integer.BYTES + utf8.length).putInt(utf8.length).put(utf8);
    }

    private byte[] toByteArray() {
      byte[] out = new byte[bytes.position()];
      bytes.flip().get(out);
      return out;
    }
  }
}
