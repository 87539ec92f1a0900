// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.service;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How full the data folder's file system is, as of the last {@link #look}: reading it is a system
 * call that a write does not wait for.
 */
public final class DiskSpace {
  private static final Logger log = LoggerFactory.getLogger(DiskSpace.class);

  private final Path folder;
  private volatile long totalBytes;
  private volatile long freeBytes;
  private boolean failed; // upkeep's thread

  public DiskSpace(Path folder) {
    this.folder = folder;
    look();
  }

  /** Looks again. A failed look leaves the figures as they were. */
  public void look() {
    try {
      FileStore store = Files.getFileStore(folder);
      totalBytes = store.getTotalSpace();
      freeBytes = store.getUsableSpace();
      failed = false;
    } catch (IOException e) {
      if (!failed) {
        log.warn("The free space of {} cannot be read: {}", folder, e.toString());
      }
      failed = true;
    }
  }

  public long totalBytes() {
    return totalBytes;
  }

  public long freeBytes() {
    return freeBytes;
  }

  /** Percent in use, rounded down; 0 where the file system does not say. */
  public int usedPercent() {
    long total = totalBytes;
    return total <= 0 ? 0 : (int) ((total - freeBytes) * 100 / total);
  }
}
