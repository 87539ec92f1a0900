// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.process.ClusterProcesses.Plan;
import io.sagitta.ops.bench.process.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Replicas that cannot be brought up by the log alone, since its beginning has been given back. */
@Timeout(value = 14, unit = TimeUnit.MINUTES)
class InstallIT {
  private static final int SHARDS = 2;
  private static final Duration STOP = Duration.ofSeconds(30);
  private static final Pattern LOG_FILE = Pattern.compile("log_(?:inprogress_)?(\\d+)(?:-\\d+)?");

  /** The log is given back after every few entries. */
  private static final Map<String, String> SHORT_LOG =
      Map.of("log.checkpoint_bytes", "64KiB", "log.segment_bytes", "64KiB");

  private ClusterProcesses start(int nodes) throws InterruptedException {
    return ClusterProcesses.start(
        Plan.in(ClusterProcesses.temporaryFolder("install")).withSettings(SHORT_LOG), nodes);
  }

  @Test
  @Tag("B034")
  void aNodeThatMissedPurgedLogIsBroughtUpByInstall() throws Exception {
    try (ClusterProcesses cluster = start(3);
        AcknowledgedPoints points =
            new AcknowledgedPoints(cluster.endpoints(), SHARDS, OptionalInt.of(3))) {
      try {
        points.upsert(0, 2_000, 1);
        NodeProcess away = cluster.node("n3");
        Eventually.is("replicas agree", () -> points.replicasAgree(3));
        long had = lastIndex(points, "n3");
        away.stop(STOP);
        points.upsert(1_000, 21_000, 2);
        points.delete(500, 800);
        for (String stayed : List.of("n1", "n2")) {
          Eventually.is(
              "the log of " + stayed + " begins after " + had,
              () -> firstLogIndex(cluster.node(stayed)) > had + 1);
        }

        away.start();
        cluster.awaitReady();
        Eventually.is("replicas agree again", () -> points.replicasAgree(3));
        points.assertAllThere();
        assertVotes(points, "n3");
        assertThat(installs(away, "received")).isGreaterThanOrEqualTo(SHARDS);

        // Its own log is given back now, and what was installed survives a kill.
        long installed = checkpoint(points, "n3");
        points.upsert(20_000, 30_000, 3);
        points.delete(0, 100);
        Eventually.is("n3 writes a checkpoint", () -> checkpoint(points, "n3") > installed);
        long sent = installs(cluster.node("n1"), "sent") + installs(cluster.node("n2"), "sent");
        away.kill();
        points.upsert(30_000, 30_100, 4);
        away.start();
        cluster.awaitReady();
        Eventually.is("replicas agree after the kill", () -> points.replicasAgree(3));
        points.assertAllThere();
        assertVotes(points, "n3");
        assertThat(installs(away, "received")).as("what it had was enough").isZero();
        assertThat(installs(cluster.node("n1"), "sent") + installs(cluster.node("n2"), "sent"))
            .as("nobody goes on sending")
            .isEqualTo(sent);
      } catch (Exception | AssertionError e) {
        throw new AssertionError("files kept in " + cluster.keepFiles(), e);
      }
    }
  }

  @Test
  @Tag("B034")
  void nodesThatJoinARunningClusterGetReplicasAndCarryOnWithoutItsFounder() throws Exception {
    try (ClusterProcesses cluster = start(1);
        AcknowledgedPoints points =
            new AcknowledgedPoints(cluster.endpoints(), SHARDS, OptionalInt.empty())) {
      try {
        points.upsert(0, 10_000, 1);
        points.delete(100, 200);
        Eventually.is(
            "the founder's log no longer begins at its beginning",
            () -> firstLogIndex(cluster.node("n1")) > 1);
        cluster.add(settings -> settings).start();
        cluster.add(settings -> settings).start();
        cluster.awaitReady();
        Eventually.is("every shard has three replicas that agree", () -> points.replicasAgree(3));
        points.upsert(9_900, 10_100, 2);
        for (String joined : List.of("n2", "n3")) {
          assertThat(installs(cluster.node(joined), "received")).isGreaterThanOrEqualTo(SHARDS);
          Eventually.is("replicas of " + joined + " vote", () -> votes(points, joined));
        }
        points.assertAllThere();

        cluster.node("n1").kill();
        try (AcknowledgedPoints others = points.through(cluster.endpoints().subList(1, 3))) {
          others.upsert(10_100, 10_200, 3);
          others.assertAllThere();
        }
      } catch (Exception | AssertionError e) {
        throw new AssertionError("files kept in " + cluster.keepFiles(), e);
      }
    }
  }

  // ---- what status, metrics and files tell

  /** The highest index that a node's replicas have applied. */
  private static long lastIndex(AcknowledgedPoints points, String node) {
    long last = 0;
    for (JsonNode shard : points.shards()) {
      last = Math.max(last, AcknowledgedPoints.replica(shard, node).path("index").asLong());
    }
    return last;
  }

  /** The lowest index of a checkpoint of a node's replicas. */
  private static long checkpoint(AcknowledgedPoints points, String node) {
    long first = Long.MAX_VALUE;
    for (JsonNode shard : points.shards()) {
      JsonNode replica = AcknowledgedPoints.replica(shard, node);
      first = Math.min(first, replica.path("checkpoint_index").asLong(-1));
    }
    return first;
  }

  private static boolean votes(AcknowledgedPoints points, String node) {
    for (JsonNode shard : points.shards()) {
      String state = AcknowledgedPoints.replica(shard, node).path("state").asText();
      if (!state.equals("follower") && !state.equals("leader")) {
        return false;
      }
    }
    return true;
  }

  private static void assertVotes(AcknowledgedPoints points, String node) throws Exception {
    Eventually.is("replicas of " + node + " vote", () -> votes(points, node));
  }

  private static long installs(NodeProcess node, String direction) {
    String name = "sagitta_raft_installs_" + direction + "_total{host=\"shards\"}";
    return node.metric(name).orElseThrow(() -> new AssertionError("no metric " + name));
  }

  /** The lowest index that any of a node's shards still has in its log. */
  private static long firstLogIndex(NodeProcess node) throws IOException {
    Map<Path, Long> firstByGroup = new HashMap<>();
    Path shards = node.settings().dataFolder().resolve("shards").resolve("raft");
    try (Stream<Path> files = Files.walk(shards)) {
      for (Path file : files.toList()) {
        Matcher name = LOG_FILE.matcher(file.getFileName().toString());
        if (name.matches()) {
          firstByGroup.merge(file.getParent(), Long.parseLong(name.group(1)), Math::min);
        }
      }
    }
    assertThat(firstByGroup).as("logs in %s", shards).hasSize(SHARDS);
    return firstByGroup.values().stream().mapToLong(Long::longValue).min().orElseThrow();
  }
}
