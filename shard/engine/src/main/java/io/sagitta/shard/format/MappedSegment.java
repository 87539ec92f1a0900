// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.PointId;
import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.segment.RowChunk;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.UUID;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A flushed segment, its files mapped. Any thread may read; close it once, when nobody does. The
 * memory behind {@link #chunks} outlives the close as long as vectors that were transferred out of
 * them do.
 */
public final class MappedSegment implements AutoCloseable {
  private MappedSegment() {}

  /**
   * Maps a segment's files and checks the frame of each, and small files whole.
   *
   * @param allocator named as the owner of the columns; mapped memory is not charged to it
   */
  public static MappedSegment open(FileStore store, UUID segmentId, BufferAllocator allocator)
      throws IOException {
    throw new UnsupportedOperationException();
  }

  public UUID segmentId() {
    throw new UnsupportedOperationException();
  }

  /** The fields when the segment was frozen. */
  public CollectionSchema schema() {
    throw new UnsupportedOperationException();
  }

  public int rows() {
    throw new UnsupportedOperationException();
  }

  /** Ids and payload of all rows, from ordinal 0; each chunk begins at a multiple of 64. */
  public List<RowChunk> chunks() {
    throw new UnsupportedOperationException();
  }

  /** The vectors of a field of {@link #schema}. */
  public MappedVectors vectors(int fieldId) {
    throw new UnsupportedOperationException();
  }

  /** int64 for each row, little-endian. */
  public MemorySegment versions() {
    throw new UnsupportedOperationException();
  }

  /** {@code _version} of a row. */
  public long version(int ordinal) {
    throw new UnsupportedOperationException();
  }

  /** The id of a row. */
  public PointId id(int ordinal) {
    throw new UnsupportedOperationException();
  }

  /** The newest row with an id, or -1. */
  public int find(byte[] canonicalId) {
    throw new UnsupportedOperationException();
  }

  /** The newest row with the id of the given row that is older than it, or -1. */
  public int previous(int ordinal) {
    throw new UnsupportedOperationException();
  }

  /** The segment's files. */
  public List<CheckpointFile> files() {
    throw new UnsupportedOperationException();
  }

  /** Reads every byte and compares all checksums: what the scrub does. */
  public void verify() throws IOException {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
