// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.ReplicatedState.Checkpoint;
import java.util.List;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.statemachine.SnapshotInfo;

/**
 * A checkpoint as Ratis sees it. It has no files for Ratis: the manifest travels from memory (see
 * {@link PrefetchingLogAppender}), everything else by prefetch.
 */
record CheckpointSnapshot(Checkpoint checkpoint) implements SnapshotInfo {

  @Override
  public TermIndex getTermIndex() {
    return TermIndex.valueOf(checkpoint.position().term(), checkpoint.position().index());
  }

  @Override
  public List<FileInfo> getFiles() {
    return List.of();
  }

  @Override
  public String toString() {
    return "checkpoint" + getTermIndex();
  }
}
