// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.model.SagittaException;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.process.ClusterProcesses.Plan;
import io.sagitta.ops.bench.process.NodeProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Data folders on real volumes that run full. Needs root. */
@Tag("B039")
@Timeout(value = 14, unit = TimeUnit.MINUTES)
class FullDiskIT {
  private static final int MIB = 1 << 20;
  private static final int SIZE = 192;

  /** Of such a volume writes leave 5 percent. */
  private static final long LEFT_BY_WRITES = (long) SIZE * MIB / 20;

  private static final Duration STOP = Duration.ofSeconds(30);

  @BeforeEach
  void onlyWhereVolumesCanBeMade() {
    boolean possible = SmallVolumes.possible();
    assertThat(possible || System.getenv("CI") == null).as("CI must be root").isTrue();
    assumeTrue(possible, "SKIPPED: only root can mount volumes");
  }

  @Test
  void aNodeThatRunsFullRefusesWritesReadsOnDeletesOnAndTakesWritesWhenThereIsRoom()
      throws Exception {
    Path folder = ClusterProcesses.temporaryFolder("full-disk");
    try (SmallVolumes volumes = new SmallVolumes()) {
      Path volume = volumes.mount(folder.resolve("volume"), SIZE);
      Plan plan = Plan.in(folder.resolve("work")).withDataFolders(n -> volume.resolve("data"));
      try (ClusterProcesses cluster = ClusterProcesses.start(plan, 1);
          AcknowledgedPoints points =
              new AcknowledgedPoints(cluster.endpoints(), 1, OptionalInt.empty())) {
        try {
          points.upsert(0, 5_000, 1);
          Path reserve = volume.resolve("data").resolve("reserve");
          Eventually.is("space is held back", () -> Files.exists(reserve));
          volumes.fill(volume, 3 * LEFT_BY_WRITES);
          Optional<SagittaException> refused = points.upsertUntilRefused(5_000, 1_000_000, 2);
          assertThat(refused).isPresent();
          assertThat(refused.get()).hasMessageContaining("the disk is full");
          assertThat(SmallVolumes.free(volume)).isGreaterThan(LEFT_BY_WRITES / 5);
          points.assertAllThere();

          // As full as before, after kill -9 too.
          NodeProcess node = cluster.node("n1");
          node.kill();
          node.start();
          cluster.awaitReady();
          points.assertAllThere();
          assertThat(points.upsertUntilRefused(0, 100, 3)).isPresent();
          points.delete(0, 1_000);
          points.assertAllThere();

          // Somebody else takes the last byte, and each that a killed start has given back.
          for (int start = 0; start < 4; start++) {
            node.kill();
            volumes.fill(volume, 0);
            node.start();
            Eventually.is("reads go on", () -> points.count() == points.acknowledged());
          }
          volumes.resize(volume, 2 * SIZE);
          cluster.awaitReady();
          points.upsert(0, 2_000, 4);
          points.assertAllThere();
          node.stop(STOP);
          node.start();
          cluster.awaitReady();
          points.assertAllThere();
        } catch (Exception | AssertionError e) {
          throw new AssertionError("files kept in " + cluster.keepFiles(), e);
        }
      }
    }
  }

  /** The usual steps of so many logs would not fit, and a start that lasts pays for the next. */
  @Test
  void aNodeOfManyShardsStartsAgainAndAgainOnAVolumeThatStaysFull() throws Exception {
    Path folder = ClusterProcesses.temporaryFolder("full-disk-shards");
    try (SmallVolumes volumes = new SmallVolumes()) {
      Path volume = volumes.mount(folder.resolve("volume"), SIZE);
      Path reserve = volume.resolve("data").resolve("reserve");
      Plan plan = Plan.in(folder.resolve("work")).withDataFolders(n -> volume.resolve("data"));
      try (ClusterProcesses cluster = ClusterProcesses.start(plan, 1);
          AcknowledgedPoints points =
              new AcknowledgedPoints(cluster.endpoints(), 16, OptionalInt.empty())) {
        try {
          points.upsert(0, 2_000, 1);
          long held = 4 * (512L + 17 * 96) << 10;
          Eventually.is("space is held back", () -> sizeOf(reserve) == held);
          NodeProcess node = cluster.node("n1");
          for (int start = 0; start < 6; start++) {
            node.kill();
            volumes.fill(volume, 0);
            node.start();
            Eventually.is("reads go on", () -> points.count() == points.acknowledged());
            Eventually.is("space is taken back", () -> sizeOf(reserve) > held * 3 / 4);
          }
          points.assertAllThere();
          volumes.empty(volume);
          points.upsert(0, 2_000, 2);
          Eventually.is("space is held back again", () -> sizeOf(reserve) == held);
          points.assertAllThere();
        } catch (Exception | AssertionError e) {
          throw new AssertionError("files kept in " + cluster.keepFiles(), e);
        }
      }
    }
  }

  private static long sizeOf(Path file) {
    return file.toFile().length();
  }

  @Test
  void aLeaderWithRoomRefusesWhileTheOthersDisksAreFull() throws Exception {
    Path folder = ClusterProcesses.temporaryFolder("full-followers");
    try (SmallVolumes volumes = new SmallVolumes()) {
      Plan plan =
          Plan.in(folder.resolve("work"))
              .withDataFolders(
                  name -> volumes.mount(folder.resolve(name + "-volume"), SIZE).resolve("data"));
      try (ClusterProcesses cluster = ClusterProcesses.start(plan, 3);
          AcknowledgedPoints points =
              new AcknowledgedPoints(cluster.endpoints(), 1, OptionalInt.of(3))) {
        try {
          points.upsert(0, 1_000, 1);
          Eventually.is("three replicas agree", () -> points.replicasAgree(3));
          List<String> nodes = List.of("n1", "n2", "n3");
          Function<String, Path> volume = node -> folder.resolve(node + "-volume");
          volumes.fill(volume.apply("n3"), LEFT_BY_WRITES / 2);
          points.upsert(0, 500, 2); // a minority is full

          // The lead may move, by itself too: whoever has it now is the one with room.
          Eventually.is(
              "a leader with room refuses",
              () -> {
                String leader = leader(points);
                for (String node : nodes) {
                  if (node.equals(leader)) {
                    volumes.empty(volume.apply(node));
                  } else {
                    volumes.fill(volume.apply(node), LEFT_BY_WRITES / 2);
                  }
                }
                return points
                    .upsertUntilRefused(0, 100, 3)
                    .filter(e -> e.getMessage().contains("the disks of 2 of the shard's 3"))
                    .isPresent();
              });
          points.assertAllThere();
          points.delete(0, 100);
          points.assertAllThere();

          for (String node : nodes) {
            volumes.empty(volume.apply(node));
          }
          points.upsert(0, 2_000, 5);
          points.assertAllThere();
          Eventually.is("replicas agree again", () -> points.replicasAgree(3));
        } catch (Exception | AssertionError e) {
          throw new AssertionError("files kept in " + cluster.keepFiles(), e);
        }
      }
    }
  }

  private static String leader(AcknowledgedPoints points) {
    for (JsonNode shard : points.shards()) {
      for (JsonNode replica : shard.path("replicas")) {
        if (replica.path("state").asText().equals("leader")) {
          return replica.path("node").asText();
        }
      }
    }
    throw new AssertionError("no leader: " + points.shards());
  }
}
