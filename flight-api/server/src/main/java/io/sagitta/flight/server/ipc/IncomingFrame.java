// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server.ipc;

import io.sagitta.model.SagittaException;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.apache.arrow.flight.impl.Flight.FlightDescriptor;
import org.apache.arrow.memory.ArrowBuf;

/** One FlightData message of an upload, taken apart but not yet understood. Close it. */
public sealed interface IncomingFrame extends AutoCloseable {

  @Override
  void close();

  /**
   * A message.
   *
   * @param descriptor the stream's descriptor; clients send it with the first message
   * @param header the IPC message header (a flatbuffer), where there is one
   * @param appMetadata the client's own bytes, where there are any
   * @param body the IPC message body; absent where it has no bytes
   */
  record Data(
      Optional<FlightDescriptor> descriptor,
      Optional<ByteBuffer> header,
      Optional<byte[]> appMetadata,
      Optional<ArrowBuf> body)
      implements IncomingFrame {

    public long bodyBytes() {
      return body.map(ArrowBuf::capacity).orElse(0L);
    }

    @Override
    public void close() {
      body.ifPresent(ArrowBuf::close);
    }
  }

  /** A message that is none, or for which there was no memory. */
  record Refused(SagittaException error) implements IncomingFrame {
    @Override
    public void close() {}
  }
}
