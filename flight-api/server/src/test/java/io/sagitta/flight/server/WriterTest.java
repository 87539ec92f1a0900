// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.flight.PutAck;
import io.sagitta.flight.RequestHandler.PutReply;
import io.sagitta.flight.client.SagittaClient;
import io.sagitta.flight.client.SessionExpiry;
import io.sagitta.flight.client.Writer;
import io.sagitta.flight.client.WriterOptions;
import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.WriterId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class WriterTest {
  private final Served served = new Served().withCollection();
  private final SagittaClient client = client(served.endpoint.port());
  private final VectorSchemaRoot root = VectorSchemaRoot.create(Served.ROWS, served.allocator);

  private SagittaClient client(int... ports) {
    String[] endpoints = new String[ports.length];
    for (int i = 0; i < ports.length; i++) {
      endpoints[i] = "127.0.0.1:" + ports[i];
    }
    return SagittaClient.builder()
        .endpoints(endpoints)
        .allocator(served.allocator)
        .timeout(Duration.ofSeconds(20))
        .build();
  }

  @AfterEach
  void nothingLeaks() throws InterruptedException {
    root.close();
    client.close();
    served.close();
  }

  private CompletableFuture<PutAck.Done> put(Writer writer, int from, int count)
      throws InterruptedException {
    Served.fill(root, from, count);
    return writer.put(root);
  }

  private static SagittaException failureOf(CompletableFuture<?> answer) {
    try {
      answer.join();
      throw new AssertionError("no failure");
    } catch (CompletionException e) {
      return (SagittaException) e.getCause();
    }
  }

  private long version(int id) {
    return served.handler.table("c").points.get(new PointId.Int64(id)).version();
  }

  @Test
  void numbersGrowAndAnswersComeInOrder() throws InterruptedException {
    List<CompletableFuture<PutAck.Done>> answers = new ArrayList<>();
    try (Writer writer = client.writer("c")) {
      for (int i = 0; i < 100; i++) {
        answers.add(put(writer, i * 10, 10));
      }
      writer.flush();
      for (int i = 0; i < 100; i++) {
        assertThat(answers.get(i).join().seq()).hasValue(i);
        assertThat(answers.get(i).join().rows()).isEqualTo(10);
      }
    }
    assertThat(served.handler.table("c").points).hasSize(1_000);
    assertThat(served.endpoint.putStreams()).isZero();
  }

  @ParameterizedTest
  @EnumSource(names = {"UNAVAILABLE", "OUTCOME_UNKNOWN", "DEADLINE_EXCEEDED"})
  void whatMayBeTriedAgainIsTriedUnderTheSameNumberAndTakesEffectOnce(ErrorCode code)
      throws InterruptedException {
    // The first attempt is applied, but its answer says otherwise.
    served.handler.puts.add(
        apply -> {
          var _ = apply.get();
          return CompletableFuture.failedFuture(new SagittaException(code, "lost", 1, null));
        });
    try (Writer writer = client.writer("c")) {
      PutAck.Done done = put(writer, 0, 1).join();
      assertThat(done.seq()).hasValue(0);
    }
    assertThat(served.handler.putCalls).hasValue(2);
    // open_writer took number 1; the batch was applied at 2, and the replay changed nothing.
    assertThat(version(0)).isEqualTo(2);
  }

  @Test
  void aBatchWhoseShardFailedIsSentAgainThoughItsAnswerCame() throws InterruptedException {
    SagittaException failure = new SagittaException(ErrorCode.UNAVAILABLE, "no leader", 1, null);
    byte[] partly =
        new PutAck.Done(
                OptionalLong.of(0),
                1,
                List.of(
                    new PutAck.ShardAck(0, "applied", 4),
                    new PutAck.ShardAck(1, "sagitta.UNAVAILABLE", -1)),
                List.of(),
                "t")
            .toJson();
    served.handler.puts.add(
        apply -> CompletableFuture.completedFuture(new PutReply(partly, Optional.of(failure))));
    try (Writer writer = client.writer("c")) {
      assertThat(put(writer, 0, 2).join().rows()).isEqualTo(2);
    }
    assertThat(served.handler.putCalls).hasValue(2);
  }

  /** What is certain of a batch that every attempt failed for, when its time is up. */
  @ParameterizedTest
  @CsvSource({
    "sagitta.UNAVAILABLE, -1, sagitta.UNAVAILABLE, -1, UNAVAILABLE",
    "applied, 4, sagitta.UNAVAILABLE, -1, OUTCOME_UNKNOWN",
    "sagitta.UNAVAILABLE, -1, sagitta.UNAVAILABLE, 4, OUTCOME_UNKNOWN",
    "sagitta.UNAVAILABLE, -1, sagitta.OUTCOME_UNKNOWN, -1, OUTCOME_UNKNOWN"
  })
  void aBatchIsCalledNotAppliedOnlyIfNoShardAppliedAnyOfIt(
      String first, long firstIndex, String second, long secondIndex, ErrorCode expected)
      throws InterruptedException {
    SagittaException failure = new SagittaException(ErrorCode.UNAVAILABLE, "full", 5_000, null);
    byte[] answer =
        new PutAck.Done(
                OptionalLong.of(0),
                0,
                List.of(
                    new PutAck.ShardAck(0, first, firstIndex),
                    new PutAck.ShardAck(1, second, secondIndex)),
                List.of(),
                "")
            .toJson();
    served.handler.puts.add(
        apply -> CompletableFuture.completedFuture(new PutReply(answer, Optional.of(failure))));
    WriterOptions brief = WriterOptions.of("c").withBatchTimeout(Duration.ofSeconds(2));
    try (Writer writer = client.writer(brief)) {
      assertThat(failureOf(put(writer, 0, 2)).code()).isEqualTo(expected);
    }
  }

  @Test
  void aBatchThatFailsBehindALateOneIsSentAgainThoughNoOtherFollows() throws InterruptedException {
    CompletableFuture<Void> gate = new CompletableFuture<>();
    served.handler.puts.add(apply -> gate.thenApply(go -> apply.get()));
    served.handler.puts.add(
        apply -> {
          var _ = gate.completeOnTimeout(null, 50, TimeUnit.MILLISECONDS);
          return CompletableFuture.failedFuture(
              new SagittaException(ErrorCode.UNAVAILABLE, "no", 1, null));
        });
    try (Writer writer = client.writer("c")) {
      CompletableFuture<PutAck.Done> first = put(writer, 0, 1);
      assertThat(put(writer, 1, 1).join().rows()).isEqualTo(1);
      assertThat(first.join().rows()).isEqualTo(1);
    }
  }

  @Test
  void aRefusedBatchFailsAloneAndTheOthersGoOn() throws InterruptedException {
    served.handler.puts.add(apply -> CompletableFuture.completedFuture(apply.get()));
    served.handler.puts.add(
        apply -> CompletableFuture.failedFuture(SagittaException.invalid("row 0: no")));
    List<CompletableFuture<PutAck.Done>> answers = new ArrayList<>();
    try (Writer writer = client.writer("c")) {
      for (int i = 0; i < 20; i++) {
        answers.add(put(writer, i, 1));
      }
    }
    assertThat(failureOf(answers.get(1)).code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    for (int i = 0; i < 20; i++) {
      if (i != 1) {
        assertThat(answers.get(i).join().rows()).isEqualTo(1);
      }
    }
    assertThat(served.handler.table("c").points).hasSize(19);
  }

  @Test
  void anUnknownCollectionFailsEveryBatchAndALaterOneMaySucceed() throws InterruptedException {
    try (Writer writer = client.writer("later")) {
      assertThat(failureOf(put(writer, 0, 1)).code()).isEqualTo(ErrorCode.NOT_FOUND);
      assertThat(failureOf(put(writer, 0, 1)).code()).isEqualTo(ErrorCode.NOT_FOUND);
      served.handler.tables.put("later", served.handler.table("c"));
      assertThat(put(writer, 0, 1).join().rows()).isEqualTo(1);
    }
  }

  @Test
  void anExpiredSessionTellsItsHorizon() throws InterruptedException {
    served.handler.puts.add(
        apply ->
            CompletableFuture.failedFuture(
                new SagittaException(
                    ErrorCode.SESSION_EXPIRED,
                    "shard 0: the writer may have been forgotten; open another with"
                        + " {\"after\": 1234}")));
    try (Writer writer = client.writer("c")) {
      SagittaException expired = failureOf(put(writer, 0, 1));
      assertThat(expired.code()).isEqualTo(ErrorCode.SESSION_EXPIRED);
      assertThat(SessionExpiry.horizonMs(expired)).hasValue(1234);
      assertThat(client.openWriter(SessionExpiry.horizonMs(expired)).openedAtMs())
          .isGreaterThan(1234);
    }
  }

  @Test
  void aBatchThatIsNotAnsweredInTimeIsUnknownAndTheNextOnesGoOn() throws InterruptedException {
    served.handler.puts.add(apply -> new CompletableFuture<>());
    WriterOptions brief = WriterOptions.of("c").withBatchTimeout(Duration.ofMillis(400));
    try (Writer writer = client.writer(brief)) {
      assertThat(failureOf(put(writer, 0, 1)).code()).isEqualTo(ErrorCode.OUTCOME_UNKNOWN);
      assertThat(put(writer, 1, 1).join().rows()).isEqualTo(1);
    }
  }

  @Test
  void aBatchThatWasNeverSentIsNotCalledUnknown() throws InterruptedException {
    try (SagittaClient away = client(SagittaClientTest.deadPort());
        Writer writer =
            away.writer(
                WriterOptions.of("c")
                    .withWriter(WriterId.parse("00000000-0000-0007-0000-000000000001@1"))
                    .withBatchTimeout(Duration.ofMillis(300)))) {
      assertThat(failureOf(put(writer, 0, 1)).code()).isEqualTo(ErrorCode.UNAVAILABLE);
    }
  }

  @Test
  void aRefusalIsNotMadeUnknownByAnAttemptThatNoTimeIsLeftFor() throws InterruptedException {
    // The pause that is asked for ends within the last twentieth of the batch's time.
    served.handler.puts.add(
        apply ->
            CompletableFuture.failedFuture(
                new SagittaException(ErrorCode.UNAVAILABLE, "the disk is full", 1_960, null)));
    served.handler.puts.add(apply -> new CompletableFuture<>());
    WriterOptions brief = WriterOptions.of("c").withBatchTimeout(Duration.ofSeconds(2));
    try (Writer writer = client.writer(brief)) {
      SagittaException refused = failureOf(put(writer, 0, 1));
      assertThat(refused.code()).isEqualTo(ErrorCode.UNAVAILABLE);
      assertThat(refused).hasMessageContaining("the disk is full");
    }
  }

  @Test
  void noMoreBatchesAreUnderWayThanTheWindowHolds() throws InterruptedException {
    CompletableFuture<Void> gate = new CompletableFuture<>();
    CountDownLatch begun = new CountDownLatch(4);
    for (int i = 0; i < 4; i++) {
      served.handler.puts.add(
          apply -> {
            begun.countDown();
            return gate.thenApply(go -> apply.get());
          });
    }
    try (Writer writer = client.writer(WriterOptions.of("c").withWindow(4, 1 << 20))) {
      for (int i = 0; i < 4; i++) {
        var _ = put(writer, i, 1);
      }
      assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
      Thread waiting =
          Thread.startVirtualThread(
              () -> {
                try {
                  var _ = put(writer, 4, 1);
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              });
      assertThat(waiting.join(Duration.ofMillis(200))).isFalse();
      gate.complete(null);
      waiting.join();
    }
    assertThat(served.handler.table("c").points).hasSize(5);
  }

  @Test
  void aDrainingNodeIsLeftForAnotherAndNothingIsLost() throws Exception {
    try (Served other = new Served()) {
      other.handler.tables.put("c", served.handler.table("c"));
      try (SagittaClient both = client(served.endpoint.port(), other.endpoint.port());
          Writer writer = both.writer("c")) {
        List<CompletableFuture<PutAck.Done>> answers = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
          answers.add(put(writer, i, 1));
          if (i == 25) {
            served.endpoint.drain();
          }
        }
        for (CompletableFuture<PutAck.Done> answer : answers) {
          assertThat(answer.join().rows()).isEqualTo(1);
        }
      }
      assertThat(other.handler.putCalls.get()).isPositive();
    }
    assertThat(served.handler.table("c").points).hasSize(50);
  }

  @Test
  void aNodeThatDiesMidwayIsReplacedAndEveryBatchTakesEffect() throws Exception {
    Served first = new Served();
    first.handler.tables.put("c", served.handler.table("c"));
    CountDownLatch begun = new CountDownLatch(1);
    for (int i = 0; i < 100; i++) {
      int batch = i;
      first.handler.puts.add(
          apply -> {
            begun.countDown();
            // Applied, but the answer never leaves the node.
            PutReply reply = apply.get();
            return batch < 3 ? CompletableFuture.completedFuture(reply) : new CompletableFuture<>();
          });
    }
    try (SagittaClient both = client(first.endpoint.port(), served.endpoint.port());
        Writer writer = both.writer("c")) {
      List<CompletableFuture<PutAck.Done>> answers = new ArrayList<>();
      for (int i = 0; i < 12; i++) {
        answers.add(put(writer, i, 1));
      }
      assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
      answers.get(2).join();
      first.kill();
      for (int i = 0; i < 12; i++) {
        assertThat(answers.get(i).join().seq()).hasValue(i);
      }
    } finally {
      first.close();
    }
    assertThat(served.handler.table("c").points).hasSize(12);
  }

  @Test
  void whatCannotBeSentIsRefusedHere() throws InterruptedException {
    try (Writer writer = client.writer("c")) {
      put(writer, 0, 1).join();
      try (VectorSchemaRoot other =
          VectorSchemaRoot.create(
              new Schema(Served.ROWS.getFields().subList(0, 2)), served.allocator)) {
        assertThatThrownBy(() -> writer.put(other)).hasMessageContaining("expected");
      }
    }
  }

  /** Answers are lost, delayed and refused at random; what was acknowledged is there, once. */
  @Seeded
  @Test
  void throughRandomFailuresEveryBatchTakesEffectOnce(Seed seed) throws InterruptedException {
    RandomGenerator random = seed.random();
    int batches = 300;
    List<CompletableFuture<PutReply>> delayed = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      int kind = random.nextInt(8);
      served.handler.puts.add(
          apply -> {
            CompletableFuture<PutReply> oldest;
            synchronized (delayed) {
              oldest = delayed.size() > 3 ? delayed.removeFirst() : null;
            }
            if (oldest != null) {
              oldest.complete(null);
            }
            return switch (kind) {
              case 0 ->
                  CompletableFuture.failedFuture(
                      new SagittaException(ErrorCode.UNAVAILABLE, "no", 1, null));
              case 1 -> {
                var _ = apply.get();
                yield CompletableFuture.failedFuture(
                    new SagittaException(ErrorCode.OUTCOME_UNKNOWN, "lost", 1, null));
              }
              case 2 -> {
                CompletableFuture<PutReply> gate = new CompletableFuture<>();
                synchronized (delayed) {
                  delayed.add(gate);
                }
                // Freed by a later put, or by time where none comes.
                yield gate.completeOnTimeout(null, 50, TimeUnit.MILLISECONDS)
                    .thenApply(go -> apply.get());
              }
              default -> CompletableFuture.completedFuture(apply.get());
            };
          });
    }
    List<CompletableFuture<PutAck.Done>> answers = new ArrayList<>();
    try (Writer writer = client.writer(WriterOptions.of("c").withWindow(8, 1 << 20))) {
      for (int i = 0; i < batches; i++) {
        answers.add(put(writer, i * 2, 2));
      }
    }
    for (int i = 0; i < batches; i++) {
      assertThat(answers.get(i).join().seq()).hasValue(i);
    }
    assertThat(served.handler.table("c").points).hasSize(batches * 2);
    assertThat(served.handler.applied).hasValue(batches);
  }
}
