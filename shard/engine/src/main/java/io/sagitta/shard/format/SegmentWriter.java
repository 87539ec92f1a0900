// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/** Writes a segment's files. */
public final class SegmentWriter {
  private SegmentWriter() {}

  /**
   * Writes all files of a segment; on return they are durable, names included. Files that an
   * interrupted attempt left behind are replaced.
   *
   * @param allocator lends memory for one chunk at a time
   * @return the files, for the manifest
   */
  public static List<CheckpointFile> write(
      SegmentSource source, FileStore store, BufferAllocator allocator) throws IOException {
    throw new UnsupportedOperationException();
  }
}
