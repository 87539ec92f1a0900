// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.wordnet;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Vectors embedded so far. Embedding all of WordNet takes many minutes, so what is done survives an
 * interruption: chunks are appended as they are finished, in any order, and the next run begins
 * with the chunks that are whole.
 *
 * <p>File, little-endian: CRC32C of the key and the number of rows {@code int32}; then per chunk
 * its number {@code int32}, CRC32C of what follows {@code int32}, its rows' components {@code
 * float32}. What does not fit the key or breaks off is cut away.
 */
final class EmbeddingJournal implements Closeable {
  /** Rows of a chunk: a few seconds' work. */
  static final int CHUNK_ROWS = 256;

  private static final int CHUNK_HEADER_BYTES = 2 * Integer.BYTES;

  private final FileChannel file;
  private final Path path;
  private final float[][] vectors;
  private final int dimension;

  private EmbeddingJournal(FileChannel file, Path path, int rows, int dimension) {
    this.file = file;
    this.path = path;
    this.vectors = new float[rows][];
    this.dimension = dimension;
  }

  /**
   * Opens or begins a journal.
   *
   * @param key names what is embedded by which model; a journal of another key is begun anew
   */
  static EmbeddingJournal open(Path path, String key, int rows, int dimension) throws IOException {
    Files.createDirectories(path.getParent());
    FileChannel file =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    EmbeddingJournal journal = new EmbeddingJournal(file, path, rows, dimension);
    try {
      journal.recover(
          checksum(ByteBuffer.wrap((key + " " + rows).getBytes(StandardCharsets.UTF_8))));
    } catch (IOException e) {
      file.close();
      throw e;
    }
    return journal;
  }

  private void recover(int keyChecksum) throws IOException {
    ByteBuffer header = buffer(Integer.BYTES);
    if (!readFully(header) || header.getInt(0) != keyChecksum) {
      file.truncate(0);
      file.write(header.clear().putInt(0, keyChecksum), 0);
      file.position(Integer.BYTES);
      return;
    }
    long sound = file.position();
    ByteBuffer chunkHeader = buffer(CHUNK_HEADER_BYTES);
    while (readFully(chunkHeader.clear())) {
      int chunk = chunkHeader.getInt(0);
      if (chunk < 0 || chunk >= chunks()) {
        break;
      }
      ByteBuffer components = buffer(Math.multiplyExact(rowsOf(chunk) * dimension, Float.BYTES));
      if (!readFully(components) || checksum(components.flip()) != chunkHeader.getInt(4)) {
        break;
      }
      components.rewind();
      for (int row = firstRow(chunk); row < firstRow(chunk) + rowsOf(chunk); row++) {
        vectors[row] = new float[dimension];
        for (int d = 0; d < dimension; d++) {
          vectors[row][d] = components.getFloat();
        }
      }
      sound = file.position();
    }
    file.truncate(sound);
    file.position(sound);
  }

  private boolean readFully(ByteBuffer into) throws IOException {
    while (into.hasRemaining()) {
      if (file.read(into) < 0) {
        return false;
      }
    }
    return true;
  }

  int chunks() {
    return (vectors.length + CHUNK_ROWS - 1) / CHUNK_ROWS;
  }

  int firstRow(int chunk) {
    return chunk * CHUNK_ROWS;
  }

  int rowsOf(int chunk) {
    return Math.min(CHUNK_ROWS, vectors.length - firstRow(chunk));
  }

  /** Whether the chunk's vectors are known already. */
  synchronized boolean has(int chunk) {
    return vectors[firstRow(chunk)] != null;
  }

  /** Rows known so far. */
  synchronized int rowsDone() {
    return (int) Arrays.stream(vectors).filter(vector -> vector != null).count();
  }

  /** Adds a chunk's vectors; from any thread. */
  synchronized void append(int chunk, float[][] rows) throws IOException {
    ByteBuffer bytes = buffer(CHUNK_HEADER_BYTES + rows.length * dimension * Float.BYTES);
    bytes.position(CHUNK_HEADER_BYTES);
    for (float[] row : rows) {
      for (float component : row) {
        bytes.putFloat(component);
      }
    }
    bytes.flip();
    bytes.putInt(0, chunk);
    bytes.putInt(4, checksum(bytes.slice(CHUNK_HEADER_BYTES, bytes.limit() - CHUNK_HEADER_BYTES)));
    while (bytes.hasRemaining()) {
      file.write(bytes);
    }
    System.arraycopy(rows, 0, vectors, firstRow(chunk), rows.length);
  }

  /** All vectors, once every chunk is there. */
  float[][] vectors() {
    return vectors;
  }

  /** Removes the journal, when its content is safe elsewhere. */
  void discard() throws IOException {
    close();
    Files.delete(path);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static int checksum(ByteBuffer bytes) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes);
    return (int) checksum.getValue();
  }
}
