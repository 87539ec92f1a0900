// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.ReadMode;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One member and three, without ports for clients: identity, metadata, Raft and shards together.
 */
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

  @Test
  void threeNodesReplicateGrowAndSurviveALeader() throws Exception {
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
          "the early collection has grown to three replicas",
          () ->
              voters(first, "early") == 3
                  || voters(second, "early") == 3
                  || voters(third, "early") == 3);
      for (Member member : new Member[] {first, second, third}) {
        TestMembers.await("ready", () -> member.health().ready());
        assertThat(Points.count(member, "early", ReadMode.STRONG)).isEqualTo(50);
      }

      second.cluster().create("late", Points.SCHEMA, 1, 0, TIMEOUT);
      third.cluster().refresh(TIMEOUT);
      first.cluster().refresh(TIMEOUT);
      Points.put(members, 3, "late", 0, 10);
      assertThat(Points.search(third, "late", 3.1f, 2, ReadMode.STRONG)).containsExactly(3L, 4L);

      members.stop(1);
      second.cluster().refresh(TIMEOUT);
      TestMembers.await("ready without n1", () -> second.health().ready());
    }
  }

  private static int voters(Member member, String name) {
    var shard = member.cluster().map().requireCollection(name).shards().getFirst().id();
    return member
        .shardHost()
        .status(new io.sagitta.raft.GroupId(shard.value()))
        .map(status -> status.voters().size())
        .orElse(0);
  }
}
