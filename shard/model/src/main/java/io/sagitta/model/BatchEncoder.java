// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.ExtensionTypeVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Copies selected rows into one RecordBatch message. First every buffer of the result is planned,
 * then each is filled in its place: one copy of the bytes, whatever is split, picked or joined.
 *
 * <p>The bytes depend on the rows' values alone, not on how they lay before: no validity buffer
 * without nulls, zeros under nulls, offsets from zero, padding of zeros. Replicas that flush the
 * same rows therefore write the same file.
 */
final class BatchEncoder {
  /** Writes the bytes of one buffer into its place, which holds zeros. */
  private interface Filler {
    void fill(MemorySegment out);
  }

  private record Planned(long length, Filler filler) {}

  private final List<long[]> nodes = new ArrayList<>();
  private final List<Planned> buffers = new ArrayList<>();

  private BatchEncoder() {}

  /**
   * The message with the rows of all parts, one part after the other.
   *
   * @param columns per column the vector in each part, null where a part lacks it: all null there
   * @param types per column a vector of its type
   */
  static byte[] encode(
      List<RowSelection> parts, List<FieldVector[]> columns, List<FieldVector> types) {
    long rows = parts.stream().mapToLong(RowSelection::count).sum();
    RowRuns[] runs = parts.stream().map(RowSelection::runs).toArray(RowRuns[]::new);
    BatchEncoder encoder = new BatchEncoder();
    for (int column = 0; column < columns.size(); column++) {
      FieldVector[] vectors = columns.get(column).clone();
      RowRuns[] places = runs.clone();
      for (int part = 0; part < vectors.length; part++) {
        if (vectors[part] == null) {
          vectors[part] = types.get(column);
          places[part] = RowRuns.nothing(parts.get(part).count());
        }
      }
      encoder.plan(vectors, places, true);
    }
    return encoder.write(Math.toIntExact(rows));
  }

  private byte[] write(int rows) {
    long[] places = new long[2 * buffers.size()];
    long end = 0;
    for (int i = 0; i < buffers.size(); i++) {
      places[2 * i] = IpcMessage.place(end, buffers.get(i).length);
      places[2 * i + 1] = buffers.get(i).length;
      end = places[2 * i] + buffers.get(i).length;
    }
    long bodyLength = IpcMessage.align(end, Long.BYTES);
    byte[] header =
        IpcMessage.header(
            rows, nodes.stream().flatMapToLong(Arrays::stream).toArray(), places, bodyLength);
    if (header.length + bodyLength > Integer.MAX_VALUE - 64) {
      throw new SagittaException(
          ErrorCode.LIMIT, "row batch: " + bodyLength + " bytes, expected less than 2 GiB");
    }
    byte[] message = Arrays.copyOf(header, header.length + (int) bodyLength);
    MemorySegment body = MemorySegment.ofArray(message).asSlice(header.length);
    for (int i = 0; i < buffers.size(); i++) {
      Planned buffer = buffers.get(i);
      if (buffer.length > 0) {
        buffer.filler.fill(body.asSlice(places[2 * i], buffer.length));
      }
    }
    return message;
  }

  /**
   * Plans one column, depth first.
   *
   * @param vectors the column in each part
   * @param runs the places wanted from each part
   * @param mayBeNull false for the items of vectors and the coordinates of geo points
   */
  private void plan(FieldVector[] vectors, RowRuns[] runs, boolean mayBeNull) {
    if (vectors[0] instanceof ExtensionTypeVector<?>) {
      plan(storage(vectors), runs, mayBeNull);
      return;
    }
    int rows = total(runs);
    byte[] validity = mayBeNull ? validity(vectors, runs, rows) : null;
    nodes.add(new long[] {rows, validity == null ? 0 : rows - ones(validity)});
    buffers.add(
        validity == null
            ? new Planned(0, null)
            : new Planned(
                validity.length,
                out -> MemorySegment.copy(validity, 0, out, JAVA_BYTE, 0, validity.length)));
    RowRuns[] values = validity == null ? runs : withoutNulls(vectors, runs);
    switch (vectors[0]) {
      case BitVector ignored ->
          buffers.add(new Planned((rows + 7) / 8, out -> copyBits(data(vectors), values, out)));
      case BaseFixedWidthVector first -> {
        int width = first.getTypeWidth();
        buffers.add(
            new Planned((long) rows * width, out -> copyFixed(data(vectors), values, width, out)));
      }
      case BaseVariableWidthVector ignored -> {
        MemorySegment[] offsets = offsets(vectors);
        buffers.add(new Planned(4L * (rows + 1), out -> copyOffsets(offsets, values, out)));
        buffers.add(
            new Planned(
                checkedLength(vectors[0], lengths(offsets, values)),
                out -> copyVariable(offsets, data(vectors), values, out)));
      }
      case ListVector ignored -> {
        MemorySegment[] offsets = offsets(vectors);
        checkedLength(vectors[0], lengths(offsets, values));
        buffers.add(new Planned(4L * (rows + 1), out -> copyOffsets(offsets, values, out)));
        plan(children(vectors, 0), items(offsets, values), true);
      }
      case FixedSizeListVector first ->
          plan(
              children(vectors, 0),
              Arrays.stream(values).map(r -> r.times(first.getListSize())).toArray(RowRuns[]::new),
              false);
      case StructVector first -> {
        for (int child = 0; child < first.getChildrenFromFields().size(); child++) {
          plan(children(vectors, child), values, false);
        }
      }
      default ->
          throw new IllegalArgumentException(
              "column " + vectors[0].getField() + " is not of a canonical type");
    }
  }

  private static FieldVector[] storage(FieldVector[] vectors) {
    return Arrays.stream(vectors)
        .map(v -> (FieldVector) ((ExtensionTypeVector<?>) v).getUnderlyingVector())
        .toArray(FieldVector[]::new);
  }

  private static FieldVector[] children(FieldVector[] vectors, int child) {
    return Arrays.stream(vectors)
        .map(v -> v.getChildrenFromFields().get(child))
        .toArray(FieldVector[]::new);
  }

  private static int total(RowRuns[] runs) {
    long total = 0;
    for (RowRuns run : runs) {
      total += run.total();
    }
    return Math.toIntExact(total);
  }

  /** The validity bits of the wanted places, or null where none of them is null. */
  private static byte[] validity(FieldVector[] vectors, RowRuns[] runs, int rows) {
    boolean nulls = false;
    for (int part = 0; part < vectors.length; part++) {
      nulls |=
          runs[part].hasNothing() || (runs[part].total() > 0 && vectors[part].getNullCount() > 0);
    }
    if (!nulls) {
      return null;
    }
    byte[] bits = new byte[(rows + 7) / 8];
    MemorySegment[] sources = new MemorySegment[vectors.length];
    for (int part = 0; part < vectors.length; part++) {
      sources[part] = segment(vectors[part].getValidityBuffer());
    }
    copyBits(sources, runs, MemorySegment.ofArray(bits));
    return ones(bits) == rows ? null : bits;
  }

  private static int ones(byte[] bits) {
    int ones = 0;
    for (byte b : bits) {
      ones += Integer.bitCount(b & 0xff);
    }
    return ones;
  }

  private static RowRuns[] withoutNulls(FieldVector[] vectors, RowRuns[] runs) {
    RowRuns[] out = new RowRuns[runs.length];
    for (int part = 0; part < runs.length; part++) {
      RowRuns valid = new RowRuns();
      for (int run = 0; run < runs[part].size(); run++) {
        int start = runs[part].start(run);
        if (start == RowRuns.NOTHING) {
          valid.add(start, runs[part].count(run));
          continue;
        }
        for (int row = start; row < start + runs[part].count(run); row++) {
          valid.add(vectors[part].isNull(row) ? RowRuns.NOTHING : row, 1);
        }
      }
      out[part] = valid;
    }
    return out;
  }

  /** The runs of the items of the lists at the given places. */
  private static RowRuns[] items(MemorySegment[] offsets, RowRuns[] lists) {
    RowRuns[] out = new RowRuns[lists.length];
    for (int part = 0; part < lists.length; part++) {
      RowRuns items = new RowRuns();
      for (int run = 0; run < lists[part].size(); run++) {
        int start = lists[part].start(run);
        if (start != RowRuns.NOTHING) {
          int from = offset(offsets[part], start);
          items.add(from, offset(offsets[part], start + lists[part].count(run)) - from);
        }
      }
      out[part] = items;
    }
    return out;
  }

  private static long lengths(MemorySegment[] offsets, RowRuns[] runs) {
    long length = 0;
    for (int part = 0; part < runs.length; part++) {
      for (int run = 0; run < runs[part].size(); run++) {
        int start = runs[part].start(run);
        if (start != RowRuns.NOTHING) {
          length +=
              offset(offsets[part], start + runs[part].count(run)) - offset(offsets[part], start);
        }
      }
    }
    return length;
  }

  private static long checkedLength(FieldVector vector, long length) {
    if (length > Integer.MAX_VALUE) {
      throw new SagittaException(
          ErrorCode.LIMIT,
          "row batch: column "
              + Names.quote(vector.getName())
              + " has "
              + length
              + " bytes or items, expected at most 2^31-1");
    }
    return length;
  }

  private static void copyFixed(
      MemorySegment[] sources, RowRuns[] runs, int width, MemorySegment out) {
    long to = 0;
    for (int part = 0; part < runs.length; part++) {
      for (int run = 0; run < runs[part].size(); run++) {
        long bytes = (long) runs[part].count(run) * width;
        if (runs[part].start(run) != RowRuns.NOTHING) {
          long from = (long) runs[part].start(run) * width;
          MemorySegment.copy(sources[part], from, out, to, bytes);
        }
        to += bytes;
      }
    }
  }

  private static void copyOffsets(MemorySegment[] sources, RowRuns[] runs, MemorySegment out) {
    int end = 0;
    long to = 0;
    out.set(JAVA_INT_UNALIGNED, to, 0);
    for (int part = 0; part < runs.length; part++) {
      for (int run = 0; run < runs[part].size(); run++) {
        int start = runs[part].start(run);
        int shift = start == RowRuns.NOTHING ? 0 : end - offset(sources[part], start);
        for (int i = 1; i <= runs[part].count(run); i++) {
          if (start != RowRuns.NOTHING) {
            end = offset(sources[part], start + i) + shift;
          }
          to += Integer.BYTES;
          out.set(JAVA_INT_UNALIGNED, to, end);
        }
      }
    }
  }

  private static void copyVariable(
      MemorySegment[] offsets, MemorySegment[] sources, RowRuns[] runs, MemorySegment out) {
    long to = 0;
    for (int part = 0; part < runs.length; part++) {
      for (int run = 0; run < runs[part].size(); run++) {
        int start = runs[part].start(run);
        if (start != RowRuns.NOTHING) {
          int from = offset(offsets[part], start);
          int bytes = offset(offsets[part], start + runs[part].count(run)) - from;
          MemorySegment.copy(sources[part], from, out, to, bytes);
          to += bytes;
        }
      }
    }
  }

  private static void copyBits(MemorySegment[] sources, RowRuns[] runs, MemorySegment out) {
    long to = 0;
    for (int part = 0; part < runs.length; part++) {
      for (int run = 0; run < runs[part].size(); run++) {
        if (runs[part].start(run) != RowRuns.NOTHING) {
          copyBits(sources[part], runs[part].start(run), out, to, runs[part].count(run));
        }
        to += runs[part].count(run);
      }
    }
  }

  private static void copyBits(
      MemorySegment source, long from, MemorySegment out, long to, int count) {
    int done = 0;
    if (from % 8 == 0 && to % 8 == 0) {
      MemorySegment.copy(source, from / 8, out, to / 8, count / 8);
      done = count & -8;
    }
    for (int i = done; i < count; i++) {
      int bit = source.get(JAVA_BYTE, (from + i) >> 3) >> ((from + i) & 7) & 1;
      long at = (to + i) >> 3;
      out.set(JAVA_BYTE, at, (byte) (out.get(JAVA_BYTE, at) | bit << ((to + i) & 7)));
    }
  }

  private static int offset(MemorySegment offsets, long row) {
    return offsets.byteSize() == 0 ? 0 : offsets.get(JAVA_INT_UNALIGNED, row * Integer.BYTES);
  }

  private static MemorySegment[] data(FieldVector[] vectors) {
    MemorySegment[] data = new MemorySegment[vectors.length];
    for (int part = 0; part < vectors.length; part++) {
      data[part] = segment(vectors[part].getDataBuffer());
    }
    return data;
  }

  private static MemorySegment[] offsets(FieldVector[] vectors) {
    MemorySegment[] offsets = new MemorySegment[vectors.length];
    for (int part = 0; part < vectors.length; part++) {
      offsets[part] = segment(vectors[part].getOffsetBuffer());
    }
    return offsets;
  }

  private static MemorySegment segment(ArrowBuf buffer) {
    return MemorySegment.ofAddress(buffer.memoryAddress()).reinterpret(buffer.capacity());
  }
}
