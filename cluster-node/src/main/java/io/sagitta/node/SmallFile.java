// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import io.sagitta.raft.DamageException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * A file that is small, replaced whole, and either the old or the new one after a crash: written
 * under another name, fsynced, renamed, its folder fsynced.
 *
 * <pre>
 * bytes 0..7   magic, eight ASCII letters that say what it is
 * bytes 8..11  format version, little-endian
 * bytes 12..15 length of the content
 * content
 * last 4 bytes CRC32C of all before
 * </pre>
 *
 * @param path where it lies
 * @param magic eight ASCII letters
 * @param version the one format version that is read and written
 */
public record SmallFile(Path path, String magic, int version) {
  private static final int HEADER_BYTES = 16;
  private static final int CHECKSUM_BYTES = 4;

  /** Larger is not small, and would be a sign of damage. */
  private static final int CONTENT_BYTES_MAX = 256 << 20;

  public SmallFile {
    if (magic.length() != 8) {
      throw new IllegalArgumentException("magic '" + magic + "' must have 8 letters");
    }
  }

  /**
   * Its content; nothing where there is no such file.
   *
   * @throws DamageException where it is not what was written
   * @throws ConfigException where another version of this software wrote it
   */
  public Optional<byte[]> read() throws IOException {
    if (!Files.exists(path)) {
      return Optional.empty();
    }
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
      long size = file.size();
      if (size < HEADER_BYTES + CHECKSUM_BYTES || size > CONTENT_BYTES_MAX + 20L) {
        throw corrupt(0, "a length of 20 bytes and more", size + " bytes");
      }
      ByteBuffer all = ByteBuffer.allocate((int) size).order(ByteOrder.LITTLE_ENDIAN);
      while (all.hasRemaining()) {
        if (file.read(all) < 0) {
          throw new EOFException(path + " shrank while it was read");
        }
      }
      return Optional.of(content(all.flip()));
    }
  }

  private byte[] content(ByteBuffer all) throws IOException {
    byte[] name = new byte[8];
    all.get(name);
    String found = new String(name, StandardCharsets.ISO_8859_1);
    if (!found.equals(magic)) {
      throw corrupt(0, "magic " + magic, found);
    }
    int foundVersion = all.getInt();
    if (foundVersion != version && !isSealed(all)) {
      throw corrupt(8, "format version " + version, foundVersion);
    }
    if (foundVersion != version) {
      throw new ConfigException(
          path
              + " has format version "
              + foundVersion
              + ", this software reads "
              + version
              + (foundVersion > version ? ": it was written by a newer one" : ""));
    }
    int length = all.getInt();
    if (length != all.capacity() - HEADER_BYTES - CHECKSUM_BYTES) {
      throw corrupt(
          12, "content of " + (all.capacity() - HEADER_BYTES - CHECKSUM_BYTES) + " bytes", length);
    }
    byte[] content = new byte[length];
    all.get(content);
    int checksum = all.getInt();
    if (checksum != checksum(all, HEADER_BYTES + length)) {
      throw corrupt(HEADER_BYTES + length, "the checksum of what stands before", checksum);
    }
    return content;
  }

  /** Replaces the file; durable on return. */
  public void write(byte[] content) throws IOException {
    if (content.length > CONTENT_BYTES_MAX) {
      throw new IOException(path + ": " + content.length + " bytes are too many");
    }
    ByteBuffer all =
        ByteBuffer.allocate(HEADER_BYTES + content.length + CHECKSUM_BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .put(magic.getBytes(StandardCharsets.ISO_8859_1))
            .putInt(version)
            .putInt(content.length)
            .put(content);
    all.putInt(checksum(all, HEADER_BYTES + content.length)).flip();
    Path temporary = path.resolveSibling(path.getFileName() + ".tmp");
    try (FileChannel file =
        FileChannel.open(
            temporary,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      while (all.hasRemaining()) {
        file.write(all);
      }
      file.force(true);
    }
    Files.move(
        temporary, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    syncFolder(path.toAbsolutePath().getParent());
  }

  /** Makes the names in a folder durable. */
  static void syncFolder(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Whether the checksum at the end is that of all before. */
  private static boolean isSealed(ByteBuffer all) {
    int end = all.limit() - CHECKSUM_BYTES;
    return all.getInt(end) == checksum(all, end);
  }

  private static int checksum(ByteBuffer all, int length) {
    CRC32C crc = new CRC32C();
    crc.update(all.duplicate().position(0).limit(length));
    return (int) crc.getValue();
  }

  private IOException corrupt(long offset, String expected, Object found) {
    return new DamageException(
        path + " is damaged at offset " + offset + ": expected " + expected + ", found " + found);
  }
}
