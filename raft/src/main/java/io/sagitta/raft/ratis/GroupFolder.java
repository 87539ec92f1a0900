// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.DamageException;
import io.sagitta.raft.GroupId;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
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

  Path boundVote() {
    return root.resolve("sagitta").resolve("vote");
  }

  Path configurationSeal() {
    return root.resolve("sagitta").resolve("configuration");
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

  /**
   * Reads what Ratis will read, to say which file is damaged where Ratis would say what it stumbled
   * over, or notice nothing. Files that are not there are not looked at.
   *
   * @param self the id of this peer
   */
  void checkRatisFiles(BindingVote bound, String self) throws IOException {
    if (Files.exists(voteFile())) {
      checkVoteFile(bound, self);
    }
    ConfigurationSeal.check(this);
  }

  private void checkVoteFile(BindingVote bound, String self) throws IOException {
    Properties values = new Properties();
    try (Reader in = Files.newBufferedReader(voteFile(), StandardCharsets.UTF_8)) {
      values.load(in);
    } catch (CharacterCodingException | IllegalArgumentException e) {
      throw damagedVote("text", "other bytes", e);
    }
    String term = values.getProperty("term");
    long number;
    try {
      number = Long.parseLong(String.valueOf(term));
    } catch (NumberFormatException e) {
      throw damagedVote("the key 'term' with a number", term == null ? "no such key" : "text", e);
    }
    String votedFor = values.getProperty("votedFor");
    if (votedFor == null) {
      throw damagedVote("the key 'votedFor'", "no such key", null);
    }
    bound.check(voteFile(), number, votedFor, self);
  }

  private DamageException damagedVote(String expected, String found, Exception cause) {
    return new DamageException(
        "file " + voteFile() + " is damaged: expected " + expected + ", found " + found, cause);
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
