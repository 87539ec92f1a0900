// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.NodeId;
import io.sagitta.model.ReadMode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorStorage;
import io.sagitta.node.NodeConfig.HostPort;
import io.sagitta.node.NodeConfig.Membership;
import io.sagitta.node.placement.ClusterState;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.RaftHost.GroupStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members without ports for clients: identity, metadata, Raft and shards together. */
class MemberTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  @TempDir Path root;

  @Test
  void oneNodeKeepsWhatItWasGivenOverARestart() throws Exception {
    try (TestMembers members = new TestMembers(root)) {
      Member first = members.start(1);
      assertThat(first.name()).isEqualTo("n1");
      first.cluster().create("a", Points.SCHEMA, 1, 0, TIMEOUT);
      Points.put(members, 1, "a", 0, 100);
      assertThat(Points.search(first, "a", 7.2f, 3, ReadMode.STRONG)).containsExactly(7L, 8L, 6L);
      TestMembers.await("ready", () -> first.health().ready());
      members.stop(1);

      Member again = members.start(1);
      TestMembers.await("ready again", () -> again.health().ready());
      assertThat(Points.count(again, "a", ReadMode.STRONG)).isEqualTo(100);
      assertThat(Points.search(again, "a", 7.2f, 3, ReadMode.STRONG)).containsExactly(7L, 8L, 6L);
    }
  }

  /** Case B038, and the limit of case B048. */
  @Test
  void aDroppedCollectionIsGoneAndItsNameIsFree() throws Exception {
    try (TestMembers members = new TestMembers(root)) {
      Member member = members.start(1);
      for (int cycle = 0; cycle < 3; cycle++) {
        member.cluster().create("a", Points.SCHEMA, 1, 0, TIMEOUT);
        assertThat(Points.count(member, "a", ReadMode.STRONG)).isZero();
        Points.put(members, 1, "a", 0, 10);
        ShardMap old = member.cluster().map();
        member.cluster().drop("a", TIMEOUT);
        refuses(ErrorCode.NOT_FOUND, () -> member.cluster().drop("a", TIMEOUT));
        for (ShardMap.Shard shard : old.requireCollection("a").shards()) {
          assertThat(members.folder(1).resolve("shards/" + shard.id())).doesNotExist();
        }
      }
      member.cluster().create("full", Points.SCHEMA, 16, 0, TIMEOUT);
      refuses(ErrorCode.LIMIT, () -> member.cluster().create("over", Points.SCHEMA, 1, 0, TIMEOUT));
      refuses(
          ErrorCode.ALREADY_EXISTS,
          () -> member.cluster().create("full", Points.SCHEMA, 1, 0, TIMEOUT));
      refuses(
          ErrorCode.INVALID_ARGUMENT,
          () -> member.cluster().create("../x", Points.SCHEMA, 1, 0, TIMEOUT));
      refuses(
          ErrorCode.INVALID_ARGUMENT,
          () -> member.cluster().create("b", Points.SCHEMA, 1, 3, TIMEOUT));
    }
  }

  @Test
  void threeNodesGrowMoveLeadersAndLoseOne() throws Exception {
    try (TestMembers members = new TestMembers(root)) {
      Member first = members.start(1);
      first.cluster().create("early", Points.SCHEMA, 1, 0, TIMEOUT);
      Points.put(members, 1, "early", 0, 50);
      Member second = members.start(2);
      Member third = members.start(3);
      assertThat(third.name()).isEqualTo("n3");
      TestMembers.await(
          "three voters of the metadata group",
          () -> first.metaHost().groups().getFirst().voters().size() == 3);
      TestMembers.await(
          "the early collection has three replicas",
          () -> Stream.of(first, second, third).anyMatch(m -> voters(m, "early") == 3));
      for (Member member : List.of(first, second, third)) {
        TestMembers.await("ready", () -> member.health().ready());
        assertThat(Points.count(member, "early", ReadMode.STRONG)).isEqualTo(50);
      }

      second.cluster().create("late", Points.SCHEMA, 1, 0, TIMEOUT);
      third.cluster().refresh(TIMEOUT);
      first.cluster().refresh(TIMEOUT);
      Points.put(members, 3, "late", 0, 10);
      assertThat(Points.search(third, "late", 3.1f, 2, ReadMode.STRONG)).containsExactly(3L, 4L);
      TestMembers.checkReplicas(first, "late");

      moveLead(members, "late", third);
      members.stop(1);
      second.cluster().refresh(TIMEOUT);
      TestMembers.await("ready without n1", () -> second.health().ready());
      assertThat(Points.count(second, "late", ReadMode.STRONG)).isEqualTo(10);
      JsonNode shard = TestMembers.verify(second, "late");
      assertThat(shard.path("equal").isNull()).as(shard.toString()).isTrue();
      for (JsonNode replica : shard.path("replicas")) {
        boolean away = replica.path("node").textValue().equals("n1");
        assertThat(replica.path("verdict").textValue()).isEqualTo(away ? "unreachable" : "equal");
      }
    }
  }

  @Test
  void vectorsAreKeptInMemoryOnceNoNodesSoftwareIsOlderThanThat() throws Exception {
    VectorField plain = (VectorField) Points.SCHEMA.fields().getFirst();
    CollectionSchema held =
        new CollectionSchema(
            1,
            Points.SCHEMA.idType(),
            List.of(
                new VectorField(
                    1,
                    "v",
                    plain.type(),
                    plain.dimension(),
                    plain.metric(),
                    false,
                    VectorStorage.MEMORY),
                Points.SCHEMA.fields().get(1)));
    try (TestMembers members = new TestMembers(root)) {
      members.support(1, 1);
      members.support(2, 1);
      Member old = members.start(1);
      members.start(2);
      for (int asked : List.of(1, 2)) {
        assertThatThrownBy(
                () -> members.member(asked).cluster().create("held", held, 1, 1, TIMEOUT))
            .isInstanceOfSatisfying(
                SagittaException.class,
                e -> assertThat(e.code()).isEqualTo(ErrorCode.UNIMPLEMENTED))
            .hasMessageContaining("'v'")
            .hasMessageContaining("'storage' needs feature level 2, the cluster is at 1");
      }
      old.cluster().create("plain", Points.SCHEMA, 1, 1, TIMEOUT);

      // One of two is not every node.
      members.stop(2);
      members.support(2, ClusterState.FEATURE_LEVEL);
      Member first = members.start(2);
      TestMembers.await("ready", () -> first.health().ready());
      assertThatThrownBy(() -> first.cluster().create("held", held, 1, 1, TIMEOUT))
          .hasMessageContaining("the cluster is at 1");
      members.stop(1);
      members.support(1, ClusterState.FEATURE_LEVEL);
      Member second = members.start(1);
      TestMembers.await("ready", () -> second.health().ready());
      TestMembers.await(
          "the level rises",
          () -> {
            try {
              second.cluster().create("held", held, 1, 1, TIMEOUT);
              return true;
            } catch (SagittaException e) {
              assertThat(e.code()).isEqualTo(ErrorCode.UNIMPLEMENTED);
              return false;
            }
          });
      assertThat(second.cluster().map().requireCollection("held").schema()).isEqualTo(held);

      members.stop(2);
      members.support(2, 1);
      assertThatThrownBy(() -> members.start(2)).hasMessageContaining("feature level 1");
    }
  }

  /** Case B034: what a node has missed is purged by then, so it comes by install. */
  @Test
  void aNodeThatWasAwayAndANewOneCatchUpByInstall() throws Exception {
    try (TestMembers members = new TestMembers(root)) {
      Member first = members.start(1);
      first.cluster().create("a", Points.SCHEMA, 1, 0, TIMEOUT);
      long rows = 0;
      for (; rows < 40_000; rows += 100) {
        Points.put(members, 1, "a", rows, 100);
      }
      TestMembers.await("the log was purged", () -> isPurged(first, "a"));
      members.start(2);
      Member third = members.start(3);
      TestMembers.await("three replicas", () -> voters(first, "a") == 3);
      TestMembers.await("ready", () -> third.health().ready());
      TestMembers.await("an install", () -> third.shardHost().metrics().installsReceived() > 0);
      TestMembers.checkReplicas(first, "a");

      members.stop(3);
      for (; rows < 80_000; rows += 100) {
        Points.put(members, 2, "a", rows, 100);
      }
      TestMembers.await("the log was purged", () -> isPurged(first, "a"));
      Member back = members.start(3);
      TestMembers.await("ready again", () -> back.health().ready());
      assertThat(Points.count(back, "a", ReadMode.STRONG)).isEqualTo(rows);
      TestMembers.await("another", () -> back.shardHost().metrics().installsReceived() > 0);
      TestMembers.checkReplicas(first, "a");
    }
  }

  @Test
  void aFolderThatIsNotWhatTheClusterKnowsIsRefused() throws Exception {
    try (TestMembers members = new TestMembers(root)) {
      Member first = members.start(1);
      members.start(2);
      members.start(3);
      TestMembers.await(
          "three voters of the metadata group",
          () -> first.metaHost().groups().getFirst().voters().size() == 3);
      members.stop(3);
      copy(members.folder(3), root.resolve("backup"));
      members.start(3);
      members.stop(3);

      Membership join = new Membership.Join(List.of(address(first)));
      assertThatThrownBy(() -> members.start(3, root.resolve("backup"), join))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("n3 has gone back: its start counter is 2");
      assertThatThrownBy(() -> members.start(3, root.resolve("empty"), join))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("is that of n3")
          .hasMessageContaining("wiped");
      assertThat(members.start(3).name()).isEqualTo("n3");
    }
  }

  // ---- helpers -------------------------------------------------------------------------------

  private static HostPort address(Member member) {
    return new HostPort(member.self().host(), member.self().internalPort());
  }

  private static void refuses(ErrorCode code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            SagittaException.class, e -> assertThat(e.code()).as(e.getMessage()).isEqualTo(code));
  }

  private static ShardId shard(Member member, String name) {
    return member.cluster().map().requireCollection(name).shards().getFirst().id();
  }

  private static Optional<GroupStatus> status(Member member, String name) {
    return member.shardHost().status(new GroupId(shard(member, name).value()));
  }

  private static int voters(Member member, String name) {
    return status(member, name).map(status -> status.voters().size()).orElse(0);
  }

  /** Whether the log is shorter than what was written: each of these tests writes a megabyte. */
  private static boolean isPurged(Member member, String name) {
    return member
            .replicas()
            .state(shard(member, name))
            .filter(state -> state.checkpointIndex() > 100)
            .isPresent()
        && status(member, name).orElseThrow().logBytes() < 512 << 10;
  }

  private static void moveLead(TestMembers members, String name, Member heir) {
    NodeId id = heir.self().id();
    TestMembers.await(
        "the heir leads",
        () -> {
          for (int i = 1; i <= 3; i++) {
            Member member = members.member(i);
            if (status(member, name).filter(GroupStatus::leaderReady).isPresent()) {
              if (member.self().id().equals(id)) {
                return true;
              }
              member
                  .shardHost()
                  .transferLeadership(
                      new GroupId(shard(member, name).value()),
                      Optional.of(id.toString()),
                      Duration.ofSeconds(5))
                  .exceptionally(refused -> null)
                  .join();
            }
          }
          return false;
        });
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path path : all.toList()) {
        Files.copy(path, to.resolve(from.relativize(path).toString()));
      }
    }
  }
}
