// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * Fsyncs the folder in which Ratis keeps a group's log segments, its vote file and its
 * configuration. Ratis 3.3.0 fsyncs those files but never the folder: after a power cut a rename
 * may be forgotten and with it a vote, and a new segment may be gone with all acknowledged entries
 * in it.
 *
 * <p>{@link #sync} does it always; it is called where a vote or a term is about to become binding,
 * by {@link PeerGate} before a reply leaves and by {@link GroupStateMachine} before this peer acts
 * as leader.
 *
 * <p>{@link #syncIfChanged} is called before each flush of the log and must cost next to nothing:
 * it fsyncs only when the folder's modification time has moved. File systems stamp in coarse ticks,
 * so a second change within a tick would not move it; a time that was young when it was fsynced is
 * therefore trusted only once it has grown old ("racy git" has the same problem and cure). A change
 * after that gets another time, whatever the wall clock does in between.
 */
final class DurableDirectory {
  /**
   * Longer than any kernel's tick; as long as the folder's time is younger, each flush fsyncs it.
   */
  private static final long SETTLED_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final Path directory;
  private final DirectoryFsync fsync;

  // Guarded by this.
  private boolean parentSynced;
  private FileTime syncedTime;
  private boolean settled;

  DurableDirectory(Path directory, DirectoryFsync fsync) {
    this.directory = directory;
    this.fsync = fsync;
  }

  synchronized void sync() throws IOException {
    if (!parentSynced) {
      // Ratis makes this folder itself, when it formats the group.
      fsync.fsync(directory.toAbsolutePath().getParent());
      parentSynced = true;
    }
    FileTime time = Files.getLastModifiedTime(directory);
    Instant now = Instant.now();
    fsync.fsync(directory);
    syncedTime = time;
    settled = now.minusNanos(SETTLED_NANOS).isAfter(time.toInstant());
  }

  synchronized void syncIfChanged() throws IOException {
    FileTime time;
    try {
      time = Files.getLastModifiedTime(directory);
    } catch (NoSuchFileException e) {
      throw new IOException("the log's folder has vanished: " + directory, e);
    }
    if (!settled || !time.equals(syncedTime)) {
      sync();
    }
  }
}
