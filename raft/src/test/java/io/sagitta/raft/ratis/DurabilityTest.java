// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.NotLeader;
import io.sagitta.raft.OutcomeUnknown;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That folders are fsynced before anything that lies in them is promised to anyone (R3). */
class DurabilityTest {
  private TestCluster cluster;

  @BeforeEach
  void setUp(@TempDir Path directory) {
    cluster = new TestCluster(directory, TestCluster.fast());
  }

  @AfterEach
  void tearDown() {
    cluster.close();
  }

  @Test
  void noVoteAndNoLeadershipBeforeTheFolderOfTheVoteFileIsFsynced() throws Exception {
    cluster.startAll("a", "b", "c");
    GroupId group = cluster.create("a", "b", "c");
    cluster.write(group, 1);
    String old = cluster.awaitLeader(group);
    CountDownLatch release = new CountDownLatch(1);
    AtomicInteger held = new AtomicInteger();
    cluster.fsync =
        folder -> {
          if (folder.endsWith("current") && !folder.startsWith(cluster.hostFolder(old))) {
            held.incrementAndGet();
            try {
              release.await();
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
          }
          DirectoryFsync.REAL.fsync(folder);
        };
    cluster.cutOff(old);
    // One of the two others stands for election, the other has voted for it and not yet said so.
    TestCluster.await("a vote that waits", () -> held.get() >= 1);
    TestCluster.await(
        "the vote in the file",
        () ->
            cluster.hosts.keySet().stream()
                .filter(n -> !n.equals(old))
                .anyMatch(n -> cluster.host(n).status(group).orElseThrow().term() > 1));
    for (String name : cluster.hosts.keySet()) {
      assertThat(name.equals(old) || !cluster.host(name).status(group).orElseThrow().leaderReady())
          .isTrue();
    }
    release.countDown();
    TestCluster.await(
        "a leader", () -> cluster.leader(group).filter(l -> !l.equals(old)).isPresent());
    cluster.heal();
  }

  @Test
  void aSegmentsEntryInItsFolderIsDurableBeforeAnythingInItIsAcknowledged() throws Exception {
    Map<Path, Set<String>> durable = new ConcurrentHashMap<>();
    cluster.fsync =
        folder -> {
          Set<String> names = names(folder);
          DirectoryFsync.REAL.fsync(folder);
          durable.put(folder, names);
        };
    cluster.start("a");
    GroupId group = cluster.create("a");
    Path current = cluster.groupFolder("a", group).current();
    int segments = 0;
    for (int i = 0; i < 120; i++) {
      cluster.write(group, i, 16 << 10);
      Set<String> open =
          names(current).stream().filter(LogSegmentScan::isOpen).collect(Collectors.toSet());
      // What was acknowledged lies in a segment that was there at an fsync of the folder; the
      // newest
      // one may just have been opened for the next entry.
      assertThat(durable.get(current)).containsAnyElementsOf(open);
      segments = (int) names(current).stream().filter(LogSegmentScan::isSegment).count();
    }
    assertThat(segments).isGreaterThan(4);
  }

  @Test
  void anEntryIsNotAcknowledgedIfItsFolderCannotBeFsynced() throws Exception {
    cluster.start("a");
    GroupId group = cluster.create("a");
    cluster.write(group, 1);
    cluster.fsync =
        folder -> {
          if (folder.endsWith("current")) {
            throw new IOException("no fsync as asked");
          }
        };
    // Another segment, thus another entry in the folder.
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 40; i++) {
                cluster.host("a").submit(group, TestCluster.entry(i, 16 << 10)).join();
              }
            })
        .hasCauseInstanceOf(OutcomeUnknown.class);
    TestCluster.await(
        "the failure", () -> cluster.host("a").status(group).orElseThrow().failure().isPresent());
    assertThat(cluster.host("a").status(group).orElseThrow().failure().orElseThrow())
        .contains("no fsync as asked");
  }

  @Test
  void aLogThatFailedForWantOfSpaceIsStartedAgainOnceThereIsSome() throws Exception {
    cluster.start("a");
    GroupId group = cluster.create("a");
    long index = cluster.write(group, 1);
    cluster.fsync =
        folder -> {
          if (folder.endsWith("current")) {
            throw new IOException("No space left on device");
          }
        };
    TestCluster.await(
        "the failure",
        () -> {
          var _ = cluster.host("a").submit(group, TestCluster.entry(2, 16 << 10));
          return cluster.host("a").status(group).orElseThrow().failure().isPresent();
        });
    assertThat(cluster.host("a").status(group).orElseThrow().wantsSpace()).isTrue();
    RegisterState full = cluster.state("a", group);
    assertThat(cluster.host("a").readBarrier(group, TestCluster.SOON).join())
        .as("it led alone, so what it has applied is all there is")
        .isGreaterThanOrEqualTo(index);
    assertThat(full.closed).as("it can still be read").isFalse();
    cluster.fsync = DirectoryFsync.REAL;
    cluster.awaitLeader(group);
    cluster.awaitApplied(group, index, "a");
    cluster.write(group, 3);
    assertThat(cluster.host("a").status(group).orElseThrow().failure()).isEmpty();
    assertThat(full.closed).isTrue();
  }

  @Test
  void oneOfThreeThatHasNoSpaceIsReadAtWhatItHasAppliedButNotStrongly() throws Exception {
    cluster.startAll("a", "b", "c");
    GroupId group = cluster.create("a", "b", "c");
    long index = cluster.write(group, 1);
    cluster.awaitApplied(group, index, "a", "b", "c");
    cluster
        .host("a")
        .hostedGroup(group)
        .orElseThrow()
        .fail("as asked", new IOException(HostedGroup.NO_SPACE + " on device"));
    RegisterState full = cluster.state("a", group);
    assertThat(cluster.host("a").awaitApplied(group, index, TestCluster.SOON).join())
        .isGreaterThanOrEqualTo(index);
    assertThat(full.closed).isFalse();
    assertThatThrownBy(() -> cluster.host("a").readBarrier(group, TestCluster.SOON).join())
        .as("another may lead by now")
        .hasCauseInstanceOf(NotLeader.class);
    TestCluster.await(
        "it is back",
        () -> cluster.host("a").hostedGroup(group).orElseThrow().division().isPresent());
    assertThat(full.closed).isTrue();
    cluster.awaitApplied(group, cluster.write(group, 2), "a", "b", "c");
  }

  @Test
  void createIsDurableOnReturn() throws Exception {
    Set<Path> fsynced = ConcurrentHashMap.newKeySet();
    cluster.fsync =
        folder -> {
          DirectoryFsync.REAL.fsync(folder);
          fsynced.add(folder);
        };
    cluster.start("a");
    GroupId group = cluster.create("a");
    GroupFolder folder = cluster.groupFolder("a", group);
    assertThat(fsynced)
        .contains(
            cluster.hostFolder("a"),
            folder.root().getParent(),
            folder.root(),
            folder.current(),
            folder.mark().getParent());
  }

  private static Set<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(f -> f.getFileName().toString()).collect(Collectors.toSet());
    }
  }
}
