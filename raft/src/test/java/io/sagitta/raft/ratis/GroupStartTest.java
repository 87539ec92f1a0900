// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

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
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a damaged folder does to its group, and what it does not do to the others (B040, R4). */
class GroupStartTest {
  private static TestCluster original;
  private static GroupId good;
  private static GroupId bad;
  private static long last;

  private TestCluster cluster;

  @BeforeAll
  static void aHostWithTwoGroups(@TempDir Path directory) throws Exception {
    original = new TestCluster(directory, TestCluster.fast());
    original.start("a");
    good = original.create("a");
    bad = original.create("a");
    original.write(good, 5);
    for (int i = 1; i <= 40; i++) {
      last = original.write(bad, i, 16 << 10);
    }
    TestCluster.await(
        "the high-water mark",
        () -> original.host("a").hostedGroup(bad).orElseThrow().mark().position().index() == last);
    original.stop("a");
  }

  @BeforeEach
  void aCopyOfIt(@TempDir Path directory) throws Exception {
    try (Stream<Path> files = Files.walk(original.directory)) {
      for (Path file : files.toList()) {
        Path copy = directory.resolve(original.directory.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy);
        }
      }
    }
    cluster = new TestCluster(directory, TestCluster.fast());
  }

  @AfterEach
  void tearDown() {
    cluster.close();
  }

  @Test
  void aFlippedByteInTheLogQuarantinesTheGroupNamingTheFile() throws Exception {
    Path segment = segments().getFirst();
    flip(segment, Files.size(segment) / 2);
    assertQuarantined(segment.getFileName().toString());
  }

  @Test
  void aLogCutBelowTheHighWaterMarkQuarantinesTheGroup() throws Exception {
    Path segment = segments().getLast();
    cut(segment, Files.size(segment) / 2);
    assertQuarantined("up to index " + last + " were committed");
  }

  @Test
  void aZeroedTailBelowTheHighWaterMarkQuarantinesTheGroup() throws Exception {
    Path segment = segments().getLast();
    long size = Files.size(segment);
    cut(segment, size / 2);
    try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.allocate((int) (size - size / 2)), size / 2);
    }
    assertQuarantined("were committed");
  }

  @Test
  void aMissingLastSegmentQuarantinesTheGroup() throws Exception {
    Files.delete(segments().getLast());
    assertQuarantined("were committed");
  }

  @Test
  void aMissingFirstSegmentQuarantinesTheGroup() throws Exception {
    Files.delete(segments().getFirst());
    assertQuarantined("log begins at index");
  }

  @Test
  void aVanishedFolderIsNotSilentlyFormatted() throws Exception {
    new GroupFolder(cluster.groupFolder("a", bad).root()).delete();
    assertQuarantined("has vanished");
    assertThat(cluster.groupFolder("a", bad).formatted()).isFalse();
  }

  @Test
  void aVanishedVoteFileQuarantinesTheGroup() throws Exception {
    Files.delete(cluster.groupFolder("a", bad).voteFile());
    assertQuarantined("lost its vote file");
  }

  @Test
  void aDamagedHighWaterMarkQuarantinesTheGroup() throws Exception {
    Path mark = cluster.groupFolder("a", bad).mark();
    Files.write(mark, new byte[2 * HighWaterMark.SLOT_BYTES]);
    assertQuarantined("no valid slot");
  }

  @Test
  void aRemovedQuarantinedGroupIsSetAsideAndItsNameIsFreeAgain() throws Exception {
    flip(segments().getFirst(), 1000);
    cluster.start("a");
    cluster.host("a").remove(bad);
    assertThat(cluster.host("a").status(bad)).isEmpty();
    assertThat(cluster.hostFolder("a").resolve("quarantine").resolve(bad.toString())).exists();
    cluster.stop("a");
    cluster.start("a");
    assertThat(cluster.host("a").groups()).hasSize(1);
  }

  @Test
  void aRecordTornAboveTheHighWaterMarkIsCutOffAndTheGroupStarts() throws Exception {
    Path segment = segments().getLast();
    long good = Files.size(segment);
    try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.WRITE)) {
      // The beginning of a record of 16 KiB, and then nothing of it but zeros.
      ByteBuffer torn = ByteBuffer.allocate(20_000);
      torn.put((byte) 0x80).put((byte) 0x80).put((byte) 0x01).putLong(0x0807060504030201L);
      channel.write(torn.rewind(), good);
    }
    cluster.start("a");
    cluster.awaitLeader(bad);
    cluster.awaitApplied(bad, last, "a");
    assertThat(cluster.state("a", bad).count()).isEqualTo(40);
    assertThat(cluster.write(bad, 41)).isGreaterThan(last);
    assertThat(cluster.groupFolder("a", bad).aside()).isNotEmptyDirectory();
  }

  @Test
  void strayFilesAndAnEmptySegmentDoNotHinder() throws Exception {
    Path current = cluster.groupFolder("a", bad).current();
    Files.writeString(current.resolve("x.tmp"), "stray");
    Files.writeString(current.resolve("raft-meta.tmp"), "torn");
    Files.writeString(current.resolve("unknown"), "stray");
    Files.createFile(current.resolve("log_inprogress_" + (last + 1000)));
    cluster.start("a");
    cluster.awaitLeader(bad);
    cluster.awaitApplied(bad, last, "a");
    assertThat(cluster.state("a", bad).count()).isEqualTo(40);
  }

  @Test
  void aFolderThatIsNotOnTheListIsLeftAloneUntilItsNameIsNeeded() throws Exception {
    GroupId stranger = new GroupId(java.util.UUID.randomUUID());
    Path folder = cluster.groupFolder("a", stranger).root();
    Files.createDirectories(folder.resolve("current"));
    Files.writeString(folder.resolve("current").resolve("raft-meta"), "garbage");
    cluster.start("a");
    assertThat(cluster.host("a").groups()).hasSize(2);
    cluster.host("a").create(stranger, cluster.peers("a"));
    cluster.write(stranger, 1);
    assertThat(cluster.hostFolder("a").resolve("quarantine").resolve(stranger.toString())).exists();
  }

  /**
   * The group fails with this reason; the other one leads, reads and writes; nobody waits for ever.
   */
  private void assertQuarantined(String reason) throws IOException {
    cluster.start("a");
    GroupStatus status = cluster.host("a").status(bad).orElseThrow();
    assertThat(status.failure()).isPresent();
    assertThat(status.failure().orElseThrow()).contains(reason);
    assertThat(cluster.host("a").terms(List.of(good, bad))).containsOnlyKeys(good);
    cluster.write(good, 6);
    assertThat(cluster.state("a", good).value()).isEqualTo(6);
    assertThat(cluster.host("a").metrics().groupsFailed()).isEqualTo(1);
  }

  private List<Path> segments() throws IOException {
    try (Stream<Path> files = Files.list(cluster.groupFolder("a", bad).current())) {
      return files
          .filter(f -> LogSegmentScan.isSegment(f.getFileName().toString()))
          .sorted(Comparator.comparingLong(GroupStartTest::start))
          .toList();
    }
  }

  private static long start(Path segment) {
    try {
      return LogSegmentScan.scan(segment, -1).startIndex();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void flip(Path file, long offset) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[(int) offset] ^= 1;
    Files.write(file, bytes);
  }

  private static void cut(Path file, long size) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(size);
    }
  }
}
