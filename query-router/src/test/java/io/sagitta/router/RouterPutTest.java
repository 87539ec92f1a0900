// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.flight.Command;
import io.sagitta.flight.PutAck;
import io.sagitta.flight.RequestHandler.PutReply;
import io.sagitta.flight.RequestHandler.PutSession;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.CommitToken;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.model.WriteKey;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriteOutcome;
import io.sagitta.model.WriterId;
import io.sagitta.router.rows.Sent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RouterPutTest {
  static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.INT64,
          List.of(
              new VectorField(1, "v", VectorType.FLOAT32, 2, Metric.L2, false),
              new PayloadField(2, "tag", PayloadType.of(PayloadType.Kind.UTF8))));
  private static final WriterId WRITER = new WriterId(new UUID(7, 7), 1);

  private final FakeCluster cluster = new FakeCluster(3);
  private final Router router = cluster.router(FakeCluster.FAST);

  @AfterEach
  void nothingLeaks() {
    cluster.close();
  }

  private VectorSchemaRoot batch(String tag, long... ids) {
    float[][] vectors = new float[ids.length][];
    String[] tags = new String[ids.length];
    Long[] boxed = new Long[ids.length];
    for (int i = 0; i < ids.length; i++) {
      vectors[i] = new float[] {ids[i], 1};
      tags[i] = tag;
      boxed[i] = ids[i];
    }
    return Sent.root(
        Sent.int64(cluster.allocator, "id", boxed),
        Sent.fixedList(cluster.allocator, "v", 2, vectors),
        Sent.utf8(cluster.allocator, "tag", tags));
  }

  private static long[] ids(int from, int to) {
    return IntStream.range(from, to).asLongStream().toArray();
  }

  private PutSession open(WriteMode mode, Optional<WriterId> writer) {
    return open(new Command.Put("c", mode, writer, Optional.empty()));
  }

  private PutSession open(Command.Put put) {
    try (VectorSchemaRoot like = batch("x")) {
      return router.put(put, like.getSchema(), null, FakeCluster.call()).join();
    }
  }

  private PutAck.Done put(PutSession session, VectorSchemaRoot batch, long seq) {
    return done(send(session, batch, seq));
  }

  private static CompletableFuture<PutReply> send(
      PutSession session, VectorSchemaRoot batch, long seq) {
    try (batch) {
      return session.put(batch, OptionalLong.of(seq), OptionalLong.empty());
    }
  }

  private static PutAck.Done done(CompletableFuture<PutReply> reply) {
    return (PutAck.Done) PutAck.parse(reply.join().json());
  }

  @Test
  void rowsGoToTheShardsOfTheirSlotsAndTheTokenNamesEach() {
    var collection = cluster.createKnown("c", SCHEMA, 3);
    PutAck.Done done = put(open(WriteMode.UPSERT, Optional.of(WRITER)), batch("a", ids(0, 100)), 0);
    assertThat(done.rows()).isEqualTo(100);
    assertThat(done.seq()).hasValue(0);
    assertThat(done.shards()).extracting(PutAck.ShardAck::outcome).containsOnly("applied");
    assertThat(done.shards()).extracting(PutAck.ShardAck::shard).containsExactly(0, 1, 2);
    CommitToken token = CommitToken.parse(done.token());
    collection.shards().forEach(s -> assertThat(token.index(s.id())).hasValue(1));
    assertThat(cluster.pointCount()).isEqualTo(100);
  }

  @Test
  @Tag("B014")
  void theLastRowOfAnIdWinsAlsoAcrossPieces() {
    cluster.createKnown("c", SCHEMA, 1);
    String big = "x".repeat(600_000);
    VectorSchemaRoot batch =
        Sent.root(
            Sent.int64(cluster.allocator, "id", 1L, 2L, 1L),
            Sent.fixedList(
                cluster.allocator, "v", 2, new float[] {1, 1}, new float[] {2, 2}, new float[2]),
            Sent.utf8(cluster.allocator, "tag", big + "first", big + "other", big + "last"));
    PutAck.Done done = put(open(WriteMode.UPSERT, Optional.empty()), batch, 0);
    assertThat(done.rows()).isEqualTo(2);
    assertThat(cluster.shard("c", 0).applied).hasSize(2);
    assertThat(cluster.shard("c", 0).points.get(new PointId.Int64(1)).values())
        .containsEntry("tag", big + "last");
  }

  @Test
  void rejectsNameTheRowsOfTheBatchAsSent() {
    cluster.createKnown("c", SCHEMA, 3);
    put(open(WriteMode.UPSERT, Optional.empty()), batch("a", 5, 17), 0);
    PutAck.Done done =
        put(open(WriteMode.INSERT, Optional.empty()), batch("b", 1, 17, 2, 3, 5, 4), 0);
    assertThat(done.rows()).isEqualTo(4);
    assertThat(done.rejects())
        .extracting(PutAck.Reject::row, PutAck.Reject::code)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(1, ErrorCode.ALREADY_EXISTS),
            org.assertj.core.groups.Tuple.tuple(4, ErrorCode.ALREADY_EXISTS));
  }

  @Test
  @Tag("B015")
  void oneBadRowAndNothingIsSent() {
    cluster.createKnown("c", SCHEMA, 3);
    PutSession session = open(WriteMode.UPSERT, Optional.empty());
    VectorSchemaRoot batch = batch("a", 1, 2, 3);
    ((org.apache.arrow.vector.Float4Vector)
            ((org.apache.arrow.vector.complex.FixedSizeListVector) batch.getVector("v"))
                .getDataVector())
        .set(5, Float.NaN);
    assertThatThrownBy(() -> send(session, batch, 0).join())
        .hasMessageContaining("row 2, column 'v': component 1 is NaN");
    assertThat(cluster.writes).hasValue(0);
    assertThat(put(session, batch("a", 1), 1).rows()).isEqualTo(1);
  }

  @Test
  @Tag("B054")
  void anEmptyBatchDoesNothing() {
    cluster.createKnown("c", SCHEMA, 3);
    PutAck.Done done = put(open(WriteMode.UPSERT, Optional.of(WRITER)), batch("a"), 0);
    assertThat(done.rows()).isZero();
    assertThat(done.token()).isEmpty();
    assertThat(cluster.writes).hasValue(0);
  }

  @Test
  @Tag("B050")
  void aLargeBatchIsCutIntoEntriesOfAtMostOneMebibyte() {
    CollectionSchema wide =
        new CollectionSchema(
            1,
            IdType.INT64,
            List.of(new VectorField(1, "v", VectorType.FLOAT32, 1_536, Metric.L2, false)));
    cluster.createKnown("c", wide, 2);
    Set<Integer> sizes = ConcurrentHashMap.newKeySet();
    cluster.writeFault =
        (node, write, apply) -> {
          sizes.add(((ShardWrite.Rows) write).rows().message().remaining());
          return null;
        };
    float[][] vectors = new float[2_000][1_536];
    Long[] ids = new Long[2_000];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = (long) i;
      vectors[i][0] = i;
    }
    VectorSchemaRoot batch =
        Sent.root(
            Sent.int64(cluster.allocator, "id", ids),
            Sent.fixedList(cluster.allocator, "v", 1_536, vectors));
    PutSession session =
        router
            .put(
                new Command.Put("c", WriteMode.UPSERT, Optional.of(WRITER), Optional.empty()),
                batch.getSchema(),
                null,
                FakeCluster.call())
            .join();
    assertThat(put(session, batch, 0).rows()).isEqualTo(2_000);
    assertThat(sizes).allMatch(bytes -> bytes <= (1 << 20) - (16 << 10));
    assertThat(cluster.pointCount()).isEqualTo(2_000);
    List<Integer> pieces = new ArrayList<>();
    cluster.shard("c", 0).applied.forEach(w -> pieces.add(w.key().orElseThrow().piece()));
    assertThat(pieces).isSorted().startsWith(0, 1, 2);
  }

  @Test
  void aRefusalThatNamesTheLeaderIsFollowed() {
    cluster.createKnown("c", SCHEMA, 1);
    cluster.shard("c", 0).leader = cluster.nodes.get(2).id();
    assertThat(put(open(WriteMode.UPSERT, Optional.empty()), batch("a", 1), 0).rows()).isOne();
    assertThat(cluster.writes).hasValue(2);
    // The leader is known now.
    assertThat(put(open(WriteMode.UPSERT, Optional.empty()), batch("a", 2), 0).rows()).isOne();
    assertThat(cluster.writes).hasValue(3);
  }

  @Test
  void aStaleMapIsRefreshedAndTheEntrySentAgain() {
    cluster.createKnown("c", SCHEMA, 2);
    PutSession session = open(WriteMode.UPSERT, Optional.empty());
    cluster.raiseEpoch();
    assertThat(put(session, batch("a", ids(0, 20)), 0).rows()).isEqualTo(20);
    assertThat(cluster.refreshes.get()).isPositive();
    assertThat(cluster.pointCount()).isEqualTo(20);
  }

  @Test
  void aNewerSchemaTakesTheRowsAsTheyAre() {
    cluster.createKnown("c", SCHEMA, 1);
    PutSession session = open(WriteMode.UPSERT, Optional.empty());
    List<io.sagitta.model.Field> fields = new ArrayList<>(SCHEMA.fields());
    fields.add(new PayloadField(3, "more", PayloadType.of(PayloadType.Kind.INT64)));
    cluster.changeSchema("c", new CollectionSchema(2, IdType.INT64, fields));
    assertThat(put(session, batch("a", 1), 0).rows()).isOne();
    assertThat(put(session, batch("a", 2), 1).rows()).isOne();
  }

  @Test
  void aFieldDroppedOnTheWayIsRefusedAndNothingApplied() {
    cluster.createKnown("c", SCHEMA, 1);
    PutSession session = open(WriteMode.UPSERT, Optional.empty());
    cluster.changeSchema("c", new CollectionSchema(2, IdType.INT64, SCHEMA.fields().subList(0, 1)));
    PutReply reply = send(session, batch("a", 1), 0).join();
    assertThat(reply.failure().orElseThrow().code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(cluster.pointCount()).isZero();
  }

  @Test
  void aLostReplyIsAskedForAgainUnderTheSameKeyAndAppliedOnce() {
    cluster.createKnown("c", SCHEMA, 1);
    AtomicInteger attempts = new AtomicInteger();
    cluster.writeFault =
        (node, write, apply) -> {
          if (attempts.getAndIncrement() < 3) {
            apply.now();
            return CompletableFuture.failedFuture(new IllegalStateException("connection reset"));
          }
          return CompletableFuture.completedFuture(apply.now());
        };
    PutAck.Done done = put(open(WriteMode.UPSERT, Optional.of(WRITER)), batch("a", 1), 4);
    assertThat(done.rows()).isOne();
    assertThat(done.shards().getFirst().outcome()).isEqualTo("replayed");
    assertThat(cluster.shard("c", 0).applied).hasSize(1);
    WriteKey key = cluster.shard("c", 0).applied.getFirst().key().orElseThrow();
    assertThat(key).isEqualTo(new WriteKey(WRITER, 4, 0, 0));
  }

  @Test
  void aWriteWithAKeyIsSentElsewhereWhenWhoeverHasItIsGone() {
    cluster.createKnown("c", SCHEMA, 1);
    cluster.writeFault =
        (node, write, apply) -> {
          WriteOutcome outcome = apply.now();
          return node.number() == 1
              ? new CompletableFuture<>()
              : CompletableFuture.completedFuture(outcome);
        };
    cluster.pulse = node -> new CompletableFuture<>();
    Router router =
        cluster.router(FakeCluster.fast(FakeCluster.FAST.hedgeAfter(), Duration.ofMillis(20)));
    PutSession session;
    try (VectorSchemaRoot like = batch("x")) {
      session =
          router
              .put(
                  new Command.Put("c", WriteMode.UPSERT, Optional.of(WRITER), Optional.empty()),
                  like.getSchema(),
                  null,
                  FakeCluster.call())
              .join();
    }
    PutAck.Done done = put(session, batch("a", 1), 0);
    assertThat(done.shards().getFirst().outcome()).isEqualTo("replayed");
    assertThat(cluster.shard("c", 0).applied).hasSize(1);
    assertThat(cluster.writes).hasValue(2);
  }

  @Test
  void withoutAKeyNothingIsSentAgainThatMayHaveBeenAppended() {
    cluster.createKnown("c", SCHEMA, 2);
    int lost = cluster.shard("c", 1).shard.number();
    cluster.writeFault =
        (node, write, apply) -> {
          if (cluster.shards.get(write.shard()).shard.number() == lost) {
            apply.now();
            return CompletableFuture.failedFuture(
                new SagittaException(ErrorCode.OUTCOME_UNKNOWN, "leadership lost"));
          }
          return CompletableFuture.completedFuture(apply.now());
        };
    PutReply reply =
        send(open(WriteMode.UPSERT, Optional.empty()), batch("a", ids(0, 40)), 0).join();
    PutAck.Done done = (PutAck.Done) PutAck.parse(reply.json());
    assertThat(done.shards())
        .extracting(PutAck.ShardAck::outcome)
        .containsExactly("applied", "sagitta.OUTCOME_UNKNOWN");
    assertThat(done.rows()).isEqualTo(cluster.shard("c", 0).points.size());
    assertThat(reply.failure().orElseThrow())
        .hasMessageContaining("applied on shards [0]")
        .extracting(SagittaException::code)
        .isEqualTo(ErrorCode.OUTCOME_UNKNOWN);
    assertThat(cluster.writes).hasValue(2);
  }

  @Test
  void withoutALeaderAWriteEndsUnappliedByItsDeadline() {
    cluster.createKnown("c", SCHEMA, 1);
    cluster.writeFault =
        (node, write, apply) ->
            CompletableFuture.failedFuture(SagittaException.unavailable("electing", 1));
    PutSession session;
    try (VectorSchemaRoot like = batch("x")) {
      session =
          router
              .put(
                  new Command.Put("c", WriteMode.UPSERT, Optional.of(WRITER), Optional.empty()),
                  like.getSchema(),
                  null,
                  FakeCluster.call(Duration.ofMillis(200)))
              .join();
    }
    PutReply reply = send(session, batch("a", 1), 0).join();
    SagittaException failure = reply.failure().orElseThrow();
    assertThat(failure.code()).isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(failure).hasMessageContaining("not applied").hasMessageContaining("electing");
    assertThat(cluster.writes.get()).isGreaterThan(3);
  }

  @Test
  @Tag("B039")
  void aLeadersRefusalForLaterIsToldAtOnceAndNobodyElseIsAsked() {
    cluster.createKnown("c", SCHEMA, 1);
    cluster.writeFault =
        (node, write, apply) ->
            CompletableFuture.failedFuture(SagittaException.unavailable("the disk is full", 5_000));
    PutReply reply = send(open(WriteMode.UPSERT, Optional.of(WRITER)), batch("a", 1), 0).join();
    SagittaException failure = reply.failure().orElseThrow();
    assertThat(failure.code()).isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(failure.retryAfterMs()).hasValue(5_000);
    assertThat(failure).hasMessageContaining("the disk is full");
    assertThat(cluster.writes).hasValue(1);
  }

  @Test
  void aRefusalAfterALostReplyIsNotToldAsNotApplied() {
    cluster.createKnown("c", SCHEMA, 1);
    AtomicInteger attempts = new AtomicInteger();
    cluster.writeFault =
        (node, write, apply) ->
            CompletableFuture.failedFuture(
                attempts.getAndIncrement() == 0
                    ? new IllegalStateException("connection reset")
                    : new SagittaException(ErrorCode.LIMIT, "disk full"));
    PutReply reply = send(open(WriteMode.UPSERT, Optional.of(WRITER)), batch("a", 1), 0).join();
    assertThat(reply.failure().orElseThrow().code()).isEqualTo(ErrorCode.OUTCOME_UNKNOWN);
  }

  @Test
  void aBatchThatTouchesAnIdAtWorkWaitsForIt() throws Exception {
    cluster.createKnown("c", SCHEMA, 1);
    CompletableFuture<Void> gate = new CompletableFuture<>();
    cluster.writeFault =
        (node, write, apply) ->
            write.key().orElseThrow().seq() == 0
                ? gate.thenApply(open -> apply.now())
                : CompletableFuture.completedFuture(apply.now());
    PutSession session = open(WriteMode.UPSERT, Optional.of(WRITER));
    CompletableFuture<PutReply> first = send(session, batch("first", 1, 2), 0);
    CompletableFuture<PutReply> apart = send(session, batch("apart", 3, 4), 1);
    CompletableFuture<PutReply> again = send(session, batch("again", 2, 5), 2);
    CompletableFuture<PutReply> third = send(session, batch("third", 5), 3);
    assertThat(done(apart).rows()).isEqualTo(2);
    assertThat(List.of(first, again, third)).noneMatch(CompletableFuture::isDone);
    gate.complete(null);
    third.get(20, TimeUnit.SECONDS);
    assertThat(done(again).rows()).isEqualTo(2);
    assertThat(cluster.shard("c", 0).points.get(new PointId.Int64(2)).values())
        .containsEntry("tag", "again");
    assertThat(cluster.shard("c", 0).points.get(new PointId.Int64(5)).values())
        .containsEntry("tag", "third");
  }

  @Test
  void aStreamWithAWriterNeedsSequenceNumbers() {
    cluster.createKnown("c", SCHEMA, 1);
    PutSession session = open(WriteMode.UPSERT, Optional.of(WRITER));
    try (VectorSchemaRoot batch = batch("a", 1)) {
      assertThatThrownBy(
              () -> session.put(batch, OptionalLong.empty(), OptionalLong.empty()).join())
          .hasMessageContaining("seq");
    }
  }

  @Test
  void aCollectionDroppedAndCreatedAgainIsAnotherOne() {
    cluster.createKnown("c", SCHEMA, 1);
    PutSession session = open(WriteMode.UPSERT, Optional.empty());
    cluster.dropUnknown("c");
    cluster.createKnown("c", SCHEMA, 1);
    assertThatThrownBy(() -> send(session, batch("a", 1), 0).join())
        .isInstanceOf(CompletionException.class)
        .hasMessageContaining("was dropped");
    assertThat(cluster.pointCount()).isZero();
  }

  @Test
  void aCollectionCreatedThroughAnotherNodeIsFound() {
    cluster.createUnknown("c", SCHEMA, 1);
    assertThat(put(open(WriteMode.UPSERT, Optional.empty()), batch("a", 1), 0).rows()).isOne();
  }

  @Test
  void aPutCreatesTheCollectionFromItsColumns() {
    Command.CreateSpec create =
        new Command.CreateSpec(
            "c",
            new CollectionSchema(1, IdType.INT64, List.of()),
            OptionalInt.of(3),
            OptionalInt.empty());
    Command.Put put = new Command.Put("c", WriteMode.UPSERT, Optional.empty(), Optional.of(create));
    assertThat(put(open(put), batch("a", 1), 0).rows()).isOne();
    assertThat(put(open(put), batch("a", 2), 0).rows()).isOne();
    CollectionSchema schema = cluster.current().collections().get("c").schema();
    assertThat(schema.requireVectorField(null).metric()).isEqualTo(Metric.COSINE);
    assertThat(schema.requireField("tag"))
        .isEqualTo(new PayloadField(2, "tag", PayloadType.of(PayloadType.Kind.UTF8)));
  }

  @Test
  void aPutThatCreatesWhatIsThereGoesOnAndOneThatAsksForSomethingElseIsRefused() {
    cluster.createKnown("c", SCHEMA, 2);
    assertThat(put(open(creating(SCHEMA, OptionalInt.empty())), batch("a", 1), 0).rows()).isOne();
    assertThat(put(open(creating(SCHEMA, OptionalInt.of(2))), batch("a", 2), 0).rows()).isOne();
    assertThatThrownBy(() -> open(creating(SCHEMA, OptionalInt.of(3))))
        .hasRootCauseMessage(
            "collection 'c' exists and is not what 'create' asks for: shards is 2, asked for 3")
        .rootCause()
        .extracting(e -> ((SagittaException) e).code())
        .isEqualTo(ErrorCode.ALREADY_EXISTS);
    assertThat(cluster.pointCount()).isEqualTo(2);
  }

  @Test
  void columnsThatWouldHaveMadeAnotherCollectionAreRefused() {
    cluster.createKnown("c", SCHEMA, 1);
    CollectionSchema fromColumns = new CollectionSchema(1, IdType.INT64, List.of());
    assertThatThrownBy(() -> open(creating(fromColumns, OptionalInt.empty())))
        .hasRootCauseMessage(
            "collection 'c' exists and is not what 'create' asks for: field 'v': metric is l2,"
                + " asked for cosine");
    assertThat(cluster.writes).hasValue(0);
  }

  @Test
  void aPutWaitsForTheCollectionThatAnotherIsCreating() {
    cluster.createUnknown("c", SCHEMA, 1);
    // For so long it is taken, but on no map.
    cluster.refreshesBehind.set(7);
    assertThat(put(open(creating(SCHEMA, OptionalInt.empty())), batch("a", 1), 0).rows()).isOne();
    assertThat(cluster.refreshesBehind).hasValue(0);
  }

  @Test
  void aCollectionThatAnotherCreatesAtTheSameTimeIsComparedToo() {
    cluster.createUnknown("c", SCHEMA, 1);
    cluster.refreshesBehind.set(1);
    assertThatThrownBy(() -> open(creating(SCHEMA, OptionalInt.of(3))))
        .hasRootCauseMessage(
            "collection 'c' exists and is not what 'create' asks for: shards is 1, asked for 3");
    cluster.dropUnknown("c");
    cluster.createUnknown("c", SCHEMA, 1);
    assertThat(put(open(creating(SCHEMA, OptionalInt.of(1))), batch("a", 1), 0).rows()).isOne();
  }

  private static Command.Put creating(CollectionSchema schema, OptionalInt shards) {
    Command.CreateSpec spec = new Command.CreateSpec("c", schema, shards, OptionalInt.empty());
    return new Command.Put("c", WriteMode.UPSERT, Optional.empty(), Optional.of(spec));
  }
}
