// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import com.google.flatbuffers.FlatBufferBuilder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;

/**
 * The metadata of one encapsulated RecordBatch message of the Arrow IPC format: {@code ffffffff |
 * int32 length | flatbuffer, padded | body}. The padding makes the body begin at a multiple of 64
 * after the message's start, so that a message mapped at such a place has aligned columns.
 *
 * @param rows rows of the batch
 * @param nodes per column and child, depth first: number of values, number of nulls
 * @param buffers per buffer: offset in the body, length
 * @param bodyOffset where the body begins in the message
 * @param bodyLength bytes of the body
 */
record IpcMessage(int rows, long[] nodes, long[] buffers, int bodyOffset, long bodyLength) {
  private static final int CONTINUATION = 0xffffffff;
  private static final int PREFIX_BYTES = 8;

  /** Alignment of the body in the message, and of any buffer that is worth it. */
  static final int ALIGNMENT = 64;

  /** A smaller buffer is aligned to 8 bytes only: padding would outweigh it. */
  private static final int ALIGNED_BYTES_MIN = 256;

  /** Bytes that metadata of this many nodes and buffers needs at most, padding included. */
  static int metadataBytesMax(int nodes, int buffers) {
    return PREFIX_BYTES + 192 + 16 * (nodes + buffers) + ALIGNMENT;
  }

  /** Where a buffer of {@code length} bytes goes that comes after {@code end} in a body. */
  static long place(long end, long length) {
    return align(end, length >= ALIGNED_BYTES_MIN ? ALIGNMENT : Long.BYTES);
  }

  static long align(long offset, int alignment) {
    return (offset + alignment - 1) & -alignment;
  }

  /** Prefix, flatbuffer and padding of a message; the body comes after. */
  static byte[] header(int rows, long[] nodes, long[] buffers, long bodyLength) {
    FlatBufferBuilder builder =
        new FlatBufferBuilder(metadataBytesMax(nodes.length / 2, buffers.length / 2));
    RecordBatch.startNodesVector(builder, nodes.length / 2);
    for (int i = nodes.length - 2; i >= 0; i -= 2) {
      FieldNode.createFieldNode(builder, nodes[i], nodes[i + 1]);
    }
    int nodesOffset = builder.endVector();
    RecordBatch.startBuffersVector(builder, buffers.length / 2);
    for (int i = buffers.length - 2; i >= 0; i -= 2) {
      Buffer.createBuffer(builder, buffers[i], buffers[i + 1]);
    }
    int buffersOffset = builder.endVector();
    RecordBatch.startRecordBatch(builder);
    RecordBatch.addLength(builder, rows);
    RecordBatch.addNodes(builder, nodesOffset);
    RecordBatch.addBuffers(builder, buffersOffset);
    int batch = RecordBatch.endRecordBatch(builder);
    Message.startMessage(builder);
    Message.addHeaderType(builder, MessageHeader.RecordBatch);
    Message.addHeader(builder, batch);
    Message.addVersion(builder, MetadataVersion.V5);
    Message.addBodyLength(builder, bodyLength);
    builder.finish(Message.endMessage(builder));
    ByteBuffer flatbuffer = builder.dataBuffer();

    int length = (int) align(PREFIX_BYTES + (long) flatbuffer.remaining(), ALIGNMENT);
    ByteBuffer header = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    header.putInt(CONTINUATION).putInt(length - PREFIX_BYTES).put(flatbuffer);
    return header.array();
  }

  /**
   * Reads and checks the metadata of the message that fills {@code message}.
   *
   * @throws SagittaException INVALID_ARGUMENT when the bytes are not such a message
   */
  static IpcMessage parse(ByteBuffer message) {
    ByteBuffer bytes = message.slice().order(ByteOrder.LITTLE_ENDIAN);
    if (bytes.remaining() < PREFIX_BYTES || bytes.getInt(0) != CONTINUATION) {
      throw invalid("does not begin with an Arrow message of at least 8 bytes");
    }
    int metadataLength = bytes.getInt(Integer.BYTES);
    if (metadataLength < 0 || metadataLength > bytes.remaining() - PREFIX_BYTES) {
      throw invalid(
          "metadata length " + metadataLength + " does not fit in " + bytes.remaining() + " bytes");
    }
    int bodyOffset = PREFIX_BYTES + metadataLength;
    try {
      return parse(
          bytes.slice(PREFIX_BYTES, metadataLength).order(ByteOrder.LITTLE_ENDIAN),
          bodyOffset,
          bytes.remaining() - bodyOffset);
    } catch (IndexOutOfBoundsException e) {
      throw new SagittaException(
          ErrorCode.INVALID_ARGUMENT, "row batch: metadata points outside of itself", e);
    }
  }

  private static IpcMessage parse(ByteBuffer flatbuffer, int bodyOffset, int bodyLength) {
    Message message = Message.getRootAsMessage(flatbuffer);
    if (message.version() != MetadataVersion.V5
        || message.headerType() != MessageHeader.RecordBatch
        || !(message.header(new RecordBatch()) instanceof RecordBatch batch)) {
      throw invalid(
          "message is of type "
              + message.headerType()
              + " and version "
              + message.version()
              + ", expected a RecordBatch of version V5");
    }
    if (message.bodyLength() != bodyLength) {
      throw invalid("body has " + bodyLength + " bytes, its metadata says " + message.bodyLength());
    }
    if (batch.compression() != null || batch.variadicBufferCountsLength() != 0) {
      throw invalid("is compressed or has views, expected neither");
    }
    if (batch.length() < 0 || batch.length() > Integer.MAX_VALUE) {
      throw invalid("row count " + batch.length() + " is out of range");
    }
    return new IpcMessage(
        (int) batch.length(),
        nodes(batch, flatbuffer.remaining()),
        buffers(batch, flatbuffer.remaining(), bodyLength),
        bodyOffset,
        bodyLength);
  }

  private static long[] nodes(RecordBatch batch, int metadataLength) {
    long[] nodes = new long[2 * entries("nodes", batch.nodesLength(), metadataLength)];
    FieldNode node = new FieldNode();
    for (int i = 0; i < nodes.length / 2; i++) {
      batch.nodes(node, i);
      nodes[2 * i] = node.length();
      nodes[2 * i + 1] = node.nullCount();
    }
    return nodes;
  }

  private static long[] buffers(RecordBatch batch, int metadataLength, long bodyLength) {
    long[] buffers = new long[2 * entries("buffers", batch.buffersLength(), metadataLength)];
    Buffer buffer = new Buffer();
    long end = 0;
    for (int i = 0; i < buffers.length / 2; i++) {
      batch.buffers(buffer, i);
      long offset = buffer.offset();
      long length = buffer.length();
      if (offset < end || offset % Long.BYTES != 0 || length < 0 || length > bodyLength - offset) {
        throw invalid(
            "buffer %d at %d of %d bytes, expected one aligned to 8 within %d..%d"
                .formatted(i, offset, length, end, bodyLength));
      }
      buffers[2 * i] = offset;
      buffers[2 * i + 1] = length;
      end = offset + length;
    }
    return buffers;
  }

  /** Bounds what is allocated by what was received: an entry takes 16 bytes of metadata. */
  private static int entries(String what, int count, int metadataLength) {
    if (count < 0 || count > metadataLength / 16) {
      throw invalid(count + " " + what + " do not fit in " + metadataLength + " bytes of metadata");
    }
    return count;
  }

  private static SagittaException invalid(String what) {
    return SagittaException.invalid("row batch: " + what);
  }
}
