// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.WireFormat;
import io.sagitta.flight.PutBatchTag;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.flight.impl.Flight.FlightData;
import org.apache.arrow.flight.impl.Flight.FlightDescriptor;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * A record batch encoded once and sent as often as it takes.
 *
 * @param header the IPC message header
 * @param body the IPC message body
 * @param bodyBytes bytes of the body
 * @param rows rows of the batch
 */
record EncodedBatch(byte[] header, List<byte[]> body, int bodyBytes, int rows) {
  /** Bytes a batch may have as sent (docs/contract.md, section 7). */
  static final int BATCH_BYTES_MAX = 16 << 20;

  private static final int PIECE_BYTES = 256 << 10;
  private static final int ALIGNMENT = 8;

  /** Encodes rows; the root may be reused once this returns. */
  static EncodedBatch encode(VectorSchemaRoot root) {
    // Null counts and alignment as other readers of Flight want them.
    VectorUnloader unloader = new VectorUnloader(root, true, true);
    try (ArrowRecordBatch batch = unloader.getRecordBatch()) {
      long bytes = batch.computeBodyLength();
      if (bytes > BATCH_BYTES_MAX) {
        throw new SagittaException(
            ErrorCode.LIMIT,
            "batch has " + bytes + " bytes, at most " + BATCH_BYTES_MAX + ": send smaller batches");
      }
      Pieces pieces = new Pieces((int) bytes);
      for (ArrowBuf buffer : batch.getBuffers()) {
        pieces.add(buffer);
      }
      byte[] header = bytes(MessageSerializer.serializeMetadata(batch, IpcOption.DEFAULT));
      return new EncodedBatch(header, pieces.pieces, (int) bytes, root.getRowCount());
    }
  }

  /** Cuts buffers into pieces, each padded as the IPC format has it. */
  private static final class Pieces {
    private final List<byte[]> pieces = new ArrayList<>();
    private int at = PIECE_BYTES;
    private int left;

    private Pieces(int bytes) {
      left = bytes;
    }

    private void add(ArrowBuf buffer) {
      long length = buffer.readableBytes();
      long from = buffer.readerIndex();
      for (long done = 0; done < length; ) {
        byte[] piece = piece();
        int n = (int) Math.min(piece.length - at, length - done);
        buffer.getBytes(from + done, piece, at, n);
        at += n;
        done += n;
      }
      int padding = (int) (-length & (ALIGNMENT - 1));
      while (padding > 0) {
        int n = Math.min(piece().length - at, padding);
        at += n;
        padding -= n;
      }
    }

    private byte[] piece() {
      if (pieces.isEmpty() || at == pieces.getLast().length) {
        pieces.add(new byte[Math.min(PIECE_BYTES, left)]);
        left -= pieces.getLast().length;
        at = 0;
      }
      return pieces.getLast();
    }
  }

  /** The frame of this batch with its number. */
  OutgoingFrame frame(PutBatchTag tag) {
    byte[] head =
        head(
            out -> {
              out.writeByteArray(FlightData.DATA_HEADER_FIELD_NUMBER, header);
              out.writeByteArray(FlightData.APP_METADATA_FIELD_NUMBER, tag.toJson());
              out.writeTag(FlightData.DATA_BODY_FIELD_NUMBER, WireFormat.WIRETYPE_LENGTH_DELIMITED);
              out.writeUInt32NoTag(bodyBytes);
            });
    return new OutgoingFrame(head, body);
  }

  /** The frame that opens a stream. */
  static OutgoingFrame schema(Schema schema, byte[] command) {
    FlightDescriptor descriptor =
        FlightDescriptor.newBuilder()
            .setType(FlightDescriptor.DescriptorType.CMD)
            .setCmd(ByteString.copyFrom(command))
            .build();
    byte[] header = bytes(MessageSerializer.serializeMetadata(schema, IpcOption.DEFAULT));
    byte[] head =
        head(
            out -> {
              out.writeByteArray(
                  FlightData.FLIGHT_DESCRIPTOR_FIELD_NUMBER, descriptor.toByteArray());
              out.writeByteArray(FlightData.DATA_HEADER_FIELD_NUMBER, header);
            });
    return new OutgoingFrame(head, List.of());
  }

  /** Refuses what this client cannot encode. */
  static void check(Schema schema) {
    for (Field field : schema.getFields()) {
      if (field.getDictionary() != null) {
        throw SagittaException.invalid(
            "column '" + field.getName() + "' is dictionary-encoded, expected plain values");
      }
    }
  }

  private interface Fields {
    void write(CodedOutputStream out) throws IOException;
  }

  private static byte[] head(Fields fields) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    try {
      fields.write(out);
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory", e);
    }
    return bytes.toByteArray();
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }
}
