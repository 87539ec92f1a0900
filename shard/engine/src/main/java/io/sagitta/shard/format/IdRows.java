// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import io.sagitta.shard.segment.RowChunk;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.FieldVector;

/** The ids of a segment by ordinal, read where they lie in the chunks' id columns. */
final class IdRows {
  private final IdType type;
  private final int[] firstOrdinals;
  private final MemorySegment[] values;
  private final MemorySegment[] offsets;

  IdRows(IdType type, List<RowChunk> all) {
    this.type = type;
    // An empty chunk would share its first ordinal with the one after it.
    List<RowChunk> chunks = all.stream().filter(chunk -> chunk.rows() > 0).toList();
    firstOrdinals = chunks.stream().mapToInt(RowChunk::firstOrdinal).toArray();
    values = new MemorySegment[firstOrdinals.length];
    offsets = new MemorySegment[firstOrdinals.length];
    for (int chunk = 0; chunk < firstOrdinals.length; chunk++) {
      FieldVector ids = chunks.get(chunk).ids();
      values[chunk] = segment(ids.getDataBuffer());
      offsets[chunk] = type == IdType.UTF8 ? segment(ids.getOffsetBuffer()) : null;
    }
  }

  /** Writes the canonical bytes of a row's id to the front of {@code out}; returns their number. */
  int canonical(int ordinal, byte[] out) {
    int chunk = chunk(ordinal);
    int row = ordinal - firstOrdinals[chunk];
    return switch (type) {
      case INT64 -> {
        long value = values[chunk].get(FrameLayout.LONG, (long) row * Long.BYTES);
        MemorySegment.ofArray(out).set(FrameLayout.BIG_ENDIAN_LONG, 0, value);
        yield Long.BYTES;
      }
      case UTF8 -> {
        int from = offsets[chunk].get(FrameLayout.INT, (long) row * Integer.BYTES);
        int to = offsets[chunk].get(FrameLayout.INT, (row + 1L) * Integer.BYTES);
        MemorySegment.copy(values[chunk], ValueLayout.JAVA_BYTE, from, out, 0, to - from);
        yield to - from;
      }
      case UUID -> {
        MemorySegment.copy(values[chunk], ValueLayout.JAVA_BYTE, row * 16L, out, 0, 16);
        yield 16;
      }
    };
  }

  /** Whether a row has the id of these canonical bytes. */
  boolean matches(int ordinal, byte[] canonical, int length) {
    int chunk = chunk(ordinal);
    int row = ordinal - firstOrdinals[chunk];
    MemorySegment id = MemorySegment.ofArray(canonical);
    return switch (type) {
      case INT64 ->
          length == Long.BYTES
              && values[chunk].get(FrameLayout.LONG, (long) row * Long.BYTES)
                  == id.get(FrameLayout.BIG_ENDIAN_LONG, 0);
      case UTF8 -> {
        int from = offsets[chunk].get(FrameLayout.INT, (long) row * Integer.BYTES);
        int to = offsets[chunk].get(FrameLayout.INT, (row + 1L) * Integer.BYTES);
        yield to - from == length
            && MemorySegment.mismatch(values[chunk], from, to, id, 0, length) < 0;
      }
      case UUID ->
          length == 16
              && MemorySegment.mismatch(values[chunk], row * 16L, row * 16L + 16, id, 0, 16) < 0;
    };
  }

  PointId get(int ordinal) {
    byte[] bytes = new byte[PointId.UTF8_BYTES_MAX];
    int length = canonical(ordinal, bytes);
    ByteBuffer id = ByteBuffer.wrap(bytes, 0, length);
    return switch (type) {
      case INT64 -> new PointId.Int64(id.getLong());
      case UTF8 -> new PointId.Utf8(new String(bytes, 0, length, StandardCharsets.UTF_8));
      case UUID -> new PointId.Uuid(new UUID(id.getLong(), id.getLong()));
    };
  }

  private int chunk(int ordinal) {
    int at = Arrays.binarySearch(firstOrdinals, ordinal);
    return at >= 0 ? at : -at - 2;
  }

  private static MemorySegment segment(ArrowBuf buffer) {
    return MemorySegment.ofAddress(buffer.memoryAddress()).reinterpret(buffer.capacity());
  }
}
