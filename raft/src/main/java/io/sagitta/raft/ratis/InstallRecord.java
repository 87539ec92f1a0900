// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.LogPosition;
import io.sagitta.raft.ReplicatedState.Checkpoint;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;

/**
 * An announced checkpoint that has not yet become the state. It is made durable before Ratis hears
 * of the announcement, because Ratis purges the log at once and reloads the state later: a crash
 * between the two finds it at start and finishes the install.
 *
 * <p>Body: term, index, length and bytes of the manifest, length and bytes of the configuration
 * entry.
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
    int bytes = 8 + 8 + 4 + manifest.length + 4 + configuration.length;
    ByteBuffer out = ByteBuffer.allocate(bytes);
    out.putLong(checkpoint.position().term()).putLong(checkpoint.position().index());
    out.putInt(manifest.length).put(manifest);
    out.putInt(configuration.length).put(configuration);
    SealedFile.write(file, MAGIC, VERSION, out.array(), fsync);
  }

  static Optional<InstallRecord> read(Path file) throws IOException {
    return SealedFile.read(file, MAGIC, VERSION).map(InstallRecord::decode);
  }

  private static InstallRecord decode(ByteBuffer in) {
    LogPosition at = new LogPosition(in.getLong(), in.getLong());
    byte[] manifest = new byte[in.getInt()];
    in.get(manifest);
    byte[] configuration = new byte[in.getInt()];
    in.get(configuration);
    return new InstallRecord(new Checkpoint(at, manifest), configuration);
  }
}
