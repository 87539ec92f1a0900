// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.fanout;

import io.sagitta.flight.internal.Failures;
import io.sagitta.flight.internal.InternalTicket;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.vector.VarBinaryVector;

/** A peer's file as a stream of bytes: one chunk at a time is in memory. */
final class PeerFile extends InputStream {
  private final String peer;
  private final FlightStream stream;
  private byte[] chunk = {};
  private int next;
  private boolean ended;

  PeerFile(String peer, FlightStream stream) {
    this.peer = peer;
    this.stream = stream;
  }

  @Override
  public int read() throws IOException {
    return fill() ? chunk[next++] & 0xff : -1;
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, to.length);
    if (length == 0) {
      return 0;
    }
    if (!fill()) {
      return -1;
    }
    int count = Math.min(length, chunk.length - next);
    System.arraycopy(chunk, next, to, offset, count);
    next += count;
    return count;
  }

  @Override
  public int available() {
    return chunk.length - next;
  }

  private boolean fill() throws IOException {
    while (next == chunk.length && !ended) {
      try {
        ended = !stream.next();
        if (!ended && stream.getRoot().getRowCount() > 0) {
          chunk =
              ((VarBinaryVector) stream.getRoot().getVector(InternalTicket.CHUNK_COLUMN)).get(0);
          next = 0;
        }
      } catch (FlightRuntimeException e) {
        throw new IOException("reading a file of node " + peer, Failures.fromCall(e, peer, false));
      }
    }
    return next < chunk.length;
  }

  /** Ends the call on the peer too, when the file has not been read to its end. */
  @Override
  public void close() throws IOException {
    try {
      if (!ended) {
        stream.cancel("closed by the reader", null);
      }
      stream.close();
    } catch (FlightRuntimeException e) {
      // The call was ended here; that it ended is no news.
      ended = true;
    } catch (Exception e) {
      throw new IOException("closing a file of node " + peer, e);
    }
  }
}
