// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.RaftHost.GroupStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a damaged folder does to its group, and what it does not do to the others (B040, R4): one
 * host with a group for each damage, damaged while it was down, and started once.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class GroupStartTest {
  private static final int ENTRIES = 24;
  private static final int ENTRY_BYTES = 16 << 10;

  /** Damages, and what the group must say; where that is empty, it must start with all it had. */
  private enum Damage {
    NONE(""),
    FLIPPED_BYTE_IN_A_CLOSED_SEGMENT("log_0-"),
    LAST_SEGMENT_CUT_BELOW_THE_MARK("were committed"),
    TAIL_ZEROED_BELOW_THE_MARK("were committed"),
    LAST_SEGMENT_MISSING("were committed"),
    FIRST_SEGMENT_MISSING("log begins at index"),
    FOLDER_VANISHED("has vanished"),
    VOTE_FILE_VANISHED("lost its vote file"),
    VOTE_FILE_ZEROED("raft-meta is damaged"),
    VOTE_FILE_OF_GARBAGE("raft-meta is damaged"),
    VOTE_OF_AN_EARLIER_TERM("raft-meta is damaged: expected term"),
    VOTE_FOR_ANOTHER("raft-meta is damaged: expected term"),
    BOUND_VOTE_FLIPPED("vote is damaged: its checksum"),
    CONFIGURATION_OF_GARBAGE("raft-meta.conf is damaged"),
    CONFIGURATION_WITHOUT_VOTERS("raft-meta.conf is damaged"),
    VOTER_FLIPPED_IN_THE_CONFIGURATION("raft-meta.conf is damaged: its checksum"),
    MARK_DAMAGED("no valid slot"),
    RECORD_TORN_ABOVE_THE_MARK(""),
    STRAY_FILES_AND_AN_EMPTY_SEGMENT("");

    final String reason;

    Damage(String reason) {
      this.reason = reason;
    }
  }

  private static final Map<Damage, GroupId> GROUPS = new EnumMap<>(Damage.class);
  private static final Map<Damage, Long> LAST = new EnumMap<>(Damage.class);
  private static TestCluster cluster;

  @BeforeAll
  static void aHostThatWasDamagedWhileItWasDown(@TempDir Path directory) throws Exception {
    cluster = new TestCluster(directory, TestCluster.fast());
    cluster.start("a");
    for (Damage damage : Damage.values()) {
      GroupId group = cluster.create("a");
      GROUPS.put(damage, group);
      for (int i = 1; i <= ENTRIES; i++) {
        LAST.put(damage, cluster.write(group, i, ENTRY_BYTES));
      }
    }
    TestCluster.await(
        "the high-water marks",
        () ->
            GROUPS.entrySet().stream()
                .allMatch(
                    e ->
                        cluster
                                .host("a")
                                .hostedGroup(e.getValue())
                                .orElseThrow()
                                .mark()
                                .position()
                                .index()
                            == LAST.get(e.getKey())));
    cluster.stop("a");
    for (Damage damage : Damage.values()) {
      inflict(damage, cluster.groupFolder("a", GROUPS.get(damage)));
    }
    cluster.start("a");
  }

  @AfterAll
  static void tearDown() {
    cluster.close();
  }

  private static void inflict(Damage damage, GroupFolder folder) throws IOException {
    List<Path> segments = segments(folder);
    Path first = segments.getFirst();
    Path last = segments.getLast();
    long size = Files.size(last);
    switch (damage) {
      case NONE -> {}
      case FLIPPED_BYTE_IN_A_CLOSED_SEGMENT -> {
        byte[] bytes = Files.readAllBytes(first);
        bytes[bytes.length / 2] ^= 1;
        Files.write(first, bytes);
      }
      case LAST_SEGMENT_CUT_BELOW_THE_MARK -> cut(last, size / 2);
      case TAIL_ZEROED_BELOW_THE_MARK -> write(last, size / 2, new byte[(int) (size - size / 2)]);
      case LAST_SEGMENT_MISSING -> Files.delete(last);
      case FIRST_SEGMENT_MISSING -> Files.delete(first);
      case FOLDER_VANISHED -> folder.delete();
      case VOTE_FILE_VANISHED -> Files.delete(folder.voteFile());
      case VOTE_FILE_ZEROED ->
          Files.write(folder.voteFile(), new byte[(int) Files.size(folder.voteFile())]);
      case VOTE_FILE_OF_GARBAGE -> Files.write(folder.voteFile(), new byte[] {-1, -2, -3});
      case VOTE_OF_AN_EARLIER_TERM -> replace(folder.voteFile(), "term=\\d+", "term=0");
      case VOTE_FOR_ANOTHER -> replace(folder.voteFile(), "votedFor=.*", "votedFor=b");
      case BOUND_VOTE_FLIPPED -> flip(folder.boundVote(), 9);
      case CONFIGURATION_WITHOUT_VOTERS -> Files.write(folder.configurationFile(), new byte[0]);
      case VOTER_FLIPPED_IN_THE_CONFIGURATION -> {
        byte[] bytes = Files.readAllBytes(folder.configurationFile());
        flip(folder.configurationFile(), new String(bytes, ISO_8859_1).indexOf("127.0.0.1"));
      }
      case CONFIGURATION_OF_GARBAGE ->
          Files.write(folder.configurationFile(), new byte[] {-1, -2, -3});
      case MARK_DAMAGED -> Files.write(folder.mark(), new byte[2 * HighWaterMark.SLOT_BYTES]);
      case RECORD_TORN_ABOVE_THE_MARK -> {
        // The beginning of a record of 16 KiB, and then nothing of it but zeros.
        byte[] torn = new byte[20_000];
        ByteBuffer.wrap(torn)
            .put((byte) 0x80)
            .put((byte) 0x80)
            .put((byte) 0x01)
            .putLong(0x0807060504030201L);
        write(last, size, torn);
      }
      case STRAY_FILES_AND_AN_EMPTY_SEGMENT -> {
        Path current = folder.current();
        Files.writeString(current.resolve("x.tmp"), "stray");
        Files.writeString(current.resolve("raft-meta.tmp"), "torn");
        Files.writeString(current.resolve("unknown"), "stray");
        Files.createFile(current.resolve("log_inprogress_1000"));
      }
    }
  }

  @Order(1)
  @ParameterizedTest
  @EnumSource
  void aGroupStartsWithAllItAcknowledgedOrSaysWhyNot(Damage damage) {
    GroupId group = GROUPS.get(damage);
    GroupStatus status = cluster.host("a").status(group).orElseThrow();
    if (damage.reason.isEmpty()) {
      assertThat(status.failure()).isEmpty();
      cluster.awaitLeader(group);
      cluster.awaitApplied(group, LAST.get(damage), "a");
      assertThat(cluster.state("a", group).count()).isEqualTo(ENTRIES);
      assertThat(cluster.write(group, 99)).isGreaterThan(LAST.get(damage));
    } else {
      assertThat(status.failure().orElseThrow()).contains(damage.reason);
      assertThat(status.damaged()).isTrue();
      assertThat(cluster.host("a").terms(List.of(group))).isEmpty();
    }
    if (damage == Damage.RECORD_TORN_ABOVE_THE_MARK) {
      assertThat(cluster.groupFolder("a", group).aside()).isNotEmptyDirectory();
    }
    if (damage == Damage.FOLDER_VANISHED) {
      assertThat(cluster.groupFolder("a", group).formatted()).isFalse();
    }
  }

  @Order(2)
  @Test
  void aRemovedQuarantinedGroupIsSetAsideAndStaysAway() throws Exception {
    GroupId group = GROUPS.get(Damage.FLIPPED_BYTE_IN_A_CLOSED_SEGMENT);
    cluster.host("a").remove(group);
    assertThat(cluster.host("a").status(group)).isEmpty();
    assertThat(quarantine(group)).exists();
    cluster.stop("a");
    cluster.start("a");
    assertThat(cluster.host("a").status(group)).isEmpty();
  }

  @Order(3)
  @Test
  void aFolderThatIsNotOnTheListIsLeftAloneUntilItsNameIsNeeded() throws Exception {
    GroupId stranger = new GroupId(UUID.randomUUID());
    Path folder = cluster.groupFolder("a", stranger).root();
    Files.createDirectories(folder.resolve("current"));
    Files.writeString(folder.resolve("current").resolve("raft-meta"), "garbage");
    cluster.host("a").create(stranger, cluster.peers("a"));
    cluster.write(stranger, 1);
    assertThat(quarantine(stranger)).exists();
  }

  private static void flip(Path file, int at) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[at] ^= 2;
    Files.write(file, bytes);
  }

  private static void replace(Path file, String pattern, String by) throws IOException {
    Files.writeString(file, Files.readString(file).replaceAll(pattern, by));
  }

  private static Path quarantine(GroupId group) {
    return cluster.hostFolder("a").resolve("quarantine").resolve(group.toString());
  }

  private static List<Path> segments(GroupFolder folder) throws IOException {
    try (Stream<Path> files = Files.list(folder.current())) {
      return files
          .filter(f -> LogSegmentScan.isSegment(f.getFileName().toString()))
          .sorted(Comparator.comparingLong(GroupStartTest::start))
          .toList();
    }
  }

  private static long start(Path segment) {
    try {
      return LogSegmentScan.scan(segment, -1, -1).startIndex();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void write(Path file, long at, byte[] bytes) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(bytes), at);
    }
  }

  private static void cut(Path file, long size) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(size);
    }
  }
}
