// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.store;

/**
 * Whether there is room on the disk for files that may also be written later. Asked before a file
 * is begun, since one that fails half-way has taken the last bytes from those who cannot wait: the
 * Raft log. Any thread.
 */
public interface DiskRoom {
  /** There always is. */
  DiskRoom ENDLESS =
      new DiskRoom() {
        @Override
        public boolean forCheckpoint(long bytes) {
          return true;
        }

        @Override
        public boolean forDerived(long bytes) {
          return true;
        }
      };

  /** Whether so many bytes of a checkpoint may be written, which then lets the log be purged. */
  boolean forCheckpoint(long bytes);

  /** Whether so many bytes may be written of what can be made again at any time: graphs. */
  boolean forDerived(long bytes);
}
