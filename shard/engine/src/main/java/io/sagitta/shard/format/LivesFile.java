// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.util.UUID;

/** Which rows of a segment live at a checkpoint, one bit each. */
public final class LivesFile {
  private LivesFile() {}

  /**
   * Writes the file, durable on return, name included.
   *
   * @param logIndex position of the checkpoint; part of the name
   * @param alive bit of row r is {@code alive[r >> 6] >> r}; none is set at or beyond {@code rows}
   */
  public static CheckpointFile write(
      FileStore store, UUID segmentId, long logIndex, long[] alive, int rows) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** The bits of a file that {@link #write} wrote for these rows of this segment. */
  public static long[] read(FileStore store, String name, UUID segmentId, int rows)
      throws IOException {
    throw new UnsupportedOperationException();
  }
}
