// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Files whose every byte has been compared with its checksum since the directory was opened, so
 * that an install reads each file once. Any thread.
 */
final class SoundFiles {
  private final FileStore store;
  private final Set<CheckpointFile> verified = ConcurrentHashMap.newKeySet();

  SoundFiles(FileStore store) {
    this.store = store;
  }

  /** Whether a file is there under a name, every byte as its checksum says. */
  boolean isSound(CheckpointFile file, String name) throws IOException {
    if (verified.contains(named(file, name))) {
      return store.exists(name) && store.length(name) == file.length();
    }
    if (FileCheck.problem(store, name, file) != null) {
      return false;
    }
    add(file, name);
    return true;
  }

  /** Remembers that a file has been compared. */
  void add(CheckpointFile file, String name) {
    verified.add(named(file, name));
  }

  /** Forgets whatever has this name. */
  void forget(String name) {
    verified.removeIf(file -> file.name().equals(name));
  }

  private static CheckpointFile named(CheckpointFile file, String name) {
    return new CheckpointFile(name, file.length(), file.checksum());
  }
}
