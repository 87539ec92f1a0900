// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.GroupId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where things lie in the folder of one group. {@code current} belongs to Ratis: log segments,
 * {@code raft-meta} (term and vote), {@code raft-meta.conf}. {@code sagitta} is ours.
 *
 * @param root named after the group's UUID, as Ratis wants it
 */
record GroupFolder(Path root) {

  static GroupFolder of(Path groups, GroupId group) {
    return new GroupFolder(groups.resolve(group.value().toString()));
  }

  Path current() {
    return root.resolve("current");
  }

  Path voteFile() {
    return current().resolve("raft-meta");
  }

  Path configurationFile() {
    return current().resolve("raft-meta.conf");
  }

  Path mark() {
    return root.resolve("sagitta").resolve("mark");
  }

  Path install() {
    return root.resolve("sagitta").resolve("install");
  }

  Path aside() {
    return root.resolve("sagitta").resolve("aside");
  }

  boolean formatted() {
    return Files.exists(voteFile());
  }

  /** Makes the folder with our part in it; Ratis formats the rest. Durable on return. */
  void make(DirectoryFsync fsync) throws IOException {
    Files.createDirectories(mark().getParent());
    if (!Files.exists(mark())) {
      HighWaterMark.create(mark(), fsync);
    }
    fsync.fsync(root);
    fsync.fsync(root.toAbsolutePath().getParent());
  }

  long logBytes() {
    try (Stream<Path> files = Files.list(current())) {
      return files
          .filter(f -> f.getFileName().toString().startsWith("log_"))
          .mapToLong(GroupFolder::sizeOrZero)
          .sum();
    } catch (NoSuchFileException e) {
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void delete() throws IOException {
    if (!Files.exists(root)) {
      return;
    }
    List<Path> deepestFirst;
    try (Stream<Path> all = Files.walk(root)) {
      deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path path : deepestFirst) {
      Files.deleteIfExists(path);
    }
  }

  private static long sizeOrZero(Path file) {
    try {
      return Files.size(file);
    } catch (IOException purgedMeanwhile) {
      return 0;
    }
  }
}
