// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import com.dynatrace.hash4j.hashing.HashStream128;
import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hashing;
import io.sagitta.model.Field;
import io.sagitta.model.PayloadField;
import io.sagitta.model.VectorField;
import io.sagitta.shard.distance.VectorRows;
import io.sagitta.shard.segment.RowRun;
import io.sagitta.shard.segment.Segment;
import io.sagitta.shard.segment.SegmentSet;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * One number for the points of a shard: equal where two replicas hold the same live points bit for
 * bit, in whatever segments and order. The sum, modulo 2^128, of one 128-bit hash a row over its
 * id, version and the values of the schema's fields; computed from what is stored, so that it also
 * tells when that has been damaged.
 */
final class Digest {
  private static final byte NULL = 0;
  private static final byte VALUE = 1;

  private final HashStream128 stream = Hashing.xxh3_128().hashStream();
  private final byte[] scratch = new byte[1 << 13];
  private long low;
  private long high;
  private long rows;

  private Digest() {}

  /** int64 rows, then the sum's high and low halves, big-endian. */
  static byte[] of(SegmentSet set) {
    Digest digest = new Digest();
    for (Segment segment : set.segments()) {
      long[] alive = segment.lives().alive(segment.rows(), set.index());
      for (RowRun run : segment.runs()) {
        for (int row = 0; row < run.rows(); row++) {
          int ordinal = run.start() + row;
          if ((alive[ordinal >> 6] & (1L << ordinal)) != 0) {
            digest.add(set, segment, run, row);
          }
        }
      }
    }
    return ByteBuffer.allocate(24)
        .putLong(digest.rows)
        .putLong(digest.high)
        .putLong(digest.low)
        .array();
  }

  private void add(SegmentSet set, Segment segment, RowRun run, int row) {
    stream.reset();
    putValue(run.columns().ids(), row);
    stream.putLong(segment.version(run.start() + row));
    for (Field field : set.schema().fields()) {
      stream.putInt(field.fieldId());
      switch (field) {
        case VectorField vector -> putVector(vector, run, row);
        case PayloadField payload -> {
          FieldVector column = run.column(payload.fieldId());
          if (column == null) {
            stream.putByte(NULL);
          } else {
            putValue(column, row);
          }
        }
      }
    }
    HashValue128 hash = stream.get();
    long before = low;
    low += hash.getLeastSignificantBits();
    high += hash.getMostSignificantBits() + (Long.compareUnsigned(low, before) < 0 ? 1 : 0);
    rows++;
  }

  private void putVector(VectorField field, RowRun run, int row) {
    VectorRows vectors = run.vectors(field.fieldId());
    if (vectors == null || !run.hasVector(field.fieldId(), row)) {
      stream.putByte(NULL);
      return;
    }
    stream.putByte(VALUE);
    MemorySegment bytes = vectors.bytes(row);
    putBytes(bytes, 0, bytes.byteSize());
  }

  private void putValue(FieldVector column, int row) {
    if (column.isNull(row)) {
      stream.putByte(NULL);
      return;
    }
    stream.putByte(VALUE);
    switch (column) {
      case BitVector bits -> stream.putByte((byte) bits.get(row));
      case BaseVariableWidthVector text -> {
        long from = text.getOffsetBuffer().getInt((long) row * Integer.BYTES);
        int length = text.getValueLength(row);
        stream.putInt(length);
        putBytes(segment(text.getDataBuffer()), from, length);
      }
      case BaseFixedWidthVector fixed -> {
        int width = fixed.getTypeWidth();
        putBytes(segment(fixed.getDataBuffer()), (long) row * width, width);
      }
      case ListVector list -> {
        int from = list.getElementStartIndex(row);
        int to = list.getElementEndIndex(row);
        stream.putInt(to - from);
        for (int i = from; i < to; i++) {
          putValue(list.getDataVector(), i);
        }
      }
      case StructVector struct ->
          struct.getChildrenFromFields().forEach(child -> putValue(child, row));
      default ->
          throw new IllegalStateException("column " + column.getField() + " is not canonical");
    }
  }

  private void putBytes(MemorySegment from, long offset, long length) {
    for (long done = 0; done < length; ) {
      int part = (int) Math.min(scratch.length, length - done);
      MemorySegment.copy(from, ValueLayout.JAVA_BYTE, offset + done, scratch, 0, part);
      stream.putBytes(scratch, 0, part);
      done += part;
    }
  }

  private static MemorySegment segment(ArrowBuf buffer) {
    return MemorySegment.ofAddress(buffer.memoryAddress()).reinterpret(buffer.capacity());
  }
}
