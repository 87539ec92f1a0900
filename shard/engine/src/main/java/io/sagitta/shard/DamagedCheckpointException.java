// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import java.io.IOException;
import java.util.List;

/**
 * Files of the checkpoint that counts are missing or corrupt, so the shard cannot be opened: what
 * the log still holds would be applied to less than it builds upon. The files can be fetched from a
 * peer into the directory ({@link io.sagitta.shard.format.CheckpointDirectory#importFile}); then it
 * opens.
 */
public final class DamagedCheckpointException extends IOException {
  private static final long serialVersionUID = 1L;

  private final transient List<CheckpointFile> files;

  DamagedCheckpointException(String where, List<CheckpointFile> files) {
    super(
        where
            + ": files of the newest checkpoint are missing or corrupt: "
            + files.stream().map(CheckpointFile::name).toList());
    this.files = List.copyOf(files);
  }

  /** What must be fetched. */
  public List<CheckpointFile> files() {
    return files;
  }
}
