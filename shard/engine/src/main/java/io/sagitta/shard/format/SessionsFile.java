// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;

/** The writers' table at a checkpoint: bytes of the engine's own in a checked file. */
public final class SessionsFile {
  private SessionsFile() {}

  /** Writes the file, durable on return, name included; the name tells the log index. */
  public static CheckpointFile write(FileStore store, long logIndex, byte[] sessions)
      throws IOException {
    throw new UnsupportedOperationException();
  }

  /** The bytes of a file that {@link #write} wrote. */
  public static byte[] read(FileStore store, String name) throws IOException {
    throw new UnsupportedOperationException();
  }
}
