// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Rows of {@code float32} in a file, little-endian, without a header: what every language reads in
 * one line.
 */
public record VectorFile(Path path, int rows, int dimension) {
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** A file that lies there already; its size says how many rows it has. */
  public static VectorFile of(Path path, int dimension) throws IOException {
    long bytes = Files.size(path);
    long rowBytes = (long) dimension * Float.BYTES;
    if (bytes % rowBytes != 0) {
      throw new IOException(path + " has " + bytes + " bytes, not rows of " + rowBytes);
    }
    return new VectorFile(path, Math.toIntExact(bytes / rowBytes), dimension);
  }

  /** Bytes of a row. */
  public int rowBytes() {
    return dimension * Float.BYTES;
  }

  /** The rows, mapped for as long as the arena lives. */
  public MemorySegment map(Arena arena) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
    }
  }

  /** All components of all rows. */
  public float[] read() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      return map(arena).toArray(FLOAT);
    }
  }

  /** Copies one row out of a mapping. */
  public float[] row(MemorySegment mapped, int row) {
    return mapped.asSlice((long) row * rowBytes(), rowBytes()).toArray(FLOAT);
  }

  /** Writes a file row by row. */
  public static final class Writer implements Closeable {
    private final Path path;
    private final OutputStream out;
    private final ByteBuffer row;
    private int rows;

    public Writer(Path path, int dimension) throws IOException {
      this.path = path;
      this.out = new BufferedOutputStream(Files.newOutputStream(path), 1 << 20);
      this.row = ByteBuffer.allocate(dimension * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Appends one row. */
    public void add(float[] components) throws IOException {
      row.clear();
      row.asFloatBuffer().put(components);
      out.write(row.array());
      rows++;
    }

    /** Closes the file and says what it holds. */
    public VectorFile finish() throws IOException {
      close();
      return new VectorFile(path, rows, row.capacity() / Float.BYTES);
    }

    @Override
    public void close() throws IOException {
      out.close();
    }
  }
}
