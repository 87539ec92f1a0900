// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.flight.Certificate;
import io.sagitta.flight.Command;
import io.sagitta.flight.client.Answer;
import io.sagitta.flight.client.Row;
import io.sagitta.flight.client.SagittaClient;
import io.sagitta.flight.client.ScanReader;
import io.sagitta.flight.client.Writer;
import io.sagitta.flight.client.WriterOptions;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.model.WriteMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SagittaClientTest {
  private static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.INT64,
          List.of(
              new VectorField(1, "v", VectorType.FLOAT32, 4, Metric.COSINE, false),
              new PayloadField(2, "text", PayloadType.of(PayloadType.Kind.UTF8))));

  private final Served served = new Served();
  private final SagittaClient client =
      SagittaClient.builder()
          .endpoints("127.0.0.1:" + served.endpoint.port())
          .allocator(served.allocator)
          .timeout(Duration.ofSeconds(20))
          .build();

  @AfterEach
  void nothingLeaks() throws InterruptedException {
    client.close();
    served.close();
  }

  private void fill(int rows) throws InterruptedException {
    client.create("c", SCHEMA);
    try (Writer writer = client.writer("c");
        VectorSchemaRoot root = VectorSchemaRoot.create(Served.ROWS, served.allocator)) {
      for (int from = 0; from < rows; from += 1_000) {
        Served.fill(root, from, Math.min(1_000, rows - from));
        var _ = writer.put(root);
      }
    }
  }

  @Test
  void whatIsWrittenIsFoundWithItsScoreVersionAndFields() throws InterruptedException {
    fill(5);
    try (Answer answer =
        client.search("c").vectors(new float[] {1, 0, 0, 0}).k(2).fields("text", "v").run()) {
      List<Row> rows = answer.rows();
      assertThat(rows).hasSize(2);
      Row best = rows.getFirst();
      assertThat(best.id()).isEqualTo(new PointId.Int64(4));
      assertThat(best.score().getAsDouble()).isBetween(0.917, 0.918);
      assertThat(best.version()).isEqualTo(2);
      assertThat(best.fields()).containsEntry("text", "t4");
      assertThat((float[]) best.fields().get("v")).containsExactly(4, 1, 1, 1);
      Certificate certificate = answer.certificate().orElseThrow();
      assertThat(certificate.exact()).isTrue();
      assertThat(answer.root().getRowCount()).isEqualTo(2);
    }
    try (Answer none = client.get("c", List.of(new PointId.Int64(77)))) {
      assertThat(none.rows()).isEmpty();
      assertThat(none.certificate()).isEmpty();
    }
  }

  @Test
  void severalQueriesAndLikeAreAnswered() throws InterruptedException {
    fill(5);
    try (Answer answer =
        client
            .search("c")
            .vectors(new float[] {1, 0, 0, 0}, new float[] {0, 1, 1, 1})
            .k(1)
            .exact()
            .explain()
            .run()) {
      assertThat(answer.rows()).extracting(Row::query).containsExactly(0, 1);
      assertThat(answer.explain()).contains("{\"segments\":[]}");
    }
    try (Answer answer = client.search("c").like(new PointId.Int64(3)).k(1).run()) {
      assertThat(answer.rows().getFirst().id()).isEqualTo(new PointId.Int64(3));
    }
  }

  @Test
  void anAnswerOfSeveralMessagesIsOneRoot() throws InterruptedException {
    fill(10_000);
    String text = "x".repeat(500);
    served
        .handler
        .table("c")
        .points
        .replaceAll(
            (id, point) ->
                new FakeHandler.Stored(
                    point.version(), Map.of("v", point.values().get("v"), "text", text + id)));
    try (Answer answer =
        client.search("c").vectors(new float[] {1, 0, 0, 0}).k(10_000).fields("text").run()) {
      assertThat(answer.root().getRowCount()).isEqualTo(10_000);
      for (Row row : answer.rows()) {
        assertThat(row.fields()).containsEntry("text", text + row.id());
      }
    }
  }

  @Test
  void aScanGivesEveryPointOnceAndItsCursor() throws InterruptedException {
    fill(2_500);
    List<Long> ids = new ArrayList<>();
    try (ScanReader scan = client.scan("c")) {
      while (scan.next()) {
        Answer.rows(scan.batch()).forEach(row -> ids.add(((PointId.Int64) row.id()).value()));
      }
      assertThat(scan.cursor()).contains("2499");
    }
    assertThat(ids).hasSize(2_500).isSorted();
    try (ScanReader early = client.scan("c")) {
      assertThat(early.next()).isTrue();
    }
  }

  @Test
  void collectionsAreCreatedListedDescribedAndDropped() throws InterruptedException {
    fill(3);
    assertThat(client.collections())
        .extracting(SagittaClient.CollectionInfo::name)
        .containsExactly("c");
    assertThat(client.count("c")).isEqualTo(3);
    assertThat(client.schema("c").getFields()).hasSize(3);
    assertThat(client.describe("c").path("schema").path("fields")).hasSize(2);
    assertThat(client.status().path("ok").asBoolean()).isTrue();
    assertThat(client.delete("c", "true").rows()).isEqualTo(3);
    assertThatThrownBy(
            () ->
                client.create(
                    new Command.CreateSpec("c", SCHEMA, OptionalInt.empty(), OptionalInt.empty())))
        .satisfies(
            e -> assertThat(((SagittaException) e).code()).isEqualTo(ErrorCode.ALREADY_EXISTS));
    client.drop("c");
    assertThatThrownBy(() -> client.count("c"))
        .hasMessage("no collection 'c'")
        .satisfies(e -> assertThat(((SagittaException) e).code()).isEqualTo(ErrorCode.NOT_FOUND));
  }

  @ParameterizedTest
  @EnumSource
  void everyErrorArrivesWithItsCodeAndUnavailableIsTriedAgain(ErrorCode code) {
    SagittaException error = new SagittaException(code, "because", 1, null);
    served.handler.reads.add(() -> error);
    if (code == ErrorCode.UNAVAILABLE) {
      assertThat(client.status().path("ok").asBoolean()).isTrue();
      assertThat(served.handler.calls).hasSize(2);
      return;
    }
    assertThatThrownBy(client::status)
        .hasMessage("because")
        .satisfies(e -> assertThat(((SagittaException) e).code()).isEqualTo(code));
    assertThat(served.handler.calls).hasSize(1);
  }

  @Test
  void anEndpointThatIsAwayIsPassedOver() throws InterruptedException {
    fill(1);
    int dead = deadPort();
    try (SagittaClient both =
        SagittaClient.builder()
            .endpoints("127.0.0.1:" + dead, "127.0.0.1:" + served.endpoint.port())
            .allocator(served.allocator)
            .build()) {
      assertThat(both.count("c")).isEqualTo(1);
      both.drop("c");
    }
  }

  @Test
  void aClusterThatIsAwayIsUnavailableOnceTheTimeIsUp() {
    try (SagittaClient away =
        SagittaClient.builder()
            .endpoints("127.0.0.1:" + deadPort())
            .timeout(Duration.ofMillis(300))
            .allocator(served.allocator)
            .build()) {
      assertThatThrownBy(away::status)
          .satisfies(
              e -> assertThat(((SagittaException) e).code()).isEqualTo(ErrorCode.UNAVAILABLE));
      assertThatThrownBy(() -> away.drop("c"))
          .as("never sent, so not unknown")
          .satisfies(
              e -> assertThat(((SagittaException) e).code()).isEqualTo(ErrorCode.UNAVAILABLE));
    }
  }

  /** A port that was free a moment ago and to which nobody listens. */
  static int deadPort() {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aPutMayCreateItsCollectionAndReportsRejectedRows() throws InterruptedException {
    Command.CreateSpec spec =
        new Command.CreateSpec("d", SCHEMA, OptionalInt.empty(), OptionalInt.empty());
    WriterOptions insert = WriterOptions.of("d").withCreate(spec).withMode(WriteMode.INSERT);
    try (Writer writer = client.writer(insert);
        VectorSchemaRoot root = VectorSchemaRoot.create(Served.ROWS, served.allocator)) {
      Served.fill(root, 0, 2);
      assertThat(writer.putAndWait(root).rows()).isEqualTo(2);
      Served.fill(root, 1, 2);
      var second = writer.putAndWait(root);
      assertThat(second.rows()).isEqualTo(1);
      assertThat(second.rejects()).hasSize(1);
      assertThat(second.rejects().getFirst().code()).isEqualTo(ErrorCode.ALREADY_EXISTS);
      assertThat(second.token()).isEqualTo("token-3");
    }
  }
}
