// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.shard.format.CorruptFileException;
import io.sagitta.shard.format.Manifest;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Files of the checkpoint that counts are missing or corrupt, so the shard cannot be opened: what
 * the log still holds would be applied to less than it builds upon. A peer's checkpoint at its log
 * index or later can take its place ({@link DamagedShard}); then it opens.
 */
public final class DamagedCheckpointException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Of the bad files: a message is one line. */
  private static final int NAMED = 3;

  private final long term;
  private final long index;

  private DamagedCheckpointException(String message, Manifest damaged, Throwable cause) {
    super(message, cause);
    this.term = damaged.term();
    this.index = damaged.logIndex();
  }

  /** Files were found missing or corrupt when the directory was opened. */
  DamagedCheckpointException(String where, Manifest damaged, List<CheckpointFile> files) {
    this(
        where + ": files of the newest checkpoint are missing or corrupt: " + named(files),
        damaged,
        (Throwable) null);
  }

  /** A file turned out to be corrupt while it was loaded. */
  DamagedCheckpointException(String where, Manifest damaged, CorruptFileException found) {
    this("in " + where + ", " + found.getMessage(), damaged, (Throwable) found);
  }

  private static String named(List<CheckpointFile> files) {
    String first =
        files.stream().limit(NAMED).map(CheckpointFile::name).collect(Collectors.joining(", "));
    int more = files.size() - NAMED;
    return more > 0 ? first + " and " + more + " more (all are in the log)" : first;
  }

  /** Term of the last entry that the damaged checkpoint held. */
  public long term() {
    return term;
  }

  /** Log index of that entry: what lies before it may be gone from the log. */
  public long index() {
    return index;
  }
}
