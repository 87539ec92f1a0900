// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.NodeId;
import io.sagitta.model.ReadMode;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.node.placement.Cluster.ReplicaDigest;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.RaftHost.GroupStatus;
import io.sagitta.shard.ShardState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A replica whose files were damaged while its node was down, among two that are healthy. */
@Tag("B040")
class DamagedReplicaTest {
  private static final Pattern DAMAGED_LOG =
      Pattern.compile(
          "log_(inprogress_)?[0-9].*(were committed|log_(inprogress_)?[0-9-]+ follows)");

  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int ROWS = 20_003;
  private static final String NAME = "a";

  @TempDir Path root;

  private TestMembers members;

  private enum Damage {
    FLIPPED_BYTE,
    MISSING_FILE,
    MANIFEST_FLIPPED,
    MANIFEST_MISSING,
    ALL_FILES_MISSING
  }

  @BeforeEach
  void threeReplicasWithCheckpoints() throws Exception {
    members = new TestMembers(root);
    for (int i = 1; i <= 3; i++) {
      members.start(i);
    }
    Member first = members.member(1);
    TestMembers.await(
        "three voters of the metadata group",
        () -> first.metaHost().groups().getFirst().voters().size() == 3);
    first.cluster().create(NAME, Points.SCHEMA, 1, 3, TIMEOUT);
    for (int i = 2; i <= 3; i++) {
      members.member(i).cluster().refresh(TIMEOUT);
    }
    for (int row = 0; row < ROWS - 3; row += 100) {
      Points.put(members, 3, NAME, row, 100);
    }
    for (int i = 1; i <= 3; i++) {
      int node = i;
      TestMembers.await("a log without its beginning", () -> isPurged(node));
    }
    for (int row = ROWS - 3; row < ROWS; row++) {
      Points.put(members, 3, NAME, row, 1); // behind all checkpoints
    }
  }

  @AfterEach
  void close() {
    members.close();
  }

  @ParameterizedTest
  @EnumSource
  void theLeaderOfBeforeIsRepairedFromAPeerAndVotesAgain(Damage damage) throws Exception {
    int victim = leader();
    members.stop(victim);
    damage(victim, damage);
    Points.put(members, survivors(victim), NAME, ROWS, 100);

    Member back = members.start(victim);
    TestMembers.await("ready again", () -> back.health().ready());
    assertThat(back.repairs().repaired()).isEqualTo(1);
    assertThat(back.repairs().open()).isZero();
    assertThat(Points.count(back, NAME, ReadMode.STRONG)).isEqualTo(ROWS + 100);
    checkDigests(back);
    int others = leader();
    assertThat(status(members.member(others)).orElseThrow().voters())
        .extracting(peer -> peer.id())
        .contains(back.self().id().toString());

    // It counts for a majority, and what it has got survives a restart.
    int idle = 6 - victim - (others == victim ? next(victim) : others);
    members.stop(idle);
    Points.put(members, new int[] {6 - victim - idle, victim}, NAME, ROWS + 100, 100);
    members.stop(victim);
    Member again = members.start(victim);
    TestMembers.await("ready after a restart", () -> again.health().ready());
    assertThat(again.repairs().repaired()).isZero();
    assertThat(Points.count(again, NAME, ReadMode.STRONG)).isEqualTo(ROWS + 200);
  }

  @Test
  void whatHasTravelledBeforeTheNodeStoppedDoesNotTravelAgain() throws Exception {
    int victim = leader();
    members.stop(victim);
    damage(victim, Damage.ALL_FILES_MISSING);
    members.filesOpened.clear();
    members.filesLeft.set(2);
    Member stuck = members.start(victim);
    TestMembers.await("a round in vain", () -> stuck.repairs().failedRounds() > 0);
    assertThat(stuck.health().ready()).isFalse();
    assertThat(stuck.health().causes())
        .anySatisfy(
            cause ->
                assertThat(cause)
                    .contains("files of the newest checkpoint are missing or corrupt")
                    .contains("no healthy peer can repair it yet")
                    .contains("no more files travel"));
    members.stop(victim);
    assertThat(members.filesOpened).hasSize(2);

    members.filesLeft.set(Integer.MAX_VALUE);
    Member back = members.start(victim);
    TestMembers.await("ready again", () -> back.health().ready());
    checkDigests(back);
    assertThat(new HashSet<>(members.filesOpened)).hasSameSizeAs(members.filesOpened);
  }

  @Test
  void oneHealthyReplicaIsEnoughThoughNobodyLeads() throws Exception {
    int victim = leader();
    int helper = next(victim);
    int other = 6 - victim - helper;
    for (int i = 1; i <= 3; i++) {
      members.stop(i);
    }
    damage(victim, Damage.FLIPPED_BYTE);
    // Two of three make a majority of the metadata group; of the shard only one is whole.
    Thread starting = Thread.ofVirtual().start(() -> startQuietly(victim));
    Member whole = members.start(helper);
    starting.join();
    Member damaged = members.member(victim);
    TestMembers.await(
        "ready again, from a peer that cannot lead alone", () -> damaged.health().ready());
    TestMembers.await("the helper is ready too", () -> whole.health().ready());
    assertThat(Points.count(damaged, NAME, ReadMode.STRONG)).isEqualTo(ROWS);
    members.start(other);
    checkDigests(damaged);
  }

  @Test
  void aDamagedLogIsNotRepaired() throws Exception {
    int victim = leader();
    int rows = ROWS;
    while (!logGoesOnBehindTheCheckpoint(members.member(victim))) {
      Points.put(members, 3, NAME, rows++, 1);
    }
    members.stop(victim);
    try (Stream<Path> all = Files.walk(members.folder(victim).resolve("shards/raft/groups"))) {
      for (Path log : all.filter(f -> f.getFileName().toString().startsWith("log_")).toList()) {
        byte[] bytes = Files.readAllBytes(log);
        bytes[20] ^= 1; // in its first entry
        Files.write(log, bytes);
      }
    }
    damage(victim, Damage.FLIPPED_BYTE); // even where the checkpoint is damaged too
    Member back = members.start(victim);
    TestMembers.await("the damage is known", () -> status(back).isPresent());
    GroupStatus status = status(back).orElseThrow();
    assertThat(status.damaged()).isTrue();
    assertThat(status.repairIndex()).isEmpty();
    // By what the log is known to have held, or by the file after it: whichever it comes to first.
    assertThat(status.failure().orElseThrow()).containsPattern(DAMAGED_LOG);
    TestMembers.await(
        "health names it",
        () -> back.health().causes().stream().anyMatch(cause -> DAMAGED_LOG.matcher(cause).find()));
    assertThat(back.repairs().open()).isZero();
    assertThat(Points.count(members.member(next(victim)), NAME, ReadMode.STRONG)).isEqualTo(rows);
  }

  /** By entries of rows, also after a checkpoint that is just being written. */
  private boolean logGoesOnBehindTheCheckpoint(Member member) {
    ShardState state = member.replicas().state(shard(member)).orElseThrow();
    return !state.checkpointing() && state.checkpointIndex() + 3 < state.index();
  }

  // ---- damage

  private void damage(int victim, Damage damage) throws IOException {
    Path folder = members.folder(victim).resolve("shards").resolve(shard().toString());
    switch (damage) {
      case FLIPPED_BYTE -> flip(newest(folder, name -> name.contains(".vectors.")));
      case MISSING_FILE -> Files.delete(newest(folder, name -> name.endsWith(".ids")));
      case MANIFEST_FLIPPED -> flip(newest(folder, name -> name.startsWith("manifest.")));
      case MANIFEST_MISSING -> Files.delete(newest(folder, name -> name.startsWith("manifest.")));
      case ALL_FILES_MISSING -> {
        for (Path file : files(folder)) {
          if (!file.getFileName().toString().startsWith("manifest.")) {
            Files.delete(file);
          }
        }
      }
    }
  }

  private static void flip(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 1;
    Files.write(file, bytes);
  }

  /** The last by name of the longest names: of numbers the highest. */
  private static Path newest(Path folder, Predicate<String> name) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile)
          .filter(f -> !f.toString().contains("quarantine"))
          .filter(f -> name.test(f.getFileName().toString()))
          .max(
              Comparator.<Path>comparingInt(f -> f.getFileName().toString().length())
                  .thenComparing(f -> f.getFileName().toString()))
          .orElseThrow();
    }
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.filter(Files::isRegularFile).toList();
    }
  }

  // ---- the members

  private void startQuietly(int i) {
    try {
      members.start(i);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static int next(int i) {
    return i % 3 + 1;
  }

  private static int[] survivors(int victim) {
    return new int[] {next(victim), next(next(victim))};
  }

  private int leader() {
    int[] found = new int[1];
    TestMembers.await(
        "a leader",
        () -> {
          for (int i = 1; i <= 3; i++) {
            if (members.runs(i)
                && status(members.member(i)).filter(s -> s.leaderReady()).isPresent()) {
              found[0] = i;
              return true;
            }
          }
          return false;
        });
    return found[0];
  }

  private ShardId shard() {
    for (int i = 1; i <= 3; i++) {
      if (members.runs(i)) {
        return shard(members.member(i));
      }
    }
    return lastShard;
  }

  private ShardId lastShard;

  private ShardId shard(Member member) {
    lastShard = member.cluster().map().requireCollection(NAME).shards().getFirst().id();
    return lastShard;
  }

  private Optional<GroupStatus> status(Member member) {
    return member.shardHost().status(new GroupId(shard(member).value()));
  }

  private boolean isPurged(int node) {
    try (Stream<Path> files = Files.walk(members.folder(node).resolve("shards/raft/groups"))) {
      List<String> names =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.startsWith("log_"))
              .toList();
      return !names.isEmpty()
          && names.stream().noneMatch(n -> n.startsWith("log_0-") || n.endsWith("_inprogress_0"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void checkDigests(Member asker) {
    ShardMap.Shard shard = asker.cluster().map().requireCollection(NAME).shards().getFirst();
    TestMembers.await(
        "digests at one index",
        () -> {
          List<ReplicaDigest> digests = new ArrayList<>();
          for (NodeId node : shard.replicas()) {
            digests.add(asker.cluster().digest(node, shard.id(), 0, TIMEOUT));
          }
          Set<Long> indexes = new HashSet<>();
          digests.forEach(digest -> indexes.add(digest.index()));
          if (indexes.size() == 1) {
            assertThat(digests)
                .hasSize(3)
                .allSatisfy(d -> assertThat(d.digest()).isEqualTo(digests.getFirst().digest()));
          }
          return indexes.size() == 1;
        });
  }
}
