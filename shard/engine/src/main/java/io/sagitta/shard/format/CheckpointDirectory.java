// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;

/** A shard's directory: which checkpoint counts, which files may go, how files come and leave. */
public final class CheckpointDirectory {
  private CheckpointDirectory() {}

  /**
   * Recovers a directory: the newest valid manifest counts; what is torn is moved to {@code
   * quarantine/} and logged, leftovers of interrupted writes are removed, unknown files stay.
   */
  public static CheckpointDirectory open(FileStore store) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** The checkpoint that counts. */
  public Optional<Manifest> current() {
    throw new UnsupportedOperationException();
  }

  /**
   * Files of {@link #current} that were found missing or bad at open; they must be fetched again.
   */
  public List<CheckpointFile> damaged() {
    throw new UnsupportedOperationException();
  }

  /**
   * Makes a checkpoint the current one, durable on return, then removes files that neither it nor a
   * pin names. Its files are durable already. The generation given is replaced by the next one.
   */
  public Manifest publish(Manifest manifest) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** Files that a peer's manifest names and that are missing or bad here; begins an install. */
  public List<CheckpointFile> missing(Manifest manifest) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** Bytes of a file that an earlier, interrupted import has kept: where to go on. */
  public long imported(CheckpointFile file) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * Receives a file, or the rest of it from {@code offset} = {@link #imported}; verified, fsynced
   * and under its name on return. What arrived of an interrupted transfer is kept.
   */
  public void importFile(CheckpointFile file, InputStream bytes, long offset) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** As {@link #publish} for a peer's manifest, all of whose files are here. */
  public Manifest install(Manifest manifest) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** Reads a file of a checkpoint from an offset; it stays on disk until the stream is closed. */
  public InputStream exportFile(CheckpointFile file, long offset) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** Keeps the files of a checkpoint until closed, whatever is published meanwhile. */
  public Pin pin(Manifest manifest) {
    throw new UnsupportedOperationException();
  }

  /**
   * Compares every byte of the current checkpoint with its checksums; gives the files that are bad.
   */
  public List<CheckpointFile> verify() throws IOException {
    throw new UnsupportedOperationException();
  }

  /** Files that stay on disk. Close it once. */
  public interface Pin extends AutoCloseable {
    @Override
    void close();
  }
}
