// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;

/**
 * One FlightData message as bytes, in pieces: a head, and a body that several frames may share,
 * since a batch that is sent again differs only in its head. Plain byte arrays, so that nothing
 * leaks whatever becomes of the call; small ones, so that none is a humongous object.
 *
 * @param head everything before the body's bytes
 * @param body the body's bytes
 * @param bytes bytes of all
 */
record OutgoingFrame(byte[] head, List<byte[]> body, int bytes) {

  OutgoingFrame(byte[] head, List<byte[]> body) {
    this(head, body, head.length + body.stream().mapToInt(piece -> piece.length).sum());
  }

  /** Writes frames; this side never reads any. */
  static final Marshaller<OutgoingFrame> MARSHALLER =
      new Marshaller<>() {
        @Override
        public InputStream stream(OutgoingFrame frame) {
          return new Bytes(frame);
        }

        @Override
        public OutgoingFrame parse(InputStream stream) {
          throw new UnsupportedOperationException("uploads are only written here");
        }
      };

  /** The bytes for the transport, which drains them in one go. */
  private static final class Bytes extends InputStream implements Drainable, KnownLength {
    private final OutgoingFrame frame;
    private int piece = -1;
    private int at;
    private int left;

    private Bytes(OutgoingFrame frame) {
      this.frame = frame;
      this.left = frame.bytes;
    }

    private byte[] piece() {
      return piece < 0 ? frame.head : frame.body.get(piece);
    }

    @Override
    public int drainTo(OutputStream target) throws IOException {
      int drained = left;
      while (left > 0) {
        byte[] bytes = piece();
        target.write(bytes, at, bytes.length - at);
        left -= bytes.length - at;
        piece++;
        at = 0;
      }
      return drained;
    }

    @Override
    public int read() {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
      if (left == 0) {
        return -1;
      }
      while (at == piece().length) {
        piece++;
        at = 0;
      }
      int n = Math.min(length, piece().length - at);
      System.arraycopy(piece(), at, target, offset, n);
      at += n;
      left -= n;
      return n;
    }

    @Override
    public int available() {
      return left;
    }
  }
}
