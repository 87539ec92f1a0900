// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.CheckpointFile;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A checkpoint: the shard's state at one log position, and every file it consists of.
 *
 * @param generation grows with each manifest of a directory; the newest valid one counts
 * @param term term of the last entry it holds
 * @param logIndex log index of that entry
 * @param stateVersion format of {@code state}, the engine's own
 * @param state schema, slots, epoch, version base, horizon, state time: opaque here
 * @param segments the segments, oldest first
 * @param sessions name of the file with the writers' table
 * @param files every file but the manifest itself
 */
public record Manifest(
    long generation,
    long term,
    long logIndex,
    int stateVersion,
    byte[] state,
    List<SegmentRef> segments,
    Optional<String> sessions,
    List<CheckpointFile> files) {

  public Manifest {
    segments = List.copyOf(segments);
    files = List.copyOf(files);
  }

  /**
   * A segment of a checkpoint.
   *
   * @param segmentId its id
   * @param rows its rows, dead ones too
   * @param lives name of the file that says which rows live; absent: all do
   */
  public record SegmentRef(UUID segmentId, int rows, Optional<String> lives) {}

  /** The manifest as a file: what lies on disk and what an install announces. */
  public byte[] toBytes() {
    throw new UnsupportedOperationException();
  }

  /**
   * Reads what {@link #toBytes} made.
   *
   * @param where the file's name or another origin, for messages
   */
  public static Manifest fromBytes(byte[] bytes, String where) throws IOException {
    throw new UnsupportedOperationException();
  }
}
