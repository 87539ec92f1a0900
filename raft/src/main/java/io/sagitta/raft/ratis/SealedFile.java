// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.DamageException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.zip.CRC32C;

/** A small file of ours: magic, version, body, CRC32C of all before it; big-endian. */
final class SealedFile {
  private static final int AROUND = 4 + 4 + 4;

  private SealedFile() {}

  /** Replaces the file; durable on return. */
  static void write(Path file, int magic, int version, byte[] body, DirectoryFsync fsync)
      throws IOException {
    ByteBuffer out = ByteBuffer.allocate(AROUND + body.length);
    out.putInt(magic).putInt(version).put(body);
    out.putInt(checksum(out.array(), 8 + body.length));
    DurableFile.replace(file, out.flip(), fsync);
  }

  /**
   * The body; empty where there is no such file.
   *
   * @throws DamageException where its bytes are not those that were written, naming the file
   * @throws IOException also where it is of another kind or version
   */
  static Optional<ByteBuffer> read(Path file, int magic, int version) throws IOException {
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    byte[] bytes = Files.readAllBytes(file);
    int end = bytes.length - 4;
    ByteBuffer in = ByteBuffer.wrap(bytes);
    if (end < 8 || in.getInt(end) != checksum(bytes, end)) {
      throw new DamageException("file " + file + " is damaged: its checksum does not match");
    }
    int foundMagic = in.getInt();
    int foundVersion = in.getInt();
    if (foundMagic != magic || foundVersion != version) {
      throw new IOException(
          "file %s: expected %08x version %d, found %08x version %d"
              .formatted(file, magic, version, foundMagic, foundVersion));
    }
    return Optional.of(in.limit(end).slice());
  }

  private static int checksum(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }
}
