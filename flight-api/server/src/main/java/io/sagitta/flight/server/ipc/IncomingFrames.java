// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server.ipc;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.grpc.HasByteBuffer;
import io.grpc.MethodDescriptor.Marshaller;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.apache.arrow.flight.impl.Flight.FlightData;
import org.apache.arrow.flight.impl.Flight.FlightDescriptor;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;

/**
 * Takes FlightData messages apart by hand: the generated class would hold the body twice, once as a
 * ByteString. The body is copied once, from the transport's buffers to an ArrowBuf, without a byte
 * array of its size between. A message that does not parse becomes {@link IncomingFrame.Refused}
 * and no exception, since gRPC answers an exception from here with a status that has no code.
 */
public final class IncomingFrames implements Marshaller<IncomingFrame> {
  private static final int DESCRIPTOR = field(FlightData.FLIGHT_DESCRIPTOR_FIELD_NUMBER);
  private static final int HEADER = field(FlightData.DATA_HEADER_FIELD_NUMBER);
  private static final int APP_METADATA = field(FlightData.APP_METADATA_FIELD_NUMBER);
  private static final int BODY = field(FlightData.DATA_BODY_FIELD_NUMBER);

  /** A wait that is worth trying after memory ran out. */
  private static final long RETRY_AFTER_MS = 200;

  private final BufferAllocator allocator;

  /** Bodies are allocated from {@code allocator}, whose limit bounds all uploads together. */
  public IncomingFrames(BufferAllocator allocator) {
    this.allocator = allocator;
  }

  private static int field(int number) {
    return (number << 3) | WireFormat.WIRETYPE_LENGTH_DELIMITED;
  }

  @Override
  public InputStream stream(IncomingFrame value) {
    throw new UnsupportedOperationException("uploads are only read here");
  }

  @Override
  public IncomingFrame parse(InputStream in) {
    Parts parts = new Parts();
    try {
      parse(in, parts);
      return new IncomingFrame.Data(
          Optional.ofNullable(parts.descriptor),
          Optional.ofNullable(parts.header).map(ByteBuffer::wrap),
          Optional.ofNullable(parts.appMetadata),
          Optional.ofNullable(parts.body));
    } catch (OutOfMemoryException e) {
      parts.close();
      return new IncomingFrame.Refused(
          new SagittaException(
              ErrorCode.UNAVAILABLE, "no memory for an upload now", RETRY_AFTER_MS, e));
    } catch (IOException | RuntimeException e) {
      parts.close();
      return new IncomingFrame.Refused(
          new SagittaException(
              ErrorCode.INVALID_ARGUMENT, "malformed FlightData message: " + e.getMessage(), e));
    }
  }

  /** What has been read so far; of a repeated field the last counts, as in protobuf. */
  private static final class Parts {
    private FlightDescriptor descriptor;
    private byte[] header;
    private byte[] appMetadata;
    private ArrowBuf body;

    private void close() {
      if (body != null) {
        body.close();
      }
    }
  }

  private void parse(InputStream in, Parts parts) throws IOException {
    for (int first = in.read(); first >= 0; first = in.read()) {
      int tag = CodedInputStream.readRawVarint32(first, in);
      if (tag == DESCRIPTOR) {
        parts.descriptor = FlightDescriptor.parseFrom(bytes(in));
      } else if (tag == HEADER) {
        parts.header = bytes(in);
      } else if (tag == APP_METADATA) {
        parts.appMetadata = bytes(in);
      } else if (tag == BODY) {
        parts.close();
        parts.body = null;
        parts.body = body(in);
      } else {
        skip(tag, in);
      }
    }
  }

  /** A length that the message can still hold: the stream is the whole message, in memory. */
  private static int length(InputStream in) throws IOException {
    int first = in.read();
    if (first < 0) {
      throw new EOFException("cut off before a length");
    }
    int length = CodedInputStream.readRawVarint32(first, in);
    int available = in.available();
    if (length < 0 || length > available) {
      throw new EOFException(
          "a field of " + Integer.toUnsignedString(length) + " bytes, but " + available + " left");
    }
    return length;
  }

  private static byte[] bytes(InputStream in) throws IOException {
    int length = length(in);
    byte[] bytes = in.readNBytes(length);
    if (bytes.length != length) {
      throw new EOFException("cut off within a field");
    }
    return bytes;
  }

  private ArrowBuf body(InputStream in) throws IOException {
    int length = length(in);
    if (length == 0) {
      return null;
    }
    ArrowBuf body = allocator.buffer(length);
    try {
      copy(in, body, length);
      body.writerIndex(length);
      // The allocator rounds up; the capacity is what bounds checks go by.
      return body.capacity(length);
    } catch (IOException | RuntimeException e) {
      body.close();
      throw e;
    }
  }

  private static void copy(InputStream in, ArrowBuf target, int length) throws IOException {
    int done = 0;
    if (in instanceof HasByteBuffer transport && transport.byteBufferSupported()) {
      while (done < length) {
        ByteBuffer chunk = transport.getByteBuffer();
        if (chunk == null || !chunk.hasRemaining()) {
          throw new EOFException("cut off within the body");
        }
        int n = Math.min(chunk.remaining(), length - done);
        target.setBytes(done, chunk.slice(chunk.position(), n));
        in.skipNBytes(n);
        done += n;
      }
      return;
    }
    byte[] chunk = new byte[Math.min(length, 64 << 10)];
    while (done < length) {
      int n = in.read(chunk, 0, Math.min(chunk.length, length - done));
      if (n < 0) {
        throw new EOFException("cut off within the body");
      }
      target.setBytes(done, chunk, 0, n);
      done += n;
    }
  }

  private static void skip(int tag, InputStream in) throws IOException {
    switch (WireFormat.getTagWireType(tag)) {
      case WireFormat.WIRETYPE_VARINT -> {
        int b;
        do {
          b = in.read();
        } while (b >= 0x80);
      }
      case WireFormat.WIRETYPE_FIXED64 -> in.skipNBytes(Long.BYTES);
      case WireFormat.WIRETYPE_LENGTH_DELIMITED -> in.skipNBytes(length(in));
      case WireFormat.WIRETYPE_FIXED32 -> in.skipNBytes(Integer.BYTES);
      default -> throw new IOException("a field of wire type " + WireFormat.getTagWireType(tag));
    }
  }
}
