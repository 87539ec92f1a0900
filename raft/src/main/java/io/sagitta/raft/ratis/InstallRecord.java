// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.DamageException;
import io.sagitta.raft.LogPosition;
import io.sagitta.raft.ReplicatedState.Checkpoint;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * An announced checkpoint that has not yet become the state. It is made durable before Ratis hears
 * of the announcement, because Ratis purges the log at once and reloads the state later: a crash
 * between the two finds it at start and finishes the install.
 *
 * <p>Layout: magic, version, term, index, length and bytes of the manifest, length and bytes of the
 * configuration entry, CRC32C.
 *
 * @param checkpoint position and manifest
 * @param configuration Ratis' log entry with the group's configuration as of the checkpoint; empty
 *     if the leader sent none
 */
record InstallRecord(Checkpoint checkpoint, byte[] configuration) {
  private static final int MAGIC = 0x53474952; // "SGIR"
  private static final int VERSION = 1;

  void write(Path file, DirectoryFsync fsync) throws IOException {
    byte[] manifest = checkpoint.manifest();
    int body = 4 + 4 + 8 + 8 + 4 + manifest.length + 4 + configuration.length;
    ByteBuffer out = ByteBuffer.allocate(body + 4);
    out.putInt(MAGIC).putInt(VERSION);
    out.putLong(checkpoint.position().term()).putLong(checkpoint.position().index());
    out.putInt(manifest.length).put(manifest);
    out.putInt(configuration.length).put(configuration);
    out.putInt(checksum(out, body));
    DurableFile.replace(file, out.flip(), fsync);
  }

  static Optional<InstallRecord> read(Path file) throws IOException {
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file));
    int body = in.limit() - 4;
    if (body < 32 || in.getInt(body) != checksum(in, body)) {
      throw new DamageException("install record damaged (checksum): " + file);
    }
    if (in.getInt() != MAGIC || in.getInt() != VERSION) {
      throw new IOException("install record: expected version " + VERSION + ": " + file);
    }
    LogPosition at = new LogPosition(in.getLong(), in.getLong());
    byte[] manifest = new byte[in.getInt()];
    in.get(manifest);
    byte[] configuration = new byte[in.getInt()];
    in.get(configuration);
    return Optional.of(new InstallRecord(new Checkpoint(at, manifest), configuration));
  }

  private static int checksum(ByteBuffer bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.slice(0, length));
    return (int) crc.getValue();
  }
}
