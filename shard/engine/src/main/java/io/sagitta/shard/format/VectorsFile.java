// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.model.Metric;
import io.sagitta.model.VectorField;
import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.segment.RowChunk;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;

/** The file {@code .vectors.F}: one field's vectors, ready to be scored where they are mapped. */
final class VectorsFile {
  private static final int ROWS = 1;
  private static final int VALIDITY = 2;
  private static final int INVERSE_NORMS = 3;

  private static final int LINE_BYTES = 64;

  private VectorsFile() {}

  /** Bytes from row to row: whole cache lines, or a power of two so that no row straddles one. */
  static int strideBytes(VectorField field) {
    int bytes = field.vectorBytes();
    return bytes >= LINE_BYTES
        ? (int) FrameLayout.align(bytes, LINE_BYTES)
        : 1 << (Integer.SIZE - Integer.numberOfLeadingZeros(bytes - 1));
  }

  static CheckpointFile write(FileStore store, SegmentSource source, VectorField field)
      throws IOException {
    return NewFile.write(
        store,
        ShardFiles.vectors(source.segmentId(), field.fieldId()),
        header(source.segmentId(), field, source.rows()),
        out -> {
          byte[] validity = writeRows(out, source, field);
          if (validity != null) {
            out.section(VALIDITY);
            out.write(MemorySegment.ofArray(validity));
          }
          if (field.metric() == Metric.COSINE) {
            writeInverseNorms(out, source, field, validity);
          }
        });
  }

  /** The vectors in a frame that is kept mapped. */
  static MappedVectors read(Frame frame, VectorField field, int rows) throws IOException {
    frame.expect(header(frame.header().owner(), field, rows));
    int stride = strideBytes(field);
    MemorySegment validity = frame.sectionOrNull(VALIDITY);
    return new MappedVectors(
        field,
        rows,
        stride,
        frame.section(ROWS, (long) rows * stride),
        validity == null ? MemorySegment.NULL : frame.section(VALIDITY, (rows + 7L) / 8),
        field.metric() == Metric.COSINE
            ? frame.section(INVERSE_NORMS, (long) rows * Float.BYTES)
            : MemorySegment.NULL);
  }

  private static FrameHeader header(java.util.UUID segmentId, VectorField field, int rows) {
    return new FrameHeader(FileKind.VECTORS, segmentId, field.fieldId(), rows);
  }

  /** Returns a bit for each row, set where it has a vector; null where all have one. */
  private static byte[] writeRows(FrameWriter out, SegmentSource source, VectorField field)
      throws IOException {
    out.section(ROWS);
    int stride = strideBytes(field);
    int bytes = field.vectorBytes();
    byte[] validity = new byte[(int) ((source.rows() + 7L) / 8)];
    int nulls = 0;
    for (RowChunk chunk : source.chunks()) {
      FieldVector column = chunk.column(field.fieldId());
      if (column == null) {
        out.writeZeros((long) chunk.rows() * stride);
        nulls += chunk.rows();
        continue;
      }
      MemorySegment rows = rows(column, bytes);
      if (stride == bytes && column.getNullCount() == 0) {
        out.write(rows);
        setBits(validity, chunk.firstOrdinal(), chunk.rows());
        continue;
      }
      for (int row = 0; row < chunk.rows(); row++) {
        if (column.isNull(row)) {
          out.writeZeros(stride);
          nulls++;
        } else {
          out.write(rows.asSlice((long) row * bytes, bytes));
          out.writeZeros(stride - bytes);
          setBits(validity, chunk.firstOrdinal() + row, 1);
        }
      }
    }
    return nulls == 0 ? null : validity;
  }

  private static void writeInverseNorms(
      FrameWriter out, SegmentSource source, VectorField field, byte[] validity)
      throws IOException {
    out.section(INVERSE_NORMS);
    for (int row = 0; row < source.rows(); row++) {
      boolean isNull = validity != null && (validity[row >> 3] >> (row & 7) & 1) == 0;
      float norm = isNull ? 0 : source.inverseNorm(field.fieldId(), row);
      out.writeInt(Float.floatToRawIntBits(norm));
    }
  }

  /** The bytes of all vectors of a column, one after the other. */
  private static MemorySegment rows(FieldVector column, int bytes) {
    ArrowBuf buffer =
        column instanceof FixedSizeListVector list
            ? list.getDataVector().getDataBuffer()
            : column.getDataBuffer();
    return MemorySegment.ofAddress(buffer.memoryAddress())
        .reinterpret(buffer.capacity())
        .asSlice(0, (long) column.getValueCount() * bytes);
  }

  private static void setBits(byte[] bits, int from, int count) {
    int row = from;
    int end = from + count;
    while (row < end) {
      if ((row & 7) == 0 && end - row >= 8) {
        bits[row >> 3] = (byte) 0xff;
        row += 8;
      } else {
        bits[row >> 3] |= (byte) (1 << (row & 7));
        row++;
      }
    }
  }
}
