// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.WriteOutcome;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** One shard's state machine: apply, view, checkpoint. */
public final class Shard implements AutoCloseable {
  private Shard() {}

  /**
   * Opens the newest valid checkpoint in a directory; where there is none, an empty shard that
   * awaits its Init entry. Files that are torn or corrupt are moved aside, not deleted.
   */
  public static Shard open(Path directory, ShardOptions options, BufferAllocator allocator)
      throws IOException {
    throw new UnsupportedOperationException();
  }

  /** Term of the checkpoint that was recovered, 0 for none. */
  public long recoveredTerm() {
    throw new UnsupportedOperationException();
  }

  /** Log index of the checkpoint that was recovered, -1 for none; replay starts after it. */
  public long recoveredIndex() {
    throw new UnsupportedOperationException();
  }

  /**
   * Applies a committed entry; apply thread only. A bad entry is an outcome, never an exception.
   *
   * @param entry one log entry as {@code ShardEntries} encodes it
   * @throws IOException when this replica must stop: an entry of an unknown type or format, a
   *     broken disk, a bug; the first cause is kept and thrown again by every later call
   */
  public WriteOutcome apply(long term, long index, ByteBuffer entry) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** A view at the last applied index; close it. Any thread. */
  public ShardView view() {
    throw new UnsupportedOperationException();
  }

  /**
   * Whether a write of this many bytes may be proposed now; the replica asks before it logs. False
   * while growing memory is over its limit or too many frozen segments wait for a flush.
   */
  public boolean admits(long bytes) {
    throw new UnsupportedOperationException();
  }

  /**
   * Asks for a checkpoint at the present position, written in the background. Apply thread only.
   */
  public void requestCheckpoint() {
    throw new UnsupportedOperationException();
  }

  /** The newest durable checkpoint. Any thread. */
  public Optional<ShardCheckpoint> checkpointed() {
    throw new UnsupportedOperationException();
  }

  /** Files that a manifest names and that are missing or bad here. */
  public List<CheckpointFile> missingFiles(byte[] manifest) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** Receives one fetched file: temporary name, checksum verified, fsync, rename. */
  public void importFile(CheckpointFile file, InputStream bytes) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** Reads a file of a checkpoint for a peer; it stays on disk until the stream is closed. */
  public InputStream exportFile(CheckpointFile file) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * Replaces the state by an installed checkpoint whose files have all been imported. Durable on
   * return. Apply thread only; views opened before stay valid.
   */
  public void install(byte[] manifest) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** The shard at this instant. Any thread. */
  public ShardState state() {
    throw new UnsupportedOperationException();
  }

  /** {@link ShardView#digest} of a view at the last applied index. */
  public byte[] digest() {
    throw new UnsupportedOperationException();
  }

  /** Ends background work; memory and files go when the last view is closed. */
  @Override
  public void close() throws IOException {
    throw new UnsupportedOperationException();
  }
}
