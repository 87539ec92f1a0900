// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.store;

import java.util.Map;
import java.util.Set;

/** A change of directory entries that a power cut may undo until its directories are synced. */
sealed interface DirectoryChange {
  /** The directories that must be synced. */
  Set<String> directories();

  /** Makes the change on disk; what it rests on may be missing there. */
  void applyTo(Map<String, CrashableFile> files, Set<String> directories);

  /** A file got a name. */
  record Created(String name, CrashableFile file) implements DirectoryChange {
    @Override
    public Set<String> directories() {
      return Set.of(FileNames.directory(name));
    }

    @Override
    public void applyTo(Map<String, CrashableFile> files, Set<String> directories) {
      files.put(name, file);
    }
  }

  /** A file got another name, in one step. */
  record Renamed(String from, String to, CrashableFile file) implements DirectoryChange {
    @Override
    public Set<String> directories() {
      String source = FileNames.directory(from);
      String target = FileNames.directory(to);
      return source.equals(target) ? Set.of(source) : Set.of(source, target);
    }

    @Override
    public void applyTo(Map<String, CrashableFile> files, Set<String> directories) {
      if (directories.contains(FileNames.directory(to))) {
        files.remove(from, file);
        files.put(to, file);
      }
    }
  }

  /** A name went. */
  record Deleted(String name, CrashableFile file) implements DirectoryChange {
    @Override
    public Set<String> directories() {
      return Set.of(FileNames.directory(name));
    }

    @Override
    public void applyTo(Map<String, CrashableFile> files, Set<String> directories) {
      files.remove(name, file);
    }
  }

  /** A directory was made. */
  record DirectoryMade(String directory) implements DirectoryChange {
    @Override
    public Set<String> directories() {
      return Set.of("");
    }

    @Override
    public void applyTo(Map<String, CrashableFile> files, Set<String> directories) {
      directories.add(directory);
    }
  }
}
