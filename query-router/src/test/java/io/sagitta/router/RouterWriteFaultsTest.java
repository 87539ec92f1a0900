// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.flight.Command;
import io.sagitta.flight.PutAck;
import io.sagitta.flight.RequestHandler.PutReply;
import io.sagitta.flight.RequestHandler.PutSession;
import io.sagitta.flight.internal.NotLeaderException;
import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.PointId;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriteOutcome;
import io.sagitta.model.WriterId;
import io.sagitta.router.rows.Sent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.RepeatedTest;

/**
 * Writes under doors that lie, delay, lose requests and replies, move leaders and age maps, against
 * a ledger of what was asked.
 */
@Seeded
class RouterWriteFaultsTest {
  private static final int BATCHES = 60;
  private static final int IDS = 50;

  /** Draws faults; draws are serialised, for writes come from many threads. */
  private static final class Faults implements FakeCluster.WriteFault {
    private final FakeCluster cluster;
    private final RandomGenerator random;

    private Faults(FakeCluster cluster, RandomGenerator random) {
      this.cluster = cluster;
      this.random = random;
    }

    @Override
    public CompletableFuture<WriteOutcome> at(
        io.sagitta.model.ShardMap.Node node, ShardWrite write, Apply apply) {
      int draw;
      synchronized (random) {
        draw = random.nextInt(16);
      }
      FakeShard shard = cluster.shards.get(write.shard());
      return switch (draw) {
        case 0 -> failed(SagittaException.unavailable("busy", 1));
        case 1 -> {
          shard.leader = cluster.nodes.get(draw(cluster.nodes.size())).id();
          yield failed(new NotLeaderException("moved", Optional.of(shard.leader)));
        }
        case 2 -> failed(new NotLeaderException("no idea who leads", Optional.empty()));
        case 3 -> failed(new NotLeaderException("lies", Optional.of(node.id())));
        case 4 -> {
          apply.now();
          yield failed(new SagittaException(ErrorCode.OUTCOME_UNKNOWN, "reply lost"));
        }
        case 5 -> {
          apply.now();
          yield failed(new IllegalStateException("connection reset"));
        }
        case 6 -> failed(new IllegalStateException("request lost, or perhaps not"));
        case 7 -> {
          cluster.raiseEpoch();
          yield null;
        }
        // Appended late: after the router may have sent it again.
        case 8 -> {
          cluster.workers.execute(apply::now);
          yield failed(new SagittaException(ErrorCode.DEADLINE_EXCEEDED, "slow"));
        }
        case 9 -> later(apply, cluster.workers);
        default -> null;
      };
    }

    private int draw(int bound) {
      synchronized (random) {
        return random.nextInt(bound);
      }
    }
  }

  private static <T> CompletableFuture<T> failed(Throwable failure) {
    return CompletableFuture.failedFuture(failure);
  }

  private static CompletableFuture<WriteOutcome> later(
      FakeCluster.WriteFault.Apply apply, Executor workers) {
    return CompletableFuture.supplyAsync(apply::now, workers);
  }

  private record Batch(long seq, Map<Long, String> rows) {}

  private static Batch draw(RandomGenerator random, long seq) {
    Map<Long, String> rows = new HashMap<>();
    for (int i = random.nextInt(1, 12); i > 0; i--) {
      rows.put(random.nextLong(IDS), "batch " + seq);
    }
    return new Batch(seq, rows);
  }

  private static VectorSchemaRoot sent(FakeCluster cluster, Batch batch) {
    Long[] ids = batch.rows.keySet().toArray(Long[]::new);
    float[][] vectors = new float[ids.length][2];
    String[] tags = new String[ids.length];
    for (int i = 0; i < ids.length; i++) {
      tags[i] = batch.rows.get(ids[i]);
    }
    return Sent.root(
        Sent.int64(cluster.allocator, "id", ids),
        Sent.fixedList(cluster.allocator, "v", 2, vectors),
        Sent.utf8(cluster.allocator, "tag", tags));
  }

  private static PutSession open(Router router, FakeCluster cluster, Optional<WriterId> writer) {
    try (VectorSchemaRoot like = sent(cluster, new Batch(0, Map.of()))) {
      return router
          .put(
              new Command.Put("c", WriteMode.UPSERT, writer, Optional.empty()),
              like.getSchema(),
              null,
              FakeCluster.call())
          .join();
    }
  }

  @RepeatedTest(5)
  void withKeysEveryBatchTakesEffectOnceAndInOrder(Seed seed) {
    RandomGenerator random = seed.random();
    FakeCluster cluster = new FakeCluster(3);
    try (cluster) {
      cluster.createKnown("c", RouterPutTest.SCHEMA, 3);
      cluster.writeFault = new Faults(cluster, seed.branch("faults").random());
      Router router = cluster.router(FakeCluster.FAST);
      PutSession session = open(router, cluster, Optional.of(new WriterId(new UUID(1, 2), 3)));
      Map<Long, String> expected = new HashMap<>();
      List<CompletableFuture<PutReply>> replies = new ArrayList<>();
      for (long seq = 0; seq < BATCHES; seq++) {
        Batch batch = draw(random, seq);
        expected.putAll(batch.rows);
        try (VectorSchemaRoot root = sent(cluster, batch)) {
          replies.add(session.put(root, OptionalLong.of(seq), OptionalLong.empty()));
        }
      }
      for (CompletableFuture<PutReply> reply : replies) {
        assertThat(reply.join().failure()).isEmpty();
      }
      Map<Long, String> found = new HashMap<>();
      for (FakeShard shard : cluster.shards.values()) {
        shard.points.forEach(
            (id, point) ->
                found.put(((PointId.Int64) id).value(), (String) point.values().get("tag")));
        assertThat(shard.applied)
            .as("entries of shard %s by key", shard.shard.number())
            .extracting(write -> write.key().orElseThrow())
            .doesNotHaveDuplicates();
      }
      assertThat(found).isEqualTo(expected);
    }
  }

  @RepeatedTest(5)
  void withoutKeysNothingIsAppliedTwiceAndNothingIsToldWrongly(Seed seed) {
    RandomGenerator random = seed.random();
    FakeCluster cluster = new FakeCluster(3);
    try (cluster) {
      cluster.createKnown("c", RouterPutTest.SCHEMA, 3);
      cluster.writeFault = new Faults(cluster, seed.branch("faults").random());
      Router router = cluster.router(FakeCluster.FAST);
      PutSession session = open(router, cluster, Optional.empty());
      List<PutAck.Done> replies = new ArrayList<>();
      for (long seq = 0; seq < BATCHES; seq++) {
        try (VectorSchemaRoot root = sent(cluster, draw(random, seq))) {
          CompletableFuture<PutReply> reply =
              session.put(root, OptionalLong.of(seq), OptionalLong.empty());
          replies.add((PutAck.Done) PutAck.parse(reply.join().json()));
        }
      }
      // Entries that were appended late are in by now: the cluster's workers are done when it
      // closes.
      cluster.workers.close();
      for (FakeShard shard : cluster.shards.values()) {
        Map<String, Integer> times = timesApplied(cluster, shard);
        for (PutAck.Done reply : replies) {
          String tag = "batch " + reply.seq().getAsLong();
          int applied = times.getOrDefault(tag, 0);
          assertThat(applied).as(tag).isLessThanOrEqualTo(1);
          reply.shards().stream()
              .filter(ack -> ack.shard() == shard.shard.number())
              .forEach(
                  ack -> {
                    if (ack.outcome().equals("applied")) {
                      assertThat(applied).as(tag).isEqualTo(1);
                    } else {
                      assertThat(ack.outcome()).as(tag).isEqualTo("sagitta.OUTCOME_UNKNOWN");
                    }
                  });
        }
      }
    }
  }

  private static Map<String, Integer> timesApplied(FakeCluster cluster, FakeShard shard) {
    Map<String, Integer> times = new HashMap<>();
    for (ShardWrite write : shard.applied) {
      try (VectorSchemaRoot rows =
          RowBatchCodec.decode(
              ((ShardWrite.Rows) write).rows(), RouterPutTest.SCHEMA, cluster.allocator)) {
        times.merge(
            ((VarCharVector) rows.getVector("tag")).getObject(0).toString(), 1, Integer::sum);
      }
    }
    return times;
  }
}
