// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.flight.internal.NotLeaderException;
import io.sagitta.it.testkit.FlippedBit;
import io.sagitta.model.ReadMode;
import io.sagitta.model.ShardId;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.RaftHost.GroupStatus;
import io.sagitta.shard.ShardState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.function.IntConsumer;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;

/**
 * Replicas whose files were damaged while their node was down or ran, among two that are healthy.
 * One cluster for all tests, since its start takes longest: each begins and ends with three healthy
 * nodes. For each kind of damage there is a collection of one shard.
 */
@Tag("B040")
@TestInstance(Lifecycle.PER_CLASS)
class DamagedReplicaTest {
  private static final Pattern DAMAGED_LOG =
      Pattern.compile(
          "log_(inprogress_)?[0-9].*(were committed|log_(inprogress_)?[0-9-]+ follows)");

  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int BATCH = 100;

  /** Twice the entries that a log keeps behind a checkpoint. */
  private static final int BATCHES = 128;

  private static final int[] ALL = {1, 2, 3};

  @TempDir static Path root;

  private TestMembers members;
  private final Map<Damage, ShardId> shards = new EnumMap<>(Damage.class);
  private final Map<Damage, Integer> rows = new EnumMap<>(Damage.class);

  private enum Damage {
    FLIPPED_BYTE,
    MISSING_FILE,
    MANIFEST_FLIPPED,
    MANIFEST_MISSING,
    ALL_FILES_MISSING;

    String collection() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @BeforeAll
  void threeReplicasWithCheckpoints() throws Exception {
    members = new TestMembers(root);
    for (int i : ALL) {
      members.start(i);
    }
    Member first = members.member(1);
    TestMembers.await(
        "three voters of the metadata group",
        () -> first.metaHost().groups().getFirst().voters().size() == 3);
    for (Damage damage : Damage.values()) {
      first.cluster().create(damage.collection(), Points.SCHEMA, 1, 3, TIMEOUT);
      shards.put(
          damage,
          first.cluster().map().requireCollection(damage.collection()).shards().getFirst().id());
      rows.put(damage, BATCHES * BATCH);
    }
    for (int i : ALL) {
      members.member(i).cluster().refresh(TIMEOUT);
    }
    for (Damage damage : Damage.values()) {
      IntStream.range(0, BATCHES)
          .parallel()
          .forEach(b -> Points.put(members, ALL, damage.collection(), (long) b * BATCH, BATCH));
    }
    for (Damage damage : Damage.values()) {
      for (int i : ALL) {
        TestMembers.await("a log without its beginning", () -> isPurged(i, damage));
      }
      for (int row = 0; row < 3; row++) {
        put(damage, 1, ALL); // behind all checkpoints
      }
    }
  }

  @BeforeEach
  void allAreWell() {
    for (int i : ALL) {
      TestMembers.await("ready", () -> members.member(i).health().ready());
    }
  }

  @AfterAll
  void close() {
    members.close();
  }

  @Test
  void theLeaderOfBeforeIsRepairedFromAPeerAndVotesAgainWhateverWasDamaged() throws Exception {
    int victim = 2;
    for (Damage damage : Damage.values()) {
      moveLead(damage, victim);
    }
    members.stop(victim);
    for (Damage damage : Damage.values()) {
      damage(victim, damage);
      put(damage, 100, 1, 3);
    }

    Member back = members.start(victim);
    TestMembers.await("ready again", () -> back.health().ready());
    assertThat(back.repairs().repaired()).isEqualTo(Damage.values().length);
    assertThat(back.repairs().open()).isZero();
    for (Damage damage : Damage.values()) {
      assertCount(back, damage);
      checkReplicas(back, damage);
      assertThat(status(members.member(leader(damage)), damage).orElseThrow().voters())
          .extracting(peer -> peer.id())
          .contains(back.self().id().toString());
    }

    // It counts for a majority, and what it has got survives a restart.
    members.stop(3);
    for (Damage damage : Damage.values()) {
      put(damage, 100, 1, victim);
    }
    members.start(3);
    members.stop(victim);
    Member again = members.start(victim);
    TestMembers.await("ready after a restart", () -> again.health().ready());
    assertThat(again.repairs().repaired()).isZero();
    for (Damage damage : Damage.values()) {
      assertCount(again, damage);
    }
  }

  @Test
  void whatHasTravelledBeforeTheNodeStoppedDoesNotTravelAgain() throws Exception {
    Damage damage = Damage.ALL_FILES_MISSING;
    int victim = leader(damage);
    members.stop(victim);
    damage(victim, damage);
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
    checkReplicas(back, damage);
    assertThat(new HashSet<>(members.filesOpened)).hasSameSizeAs(members.filesOpened);
  }

  @Test
  void oneHealthyReplicaIsEnoughThoughNobodyLeads() throws Exception {
    Damage damage = Damage.FLIPPED_BYTE;
    int victim = 1;
    int helper = 2;
    atOnce(ALL, members::stop);
    damage(victim, damage);
    // Two of three make a majority of the metadata group; of the shard only one is whole.
    atOnce(new int[] {victim, helper}, this::startQuietly);
    for (int i : new int[] {victim, helper}) {
      Member member = members.member(i);
      TestMembers.await(
          "ready again, from a peer that cannot lead alone", () -> member.health().ready());
    }
    assertCount(members.member(victim), damage);
    assertThat(members.member(victim).repairs().repaired()).isEqualTo(1);
    members.start(3);
    checkReplicas(members.member(victim), damage);
  }

  @Test
  void aDamagedLogIsNotRepairedButItsVeryFilesAreTakenBack() throws Exception {
    Damage damage = Damage.FLIPPED_BYTE;
    int victim = leader(damage);
    while (!logGoesOnBehindTheCheckpoint(members.member(victim), damage)) {
      put(damage, 1, ALL);
    }
    members.stop(victim);
    Map<Path, byte[]> whole = new HashMap<>();
    for (Path log : logs(victim, damage)) {
      byte[] bytes = Files.readAllBytes(log);
      whole.put(log, bytes.clone());
      bytes[20] ^= 1; // in its first entry
      Files.write(log, bytes);
    }
    damage(victim, damage); // even where the checkpoint is damaged too
    Member back = members.start(victim);
    TestMembers.await("the damage is known", () -> status(back, damage).isPresent());
    GroupStatus status = status(back, damage).orElseThrow();
    assertThat(status.damaged()).isTrue();
    assertThat(status.repairIndex()).isEmpty();
    // By what the log is known to have held, or by the file after it: whichever it comes to first.
    assertThat(status.failure().orElseThrow()).containsPattern(DAMAGED_LOG);
    TestMembers.await(
        "health names it",
        () -> back.health().causes().stream().anyMatch(cause -> DAMAGED_LOG.matcher(cause).find()));
    assertThat(back.repairs().open()).isZero();
    assertCount(members.member(next(victim)), damage);
    assertThat(odd(back, damage, "damaged"))
        .hasSize(3)
        .allSatisfy(cause -> assertThat(cause).containsPattern(DAMAGED_LOG));

    members.stop(victim);
    for (Map.Entry<Path, byte[]> log : whole.entrySet()) {
      Files.write(log.getKey(), log.getValue());
    }
    Member mended = members.start(victim);
    TestMembers.await("ready again", () -> mended.health().ready());
    assertThat(mended.repairs().repaired()).as("its checkpoint was damaged as well").isEqualTo(1);
    checkReplicas(mended, damage);
  }

  @Test
  void damageOfALeaderThatRunsIsFoundByWhoeverVerifiesAndRepairedWithoutARestart()
      throws Exception {
    Damage damage = Damage.MISSING_FILE;
    int victim = 3;
    Member member = members.member(victim);
    long repaired = member.repairs().repaired();
    moveLead(damage, victim);
    put(damage, 100, ALL);
    assertThat(member.scrub().found()).isZero();
    damage(victim, damage);
    TestMembers.await(
        "verify finds the damage", // files just read whole are not read again at once
        () -> {
          TestMembers.verify(members.member(1), damage.collection());
          return member.scrub().found() > 0;
        });
    put(damage, 100, ALL); // another leads, or will
    TestMembers.await("repaired", () -> member.repairs().repaired() > repaired);
    TestMembers.await("ready again", () -> member.health().ready());
    assertThat(member.scrub().found()).isEqualTo(1);
    assertCount(member, damage);
    checkReplicas(member, damage);
    moveLead(damage, victim);
    put(damage, 100, ALL);
  }

  @Test
  void aReplicaThatCannotApplyForDamagedFilesIsRepairedWithoutARestart() throws Exception {
    Damage damage = Damage.MANIFEST_MISSING;
    int victim = 3;
    Member member = members.member(victim);
    long repaired = member.repairs().repaired();
    Path ids =
        newest(
            members.folder(victim).resolve("shards").resolve(shards.get(damage).toString()),
            name -> name.endsWith(".ids"));
    try (FileChannel channel = FileChannel.open(ids, StandardOpenOption.WRITE)) {
      channel.truncate(0); // as a disk that cannot read it any more: mapped pages are gone
    }
    for (int row = 0; row < BATCHES * BATCH; row += BATCH) {
      Points.put(members, ALL, damage.collection(), row, BATCH); // of ids that are there
    }
    TestMembers.await("repaired", () -> member.repairs().repaired() > repaired);
    TestMembers.await("ready again", () -> member.health().ready());
    assertCount(member, damage);
    checkReplicas(member, damage);
  }

  /** By entries of rows, also after a checkpoint that is just being written. */
  private boolean logGoesOnBehindTheCheckpoint(Member member, Damage damage) {
    ShardState state = member.replicas().state(shards.get(damage)).orElseThrow();
    return !state.checkpointing() && state.checkpointIndex() + 3 < state.index();
  }

  // ---- damage

  private void damage(int victim, Damage damage) throws IOException {
    Path folder = members.folder(victim).resolve("shards").resolve(shards.get(damage).toString());
    switch (damage) {
      case FLIPPED_BYTE ->
          FlippedBit.inTheMiddleOf(newest(folder, name -> name.contains(".vectors.")));
      case MISSING_FILE -> Files.delete(newest(folder, name -> name.endsWith(".ids")));
      case MANIFEST_FLIPPED ->
          FlippedBit.inTheMiddleOf(newest(folder, name -> name.startsWith("manifest.")));
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

  /** The last by name of the longest names: of numbers the highest. */
  private static Path newest(Path folder, Predicate<String> name) throws IOException {
    return files(folder).stream()
        .filter(f -> name.test(f.getFileName().toString()))
        .max(
            Comparator.<Path>comparingInt(f -> f.getFileName().toString().length())
                .thenComparing(f -> f.getFileName().toString()))
        .orElseThrow();
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.filter(Files::isRegularFile).toList();
    }
  }

  private List<Path> logs(int node, Damage damage) throws IOException {
    Path group =
        members.folder(node).resolve("shards/raft/groups").resolve(shards.get(damage).toString());
    try (Stream<Path> all = Files.walk(group)) {
      return all.filter(f -> f.getFileName().toString().startsWith("log_")).toList();
    }
  }

  private boolean isPurged(int node, Damage damage) {
    try {
      List<Path> logs = logs(node, damage);
      return !logs.isEmpty()
          && logs.stream()
              .map(log -> log.getFileName().toString())
              .noneMatch(name -> name.startsWith("log_0-") || name.endsWith("_inprogress_0"));
    } catch (IOException | UncheckedIOException e) {
      return false; // it is just being purged
    }
  }

  // ---- the members

  private void put(Damage damage, int count, int... nodes) {
    Points.put(members, nodes, damage.collection(), rows.get(damage), count);
    rows.merge(damage, count, Integer::sum);
  }

  /** By a strong read, which needs a leader; the metadata leader may just be moving the lead. */
  private void assertCount(Member asked, Damage damage) {
    long[] count = new long[1];
    TestMembers.await(
        "a strong read",
        () -> {
          try {
            count[0] = Points.count(asked, damage.collection(), ReadMode.STRONG);
            return true;
          } catch (CompletionException e) {
            if (e.getCause() instanceof NotLeaderException) {
              return false;
            }
            throw e;
          }
        });
    assertThat(count[0]).isEqualTo(rows.get(damage).longValue());
  }

  private void startQuietly(int i) {
    try {
      members.start(i);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void atOnce(int[] nodes, IntConsumer act) {
    IntStream.of(nodes).parallel().forEach(act);
  }

  private static int next(int i) {
    return i % 3 + 1;
  }

  private int leader(Damage damage) {
    int[] found = new int[1];
    TestMembers.await(
        "a leader",
        () -> {
          for (int i : ALL) {
            if (members.runs(i)
                && status(members.member(i), damage).filter(s -> s.leaderReady()).isPresent()) {
              found[0] = i;
              return true;
            }
          }
          return false;
        });
    return found[0];
  }

  private void moveLead(Damage damage, int heir) {
    TestMembers.await(
        "the heir leads",
        () -> {
          int leader = leader(damage);
          if (leader != heir) {
            members
                .member(leader)
                .shardHost()
                .transferLeadership(
                    new GroupId(shards.get(damage).value()),
                    Optional.of(members.member(heir).self().id().toString()),
                    TIMEOUT)
                .exceptionally(refused -> null)
                .join();
          }
          return leader == heir;
        });
  }

  private Optional<GroupStatus> status(Member member, Damage damage) {
    return member.shardHost().status(new GroupId(shards.get(damage).value()));
  }

  // ---- verify

  private static void checkReplicas(Member asker, Damage damage) {
    TestMembers.checkReplicas(asker, damage.collection());
  }

  /**
   * That one replica is odd, whoever is asked, and the two others are equal.
   *
   * @return why the odd one is, once for each that was asked
   */
  private List<String> odd(Member odd, Damage damage, String verdict) {
    List<String> causes = new ArrayList<>();
    for (int i : ALL) {
      JsonNode shard = TestMembers.verify(members.member(i), damage.collection());
      assertThat(shard.path("equal").asBoolean(true)).as(shard.toString()).isFalse();
      assertThat(shard.path("replicas")).hasSize(3);
      for (JsonNode replica : shard.path("replicas")) {
        boolean its = replica.path("node").textValue().equals(odd.name());
        assertThat(replica.path("verdict").textValue())
            .as(shard.toString())
            .isEqualTo(its ? verdict : "equal");
        if (its) {
          causes.add(replica.path("cause").textValue());
        }
      }
    }
    return causes;
  }
}
