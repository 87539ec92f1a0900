// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.it.testkit.FlippedBit;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.process.ClusterProcesses.Plan;
import io.sagitta.ops.bench.process.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Bytes of checkpoint files turn on real nodes, which take writes all the while. */
@Tag("B040")
@Timeout(value = 14, unit = TimeUnit.MINUTES)
class DamagedReplicaIT {
  /** Slow enough that a kill finds a repair half-way: the least that the key takes. */
  private static final String FETCH_RATE = "1MiB";

  /** Small segments, and a log that soon loses its beginning. */
  private static final Map<String, String> SETTINGS =
      Map.of(
          "log.checkpoint_bytes", "64KiB",
          "log.segment_bytes", "64KiB",
          "log.freeze_bytes", "256KiB",
          "limits.prefetch_bytes_per_second", FETCH_RATE);

  private static final int POINTS = 20_000;

  @Test
  void aReplicaWhoseFilesWereDamagedRepairsItselfUnderWritesThoughItIsKilledMeanwhile()
      throws Exception {
    onThreeNodes(
        (cluster, points) -> {
          points.upsert(0, POINTS, 1);
          Eventually.is("replicas agree", () -> points.replicasAgree(3));
          NodeProcess victim = cluster.node("n2");
          try (Writes writes = new Writes(points)) {
            victim.kill();
            assertThat(flipOneByteOfEach(segmentFiles(victim))).isPositive();
            victim.start();
            Eventually.is("its repair has begun", () -> metric(victim, "repairs_open") > 0);
            Eventually.is("some of it has arrived", () -> arrived(victim));
            victim.kill();
            victim.start();
            cluster.awaitReady();
            writes.goOn();
          }
          assertThat(metric(victim, "repairs_total")).isEqualTo(1);
          assertWhole(cluster, points);

          // It is a voter like any other.
          cluster.node("n3").kill();
          points.upsert(0, 500, 3);
          cluster.node("n3").start();
          assertWhole(cluster, points);
        });
  }

  @Test
  void theSameFileMayBeDamagedOnTwoNodesWhileOneHasIt() throws Exception {
    onThreeNodes(
        (cluster, points) -> {
          points.upsert(0, POINTS / 2, 1);
          Eventually.is("replicas agree", () -> points.replicasAgree(3));
          List<NodeProcess> victims = List.of(cluster.node("n1"), cluster.node("n3"));
          ClusterProcesses.kill(victims);
          String file = segmentFiles(victims.getFirst()).getFirst().getFileName().toString();
          for (NodeProcess victim : victims) {
            List<Path> same =
                segmentFiles(victim).stream()
                    .filter(path -> path.getFileName().toString().equals(file))
                    .toList();
            assertThat(flipOneByteOfEach(same)).isEqualTo(1);
          }
          victims.forEach(NodeProcess::start);
          assertWhole(cluster, points);
          for (NodeProcess victim : victims) {
            assertThat(metric(victim, "repairs_total")).isEqualTo(1);
          }
          points.upsert(0, 500, 2);
          assertWhole(cluster, points);
        });
  }

  @Test
  void aReplicaWhoseFilesAreDamagedWhileItRunsIsFoundByVerifyAndRepairsItselfUnderWrites()
      throws Exception {
    onThreeNodes(
        (cluster, points) -> {
          points.upsert(0, POINTS / 2, 1);
          Eventually.is("replicas agree", () -> points.replicasAgree(3));
          NodeProcess victim = cluster.node(leader(points));
          long pid = victim.pid();
          try (Writes writes = new Writes(points)) {
            assertThat(flipOneByteOfEach(segmentFiles(victim))).isPositive();
            Eventually.is(
                "verify finds it",
                () -> !points.replicasAgree(3) && metric(victim, "damage_found_total") > 0);
            Eventually.is("it repairs itself", () -> metric(victim, "repairs_total") == 1);
            cluster.awaitReady();
            writes.goOn();
          }
          assertThat(victim.pid()).as("no restart").isEqualTo(pid);
          assertWhole(cluster, points);
        });
  }

  private interface Story {
    void play(ClusterProcesses cluster, AcknowledgedPoints points) throws Exception;
  }

  /** Keeps the files where it does not end well. */
  private static void onThreeNodes(Story story) throws Exception {
    Plan plan = Plan.in(ClusterProcesses.temporaryFolder("damaged")).withSettings(SETTINGS);
    try (ClusterProcesses cluster = ClusterProcesses.start(plan, 3);
        AcknowledgedPoints points =
            new AcknowledgedPoints(cluster.endpoints(), 1, OptionalInt.of(3))) {
      try {
        story.play(cluster, points);
      } catch (Exception | AssertionError e) {
        throw new AssertionError("files kept in " + cluster.keepFiles(), e);
      }
    }
  }

  private static void assertWhole(ClusterProcesses cluster, AcknowledgedPoints points)
      throws Exception {
    cluster.awaitReady();
    Eventually.is("replicas agree again", () -> points.replicasAgree(3));
    points.assertAllThere();
    for (NodeProcess node : cluster.nodes()) {
      assertThat(metric(node, "repairs_open")).isZero();
    }
  }

  /** Overwrites points until it is closed; what was acknowledged must be there afterwards. */
  private static final class Writes implements AutoCloseable {
    private static final int ROWS = 500;

    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicLong rounds = new AtomicLong();
    private final ExecutorService thread = Executors.newVirtualThreadPerTaskExecutor();
    private final CompletableFuture<Void> running;

    Writes(AcknowledgedPoints points) {
      running = CompletableFuture.runAsync(() -> write(points), thread);
    }

    private void write(AcknowledgedPoints points) {
      try {
        while (!stop.get()) {
          points.upsert(0, ROWS, 10 + rounds.get());
          rounds.incrementAndGet();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    /** Waits for a whole round that begins now. */
    void goOn() throws Exception {
      long seen = rounds.get();
      Eventually.is("writes go on", () -> running.isDone() || rounds.get() > seen + 1);
    }

    @Override
    public void close() {
      stop.set(true);
      running.join(); // a write that failed fails the test
      thread.close();
    }
  }

  // ---- what lies on disk, what status and metrics tell

  /** The folder of the one shard: beside it only Raft's. */
  private static Path shard(NodeProcess node) throws IOException {
    try (Stream<Path> all = Files.list(node.settings().dataFolder().resolve("shards"))) {
      return all.filter(folder -> isUuid(folder.getFileName().toString())).findAny().orElseThrow();
    }
  }

  private static boolean isUuid(String name) {
    try {
      return UUID.fromString(name).toString().equals(name);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** Files of vectors and payload, by name. */
  private static List<Path> segmentFiles(NodeProcess node) throws IOException {
    try (Stream<Path> all = Files.list(shard(node))) {
      return all.filter(
              file -> {
                String name = file.getFileName().toString();
                return name.contains(".vectors.") || name.endsWith(".payload");
              })
          .filter(file -> !file.getFileName().toString().endsWith(".part"))
          .sorted()
          .toList();
    }
  }

  /** In place, since a node that runs has the files mapped; gives how many there were. */
  private static int flipOneByteOfEach(List<Path> files) throws IOException {
    for (Path file : files) {
      FlippedBit.inTheMiddleOf(file);
    }
    return files.size();
  }

  /** Whether files of a repair wait to be taken. */
  private static boolean arrived(NodeProcess node) throws IOException {
    try (Stream<Path> all = Files.list(shard(node))) {
      return all.anyMatch(file -> file.getFileName().toString().endsWith(".staged"));
    }
  }

  private static String leader(AcknowledgedPoints points) {
    for (JsonNode replica : points.shards().path(0).path("replicas")) {
      if (replica.path("state").asText().equals("leader")) {
        return replica.path("node").asText();
      }
    }
    throw new AssertionError("no leader: " + points.shards());
  }

  private static long metric(NodeProcess node, String what) {
    return node.metric("sagitta_replica_" + what).orElse(0); // it is starting
  }
}
