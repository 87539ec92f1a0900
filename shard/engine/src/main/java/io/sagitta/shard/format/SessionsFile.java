// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The writers' table at a checkpoint: bytes of the engine's own in a checked file. */
public final class SessionsFile {
  private static final int TABLE = 1;

  private SessionsFile() {}

  /**
   * Writes the file; its bytes are durable on return, its name once a manifest names it.
   *
   * @param logIndex position of the checkpoint; part of the name
   */
  public static CheckpointFile write(FileStore store, long logIndex, byte[] sessions)
      throws IOException {
    return NewFile.write(
        store,
        ShardFiles.sessions(logIndex),
        FrameHeader.ofShard(FileKind.SESSIONS, logIndex),
        out -> {
          out.section(TABLE);
          out.write(MemorySegment.ofArray(sessions));
        });
  }

  /** The bytes that {@link #write} wrote at this log index. */
  public static byte[] read(FileStore store, long logIndex) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      return Frame.map(store, ShardFiles.sessions(logIndex), arena)
          .expect(FrameHeader.ofShard(FileKind.SESSIONS, logIndex))
          .verify()
          .section(TABLE)
          .toArray(ValueLayout.JAVA_BYTE);
    }
  }
}
