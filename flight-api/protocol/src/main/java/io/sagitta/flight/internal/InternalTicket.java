// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.internal;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import io.sagitta.flight.internal.proto.FileTicket;
import io.sagitta.flight.internal.proto.ReadTicket;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.util.Arrays;

/**
 * The ticket of an internal DoGet: one byte that tells which message follows, then the message. The
 * answer of a {@link Read} is batches with a {@link StampJson} in the schema metadata; that of a
 * {@link File} is one column {@value #CHUNK_COLUMN} of binary, one row a batch, of at most {@value
 * #CHUNK_BYTES_MAX} bytes.
 */
public sealed interface InternalTicket {
  /** Name of the column in which a file travels. */
  String CHUNK_COLUMN = "chunk";

  /** Bytes of one chunk of a file. */
  int CHUNK_BYTES_MAX = 1 << 20;

  /** Reads one shard. */
  record Read(ReadTicket message) implements InternalTicket {
    @Override
    public byte[] toBytes() {
      return tagged('R', message);
    }
  }

  /** Fetches one file of a checkpoint. */
  record File(FileTicket message) implements InternalTicket {
    @Override
    public byte[] toBytes() {
      return tagged('F', message);
    }
  }

  byte[] toBytes();

  /** Reads {@link #toBytes}; anything else is INVALID_ARGUMENT. */
  static InternalTicket parse(byte[] bytes) {
    try {
      if (bytes.length > 0) {
        byte[] message = Arrays.copyOfRange(bytes, 1, bytes.length);
        switch (bytes[0]) {
          case 'R' -> {
            return new Read(ReadTicket.parseFrom(message));
          }
          case 'F' -> {
            return new File(FileTicket.parseFrom(message));
          }
          default -> {}
        }
      }
    } catch (InvalidProtocolBufferException e) {
      throw new SagittaException(
          ErrorCode.INVALID_ARGUMENT, "malformed internal ticket: " + e.getMessage(), e);
    }
    throw SagittaException.invalid("malformed internal ticket: neither a read nor a file");
  }

  private static byte[] tagged(char tag, MessageLite message) {
    byte[] body = message.toByteArray();
    byte[] out = new byte[body.length + 1];
    out[0] = (byte) tag;
    System.arraycopy(body, 0, out, 1, body.length);
    return out;
  }
}
