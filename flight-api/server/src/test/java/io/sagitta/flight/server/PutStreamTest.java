// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.flight.FlightErrors;
import io.sagitta.flight.RequestHandler.PutReply;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.FlightStatusCode;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PutStreamTest {
  private static final String READY = "{\"ready\":true}";
  private static final String WRITER = "00000000-0000-0007-0000-000000000001@1";

  private final Served served = new Served().withCollection();

  /**
   * A client's library may leave the rest of a refused message unsent; then only closing ends it.
   */
  @Test
  void aTicketOverTheBoundIsALimit() throws InterruptedException {
    PortConfig impatient =
        new PortConfig(
            "127.0.0.1",
            0,
            Optional.empty(),
            64 << 20,
            Duration.ofSeconds(20),
            Duration.ofMillis(200));
    try (Served own = new Served(impatient)) {
      byte[] huge = new byte[40 << 20];
      assertThatThrownBy(() -> own.read(huge))
          .hasMessageContaining("[sagitta.LIMIT] a message has more than 20971520 bytes");
      assertThat(own.act("status", "")).isEqualTo("{\"ok\":true}");
    }
  }

  @AfterEach
  void nothingLeaks() throws InterruptedException {
    served.close();
  }

  private int count() {
    return served.handler.table("c").points.size();
  }

  @Test
  void readyComesFirstThenOneAnswerABatchInOrder() {
    try (Served.Upload upload = served.upload("c")) {
      assertThat(upload.next()).isEqualTo(READY);
      upload.send(0, 3);
      upload.send(3, 2);
      assertThat(upload.finish())
          .containsExactly(
              "{\"rows\":3,\"shards\":[{\"shard\":0,\"outcome\":\"applied\",\"index\":1}],"
                  + "\"rejects\":[],\"token\":\"token-1\"}",
              "{\"rows\":2,\"shards\":[{\"shard\":0,\"outcome\":\"applied\",\"index\":2}],"
                  + "\"rejects\":[],\"token\":\"token-2\"}");
    }
    assertThat(count()).isEqualTo(5);
  }

  @Test
  void anUnknownCollectionIsRefusedBeforeAnyBatchTravels() {
    try (Served.Upload upload = served.upload("nope")) {
      assertThatThrownBy(upload::next).hasMessageContaining("[sagitta.NOT_FOUND]");
    }
  }

  @Test
  void aPutMayCreateItsCollection() {
    try (Served.Upload upload =
        served.command(
            "{'put':{'collection':'d','create':{'fields':[{'name':'v','type':'float32','dim':4},"
                + "{'name':'text','type':'utf8'}]}}}")) {
      upload.send(0, 2);
      assertThat(upload.finish()).hasSize(2);
    }
    assertThat(served.handler.table("d").points).hasSize(2);
  }

  @Test
  void aStreamWithASchemaButNoBatchIsReadyAndEnds() {
    try (Served.Upload upload = served.upload("c")) {
      assertThat(upload.finish()).containsExactly(READY);
    }
  }

  @Test
  void aBatchWithoutRowsChangesNothingAndIsAnswered() {
    try (Served.Upload upload = served.upload("c")) {
      upload.send(0, 0);
      upload.send(0, 1);
      upload.send(0, 0);
      List<String> answers = upload.finish();
      assertThat(answers).hasSize(4);
      assertThat(answers.get(1))
          .isEqualTo("{\"rows\":0,\"shards\":[],\"rejects\":[],\"token\":\"\"}");
      assertThat(answers.get(3)).isEqualTo(answers.get(1));
    }
    assertThat(served.handler.putCalls).hasValue(1);
  }

  @Test
  void severalBatchesAreUnderWayAndAnswersKeepTheirOrder() throws Exception {
    int batches = 10;
    CountDownLatch begun = new CountDownLatch(batches);
    List<CompletableFuture<PutReply>> open = new ArrayList<>();
    for (int i = 0; i < batches; i++) {
      served.handler.puts.add(
          apply -> {
            CompletableFuture<PutReply> reply = new CompletableFuture<>();
            synchronized (open) {
              open.add(reply);
            }
            begun.countDown();
            return reply;
          });
    }
    try (Served.Upload upload = served.upload("c")) {
      for (int i = 0; i < batches; i++) {
        upload.send(i, 1);
      }
      // None has been answered, yet all have begun.
      assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
      for (int i = batches - 1; i >= 0; i--) {
        open.get(i)
            .complete(new PutReply(("{\"rows\":" + i + "}").getBytes(StandardCharsets.UTF_8)));
      }
      List<String> answers = upload.finish();
      assertThat(answers).hasSize(batches + 1).startsWith(READY);
      for (int i = 0; i < batches; i++) {
        assertThat(answers.get(i + 1)).isEqualTo("{\"rows\":" + i + "}");
      }
    }
  }

  @Test
  void noMoreBatchesThanTheWindowBeginUntilSomeAreAnswered() throws Exception {
    int sent = PutReplies.BATCHES_MAX + 8;
    CountDownLatch full = new CountDownLatch(PutReplies.BATCHES_MAX);
    CompletableFuture<PutReply> gate = new CompletableFuture<>();
    for (int i = 0; i < PutReplies.BATCHES_MAX; i++) {
      served.handler.puts.add(
          apply -> {
            full.countDown();
            return gate.thenApply(go -> apply.get());
          });
    }
    try (Served.Upload upload = served.upload("c")) {
      for (int i = 0; i < sent; i++) {
        upload.send(i, 1);
      }
      assertThat(full.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(served.handler.putCalls).hasValue(PutReplies.BATCHES_MAX);
      gate.complete(null);
      assertThat(upload.finish()).hasSize(sent + 1);
    }
    assertThat(count()).isEqualTo(sent);
  }

  @Test
  void anErrorHidesNoAnswerOfAnotherBatch() {
    CompletableFuture<PutReply> first = new CompletableFuture<>();
    served.handler.puts.add(apply -> first);
    served.handler.puts.add(
        apply ->
            CompletableFuture.failedFuture(
                new SagittaException(ErrorCode.UNAVAILABLE, "shard 1 has no leader", 70, null)));
    served.handler.puts.add(
        apply -> {
          PutReply reply = apply.get();
          first.complete(new PutReply("{\"rows\":1}".getBytes(StandardCharsets.UTF_8)));
          return CompletableFuture.completedFuture(reply);
        });
    try (Served.Upload upload =
        served.command("{'put':{'collection':'c','writer':'" + WRITER + "'}}")) {
      upload.send(0, 1, "{'seq':0}");
      upload.send(1, 1, "{'seq':1}");
      upload.send(2, 1, "{'seq':2,'acked_below':0}");
      upload.stream.completed();
      assertThat(upload.next()).isEqualTo(READY);
      assertThat(upload.next()).isEqualTo("{\"rows\":1}");
      assertThat(upload.next())
          .isEqualTo(
              "{\"seq\":1,\"error\":{\"code\":\"sagitta.UNAVAILABLE\","
                  + "\"message\":\"shard 1 has no leader\",\"retry_after_ms\":70}}");
      assertThat(upload.next()).startsWith("{\"seq\":2,\"rows\":1");
      assertThatThrownBy(upload::next)
          .satisfies(
              e -> {
                SagittaException failed = FlightErrors.coded(e).orElseThrow();
                assertThat(failed.code()).isEqualTo(ErrorCode.UNAVAILABLE);
                assertThat(failed.retryAfterMs()).hasValue(70);
              });
    }
  }

  /** The stream takes no batch when this comes to light, and none comes to wake it. */
  @Test
  void aFailureBehindALateAnswerEndsTheStreamThoughTheClientSendsNothingMore() throws Exception {
    CompletableFuture<PutReply> late = new CompletableFuture<>();
    CountDownLatch begun = new CountDownLatch(2);
    served.handler.puts.add(
        apply -> {
          begun.countDown();
          return late;
        });
    served.handler.puts.add(
        apply -> {
          begun.countDown();
          return CompletableFuture.failedFuture(
              new SagittaException(ErrorCode.UNAVAILABLE, "no leader", 70, null));
        });
    try (Served.Upload upload = served.upload("c")) {
      upload.send(0, 1);
      upload.send(1, 1);
      assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
      late.complete(new PutReply("{\"rows\":1}".getBytes(StandardCharsets.UTF_8)));
      assertThat(upload.next()).isEqualTo(READY);
      assertThat(upload.next()).isEqualTo("{\"rows\":1}");
      assertThat(upload.next()).contains("no leader");
      assertThatThrownBy(upload::next)
          .satisfies(
              e ->
                  assertThat(FlightErrors.coded(e).orElseThrow().code())
                      .isEqualTo(ErrorCode.UNAVAILABLE));
    }
  }

  @Test
  void aReplyThatCarriesAFailureIsSentBeforeTheStreamEndsWithIt() {
    served.handler.puts.add(
        apply ->
            CompletableFuture.completedFuture(
                new PutReply(
                    "{\"rows\":7}".getBytes(StandardCharsets.UTF_8),
                    Optional.of(new SagittaException(ErrorCode.OUTCOME_UNKNOWN, "shard 2")))));
    try (Served.Upload upload = served.upload("c")) {
      upload.send(0, 1);
      upload.stream.completed();
      assertThat(upload.next()).isEqualTo(READY);
      assertThat(upload.next()).isEqualTo("{\"rows\":7}");
      assertThatThrownBy(upload::next)
          .isInstanceOfSatisfying(
              FlightRuntimeException.class,
              e -> assertThat(e.status().code()).isEqualTo(FlightStatusCode.TIMED_OUT))
          .hasMessageContaining("[sagitta.OUTCOME_UNKNOWN] shard 2");
    }
  }

  @Test
  void aReplayUnderTheSameWriterAndNumberGetsTheFirstAnswer() {
    String put = "{'put':{'collection':'c','writer':'" + WRITER + "'}}";
    List<String> answers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      try (Served.Upload upload = served.command(put)) {
        upload.send(0, 1, "{'seq':5,'acked_below':5}");
        answers.add(upload.finish().get(1));
      }
    }
    assertThat(answers.get(1)).isEqualTo(answers.get(0)).startsWith("{\"seq\":5");
    assertThat(served.handler.table("c").points.get(new PointId.Int64(0)).version()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          {'seq':0,'acked_below':1} | 'acked_below' is 1, expected at most 'seq', 0
          {'seq':-1} | 'app_metadata.seq' is -1, expected an integer from 0
          {'sequence':1} | unknown key 'app_metadata.sequence'
          {} | key 'seq' is missing
          {'seq':1 | malformed JSON
          """)
  void aBadTagIsRefusedByName(String tag, String message) {
    try (Served.Upload upload =
        served.command("{'put':{'collection':'c','writer':'" + WRITER + "'}}")) {
      upload.send(0, 1, tag);
      assertThatThrownBy(upload::finish).hasMessageContaining(message);
    }
    assertThat(count()).isZero();
  }

  @Test
  void aWriterNeedsNumbersAndNumbersNeedAWriter() {
    try (Served.Upload upload = served.upload("c")) {
      upload.send(0, 1, "{'seq':1}");
      assertThatThrownBy(upload::finish).hasMessageContaining("the put has no writer");
    }
    try (Served.Upload upload =
        served.command("{'put':{'collection':'c','writer':'" + WRITER + "'}}")) {
      upload.send(0, 1);
      assertThatThrownBy(upload::finish).hasMessageContaining("expected {\"seq\": n, ..}");
    }
    assertThat(count()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          {'search':{'collection':'c','vector':[1]}} | the descriptor's command is no put
          {'put':{'collection':'C'}} | [a-z0-9]
          {'put':{'collection':'c','mode':'replace'}} | one of [upsert, insert, update, delete]
          garbage | begins with byte
          """)
  void aBadDescriptorIsRefusedByName(String command, String message) {
    try (Served.Upload upload = served.command(command)) {
      assertThatThrownBy(upload::finish)
          .hasMessageContaining("[sagitta.INVALID_ARGUMENT]")
          .hasMessageContaining(message);
    }
  }

  @Test
  void aPathOfSeveralElementsIsRefused() {
    try (Served.Upload upload = served.new Upload(FlightDescriptor.path("db", "c"), Served.ROWS)) {
      assertThatThrownBy(upload::finish).hasMessageContaining("path has 2 elements, expected one");
    }
  }

  @Test
  void oneBadRowRefusesItsBatchAndEndsTheStream() {
    try (Served.Upload upload = served.upload("c")) {
      upload.send(0, 2);
      Served.fill(upload.root, 10, 2);
      ((Float4Vector) ((FixedSizeListVector) upload.root.getVector("v")).getDataVector())
          .set(5, Float.NaN);
      upload.stream.putNext();
      upload.stream.completed();
      assertThat(upload.next()).isEqualTo(READY);
      assertThat(upload.next()).startsWith("{\"rows\":2");
      assertThat(upload.next()).contains("row 1: field 'v': component 1 is NaN");
      assertThatThrownBy(upload::next)
          .isInstanceOfSatisfying(
              FlightRuntimeException.class,
              e -> assertThat(e.status().code()).isEqualTo(FlightStatusCode.INVALID_ARGUMENT));
    }
    assertThat(count()).isEqualTo(2);
  }

  @Test
  void aBatchOverItsBoundIsALimitAndTheConnectionStays() {
    Schema ids =
        new Schema(
            List.of(
                new Field("id", FieldType.notNullable(new ArrowType.Int(64, true)), List.of())));
    try (Served.Upload upload = served.new Upload(FlightDescriptor.path("c"), ids)) {
      fillIds(upload.root, (17 << 20) / 8);
      upload.stream.putNext();
      upload.stream.completed();
      assertThat(upload.next()).isEqualTo(READY);
      assertThatThrownBy(upload::next)
          .hasMessageContaining("[sagitta.LIMIT] record batch has")
          .hasMessageContaining("at most 16777216");
    }
    assertThat(served.act("count", "{'collection':'c'}")).isEqualTo("{\"count\":0}");
  }

  @ParameterizedTest
  @ValueSource(ints = {21, 50, 150})
  void aMessageFarOverItsBoundIsALimitTooAndWhatWentBeforeIsAnswered(int mebibytes) {
    Schema ids =
        new Schema(
            List.of(
                new Field("id", FieldType.notNullable(new ArrowType.Int(64, true)), List.of())));
    String delete = "{\"put\":{\"collection\":\"c\",\"mode\":\"delete\"}}";
    FlightDescriptor descriptor = FlightDescriptor.command(delete.getBytes(StandardCharsets.UTF_8));
    try (Served.Upload upload = served.new Upload(descriptor, ids)) {
      assertThat(upload.next()).isEqualTo(READY);
      fillIds(upload.root, 10);
      upload.stream.putNext();
      fillIds(upload.root, (mebibytes << 20) / 8);
      upload.stream.putNext();
      assertThat(upload.next()).startsWith("{\"rows\":10");
      assertThatThrownBy(upload::next)
          .isInstanceOfSatisfying(
              FlightRuntimeException.class,
              e -> assertThat(e.status().code()).isEqualTo(FlightStatusCode.INVALID_ARGUMENT))
          .hasMessageContaining("[sagitta.LIMIT] a message has more than 20971520 bytes");
    }
    assertThat(served.act("count", "{'collection':'c'}")).isEqualTo("{\"count\":0}");
  }

  private static void fillIds(VectorSchemaRoot root, int rows) {
    BigIntVector vector = (BigIntVector) root.getVector("id");
    vector.allocateNew(rows);
    for (int i = 0; i < rows; i++) {
      vector.set(i, i);
    }
    root.setRowCount(rows);
  }

  @Test
  void rejectedUploadsNeverTakeTheConnectionWithThem() {
    for (int round = 0; round < 20; round++) {
      try (Served.Upload upload = served.upload(round % 2 == 0 ? "nope" : "c")) {
        for (int i = 0; i < 20; i++) {
          if (round % 2 == 1 && i == 3) {
            served.handler.puts.add(
                apply -> CompletableFuture.failedFuture(SagittaException.invalid("no")));
          }
          upload.send(i, 500);
        }
        assertThatThrownBy(upload::finish).hasMessageContaining("[sagitta.");
      } catch (FlightRuntimeException e) {
        // The client's own putNext may be the first to notice.
        assertThat(e).hasMessageContaining("[sagitta.");
      } finally {
        served.handler.puts.clear();
      }
      assertThat(served.act("status", "")).isEqualTo("{\"ok\":true}");
    }
  }

  @Test
  void aClientThatGoesAwayMidwayLeavesNothingBehind() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CompletableFuture<PutReply> never = new CompletableFuture<>();
    served.handler.puts.add(
        apply -> {
          begun.countDown();
          return never;
        });
    CountDownLatch cancelled = new CountDownLatch(1);
    try (Served.Upload upload = served.upload("c")) {
      assertThat(upload.next()).isEqualTo(READY);
      served.handler.calls.getLast().onCancel().accept(cancelled::countDown);
      upload.send(0, 100);
      upload.send(100, 100);
      assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
      upload.stream.error(new IllegalStateException("gone"));
      assertThat(cancelled.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void aDrainingNodeAsksWritersToGoElsewhereAndAnswersWhatTheySent() {
    CompletableFuture<PutReply> late = new CompletableFuture<>();
    served.handler.puts.add(apply -> late.thenApply(go -> apply.get()));
    try (Served.Upload upload = served.upload("c")) {
      assertThat(upload.next()).isEqualTo(READY);
      upload.send(0, 1);
      served.endpoint.drain();
      assertThat(upload.next()).isEqualTo("{\"rotate\":true}");
      late.complete(null);
      assertThat(upload.finish()).hasSize(1);
    }
    assertThat(count()).isEqualTo(1);
  }

  @Test
  void aStreamThatOpensWhileTheNodeDrainsIsAskedToGoElsewhereOnceItIsReady() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    Semaphore open = new Semaphore(0);
    served.handler.reads.add(
        () -> {
          begun.countDown();
          open.acquireUninterruptibly();
          return null;
        });
    try (Served.Upload upload = served.upload("c")) {
      assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
      served.endpoint.drain();
      open.release();
      assertThat(upload.next()).isEqualTo(READY);
      assertThat(upload.next()).isEqualTo("{\"rotate\":true}");
      assertThat(upload.finish()).isEmpty();
    }
  }
}
