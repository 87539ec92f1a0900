// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sagitta.flight.Certificate;
import io.sagitta.flight.Commands;
import io.sagitta.flight.FlightErrors;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.arrow.flight.ActionType;
import org.apache.arrow.flight.Criteria;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.FlightInfo;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.FlightStatusCode;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

class PublicEndpointTest {
  private final Served served = new Served().withCollection();

  @AfterEach
  void nothingLeaks() throws InterruptedException {
    served.close();
  }

  private void put(int count) {
    try (Served.Upload upload = served.upload("c")) {
      for (int from = 0; from < count; from += 1_000) {
        upload.send(from, Math.min(1_000, count - from));
      }
      upload.finish();
    }
  }

  @Test
  void aSearchAnswersRowsBestFirstWithItsCertificateInTheSchema() {
    put(5);
    Served.Read read =
        served.read("{'search':{'collection':'c','vector':[1,0,0,0],'k':2,'explain':true}}");
    assertThat(read.rows()).containsExactly("[0, 4, 0.9176629, 1, t4]", "[0, 3, 0.8660254, 1, t3]");
    Certificate certificate =
        Certificate.parse(read.schema().getCustomMetadata().get("sagitta.certificate"));
    assertThat(certificate.exact()).isTrue();
    assertThat(certificate.shards()).containsExactly(new Certificate.ShardPart(0, 1, "n1"));
    assertThat(read.schema().getCustomMetadata())
        .containsEntry("sagitta.explain", "{\"segments\":[]}");
  }

  @Test
  void aSearchWithoutHitsIsAnAnswerWithoutRows() {
    Served.Read read = served.read("{'search':{'collection':'c','vector':[1,0,0,0]}}");
    assertThat(read.rows()).isEmpty();
    assertThat(read.schema().getCustomMetadata()).containsKey("sagitta.certificate");
  }

  @Test
  void aSearchOfSeveralVectorsNumbersThem() {
    put(3);
    Served.Read read =
        served.read("{'search':{'collection':'c','vectors':[[1,0,0,0],[0,1,1,1]],'k':1}}");
    assertThat(read.rows()).containsExactly("[0, 2, 0.75592893, 1, t2]", "[1, 0, 1.0, 1, t0]");
  }

  @Test
  void getAnswersInTheOrderAskedAndLeavesAbsentIdsOut() {
    put(3);
    Served.Read read = served.read("{'get':{'collection':'c','ids':[2,99,0],'fields':['text']}}");
    assertThat(read.rows()).containsExactly("[2, 1, t2]", "[0, 1, t0]");
  }

  @Test
  void aScanSendsEveryPointInOrderAndTheCursorLast() {
    put(2_500);
    Served.Read read = served.read("{'scan':{'collection':'c'}}");
    assertThat(read.rows()).hasSize(2_500).startsWith("[0, 1, t0]").endsWith("[2499, 3, t2499]");
    assertThat(read.metadata()).containsExactly("{\"cursor\":\"2499\"}");
    Served.Read next = served.read("{'scan':{'collection':'c','cursor':'2490','limit':2}}");
    assertThat(next.rows()).containsExactly("[2491, 3, t2491]", "[2492, 3, t2492]");
  }

  @Test
  void noMessageIsLargerThanTwoMebibytes() {
    put(20_000);
    // 10,000 hits of some 100 bytes of text each do not fit one message.
    String text = "x".repeat(1_000);
    served
        .handler
        .table("c")
        .points
        .replaceAll(
            (id, point) ->
                new FakeHandler.Stored(
                    point.version(), Map.of("v", point.values().get("v"), "text", text + id)));
    Served.Read read =
        served.read(
            "{'search':{'collection':'c','vector':[1,0,0,0],'k':10000,'fields':['v','text']}}");
    assertThat(read.rows()).hasSize(10_000);
    assertThat(read.batches().size()).isBetween(5, 8);
    assertThat(read.rows()).allMatch(row -> row.contains(text));
    Served.Read scan = served.read("{'scan':{'collection':'c'}}");
    assertThat(scan.rows()).hasSize(20_000);
  }

  @Test
  void anAnswerOverItsBoundIsALimit() {
    put(10_000);
    String text = "x".repeat(8_000);
    served
        .handler
        .table("c")
        .points
        .replaceAll(
            (id, point) ->
                new FakeHandler.Stored(
                    point.version(), Map.of("v", point.values().get("v"), "text", text)));
    assertThatThrownBy(
            () -> served.read("{'search':{'collection':'c','vector':[1,0,0,0],'k':10000}}"))
        .hasMessageContaining("[sagitta.LIMIT] the answer has")
        .hasMessageContaining("at most 67108864");
  }

  @Test
  void everyActionAnswersOneJsonObject() {
    put(3);
    assertThat(served.act("count", "{'collection':'c'}")).isEqualTo("{\"count\":3}");
    assertThat(served.act("describe", "{'collection':'c'}")).contains("\"dim\":4");
    assertThat(served.act("open_writer", "")).contains("\"writer\":");
    assertThat(served.act("open_writer", "{'after':41}")).contains("\"opened_at\":42");
    assertThat(served.act("status", "")).isEqualTo("{\"ok\":true}");
    assertThat(served.act("delete", "{'collection':'c','filter':'true'}")).contains("\"rows\":3");
    assertThat(served.act("drop", "{'collection':'c'}")).isEqualTo("{}");
    assertThatThrownBy(() -> served.act("count", "{'collection':'c'}"))
        .hasMessageContaining("[sagitta.NOT_FOUND] no collection 'c'");
  }

  @Test
  void listActionsNamesEveryAction() {
    List<String> names = new ArrayList<>();
    for (ActionType type : served.client.listActions()) {
      names.add(type.getType());
    }
    assertThat(names).isEqualTo(Commands.ACTIONS);
  }

  @Test
  void collectionsAreListedWithTheirSchema() throws Exception {
    put(3);
    List<FlightInfo> infos = new ArrayList<>();
    served.client.listFlights(Criteria.ALL).forEach(infos::add);
    assertThat(infos).hasSize(1);
    FlightInfo info = infos.getFirst();
    assertThat(info.getDescriptor().getPath()).containsExactly("c");
    assertThat(info.getRecords()).isEqualTo(3);
    Schema schema = served.client.getSchema(FlightDescriptor.path("c")).getSchema();
    assertThat(ArrowSchemas.fromArrow(schema)).isEqualTo(served.handler.table("c").schema());
    assertThat(served.read(info.getEndpoints().getFirst().getTicket().getBytes()).rows())
        .hasSize(3);
    assertThat(served.client.getInfo(FlightDescriptor.path("c")).getSchemaOptional())
        .contains(schema);
  }

  @Test
  void aScanIsPlannedWithOneEndpointAShard() {
    FlightInfo info = served.client.getInfo(command("{'scan':{'collection':'c'}}"));
    assertThat(info.getOrdered()).isFalse();
    assertThat(info.getEndpoints()).hasSize(2);
    assertThat(info.getEndpoints())
        .extracting(e -> new String(e.getTicket().getBytes(), StandardCharsets.UTF_8))
        .containsExactly(
            "{\"scan\":{\"collection\":\"c\",\"shard\":0}}",
            "{\"scan\":{\"collection\":\"c\",\"shard\":1}}");
  }

  @Test
  void aSearchIsPlannedWithOneEndpointWhoseTicketIsTheSearch() {
    put(2);
    FlightInfo info =
        served.client.getInfo(command("{'search':{'collection':'c','vector':[1,0,0,0]}}"));
    assertThat(info.getEndpoints()).hasSize(1);
    assertThat(served.read(info.getEndpoints().getFirst().getTicket().getBytes()).rows())
        .hasSize(2);
    assertThatThrownBy(
            () -> served.client.getInfo(command("{'search':{'collection':'d','vector':[1]}}")))
        .hasMessageContaining("[sagitta.NOT_FOUND]");
  }

  private static FlightDescriptor command(String json) {
    return FlightDescriptor.command(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          {'search':{'collection':'c','vector':[1,2,3]}} | INVALID_ARGUMENT | has 3 components, expected 4
          {'search':{'collection':'c','vector':[1,0,0,0],'k':0}} | INVALID_ARGUMENT | from 1 to 10000
          {'search':{'collection':'nope','vector':[1,0,0,0]}} | NOT_FOUND | no collection 'nope'
          {'create':{'collection':'x','fields':[{'name':'v','type':'float32','dim':1}]}} | INVALID_ARGUMENT | 'create' is no ticket
          {'search' | INVALID_ARGUMENT | malformed JSON
          hello | INVALID_ARGUMENT | begins with byte 0x68
          """)
  void aBadTicketIsRefusedByName(String ticket, FlightStatusCode status, String message) {
    assertThatThrownBy(() -> served.read(ticket))
        .isInstanceOfSatisfying(
            FlightRuntimeException.class, e -> assertThat(e.status().code()).isEqualTo(status))
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @EnumSource
  void everyErrorArrivesWithItsCode(ErrorCode code) {
    served.handler.reads.add(() -> new SagittaException(code, "because", 120, null));
    assertThatThrownBy(() -> served.read("{'get':{'collection':'c','ids':[1]}}"))
        .satisfies(
            e -> {
              SagittaException back = FlightErrors.coded(e).orElseThrow();
              assertThat(back.code()).isEqualTo(code);
              assertThat(back.getMessage()).isEqualTo("because");
              assertThat(back.retryAfterMs()).hasValue(120);
            });
    served.handler.reads.add(() -> new SagittaException(code, "because"));
    assertThatThrownBy(() -> served.act("status", ""))
        .satisfies(e -> assertThat(FlightErrors.coded(e).orElseThrow().code()).isEqualTo(code));
  }

  @Test
  void aBugShowsAsInternalWithoutItsText() {
    served.handler.reads.add(() -> new IllegalStateException("secret"));
    assertThatThrownBy(() -> served.read("{'get':{'collection':'c','ids':[1]}}"))
        .hasMessageContaining("[sagitta.INTERNAL]")
        .hasMessageNotContaining("secret");
  }

  @Test
  void aBugIsLoggedOnceWithItsTraceAndTheVerb() {
    Logger logger = (Logger) LoggerFactory.getLogger(BugLog.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    logger.addAppender(lines);
    try {
      IllegalStateException bug = new IllegalStateException("secret");
      served.handler.reads.add(() -> bug);
      assertThatThrownBy(() -> served.read("{'get':{'collection':'c','ids':[1]}}"))
          .hasMessageContaining("[sagitta.INTERNAL]");
      served.handler.reads.add(() -> new SagittaException(ErrorCode.INTERNAL, "wrapped", bug));
      assertThatThrownBy(() -> served.act("count", "{'collection':'c'}"))
          .hasMessageContaining("[sagitta.INTERNAL]");
      served.handler.reads.add(() -> new SagittaException(ErrorCode.INTERNAL, "of a peer"));
      assertThatThrownBy(() -> served.act("status", "")).hasMessageContaining("of a peer");
      served.handler.reads.add(() -> SagittaException.invalid("a client's mistake"));
      assertThatThrownBy(() -> served.act("status", "")).hasMessageContaining("mistake");
      assertThat(lines.list)
          .extracting(ILoggingEvent::getFormattedMessage)
          .satisfiesExactly(
              get -> assertThat(get).startsWith("get "),
              count -> assertThat(count).startsWith("count "));
      assertThat(lines.list.getFirst().getThrowableProxy().getMessage()).isEqualTo("secret");
    } finally {
      logger.detachAppender(lines);
    }
  }

  @Test
  void theClientsDeadlineReachesTheHandlerAndTimeoutMsShortensIt() {
    long before = System.nanoTime();
    served.read("{'search':{'collection':'c','vector':[1,0,0,0]}}");
    served.read("{'search':{'collection':'c','vector':[1,0,0,0],'timeout_ms':3000}}");
    assertThat(served.handler.calls.get(1).deadlineNanos() - before)
        .isBetween(TimeUnit.SECONDS.toNanos(10), TimeUnit.SECONDS.toNanos(21));
    assertThat(served.handler.calls.get(2).deadlineNanos() - before)
        .isLessThan(TimeUnit.SECONDS.toNanos(6));
  }

  @Test
  void aClientThatGoesAwayIsToldToTheHandlerAndASlowReaderIsWaitedFor() throws Exception {
    put(20_000);
    String text = "x".repeat(4_000);
    served
        .handler
        .table("c")
        .points
        .replaceAll(
            (id, point) ->
                new FakeHandler.Stored(
                    point.version(), Map.of("v", point.values().get("v"), "text", text)));
    byte[] scan = "{\"scan\":{\"collection\":\"c\"}}".getBytes(StandardCharsets.UTF_8);
    try (FlightStream stream = served.client.getStream(new Ticket(scan))) {
      assertThat(stream.next()).isTrue();
      // 80 MB wait for a reader that takes one batch: what is on the way is bounded.
      CountDownLatch cancelled = new CountDownLatch(1);
      served.handler.calls.getLast().onCancel().accept(cancelled::countDown);
      assertThat(served.endpoint.memoryBytes()).isLessThan(16 << 20);
      stream.cancel("enough", null);
      assertThat(cancelled.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (FlightRuntimeException e) {
      assertThat(e.status().code()).isEqualTo(FlightStatusCode.CANCELLED);
    }
  }

  @Test
  void closingWaitsForAScanThatHasYetToNoticeThatItsReaderLeft() throws Exception {
    put(3_000);
    Semaphore batches = new Semaphore(1);
    served.handler.beforeScanBatch = batches::acquireUninterruptibly;
    CountDownLatch left = new CountDownLatch(1);
    byte[] scan = "{\"scan\":{\"collection\":\"c\"}}".getBytes(StandardCharsets.UTF_8);
    try (FlightStream stream = served.client.getStream(new Ticket(scan))) {
      assertThat(stream.next()).isTrue();
      served.handler.calls.getLast().onCancel().accept(left::countDown);
      stream.cancel("enough", null);
    } catch (FlightRuntimeException e) {
      assertThat(e.status().code()).isEqualTo(FlightStatusCode.CANCELLED);
    }
    assertThat(left.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(served.endpoint.memoryBytes()).isPositive();
    CompletableFuture<Void> closed =
        CompletableFuture.runAsync(
            () -> {
              try {
                served.endpoint.close();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            },
            served.virtualThreads);
    assertThatThrownBy(() -> closed.get(200, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    batches.release(3);
    closed.join();
    assertThat(served.endpoint.memoryBytes()).isZero();
  }

  @Test
  void methodsThatAreNotOfferedSaySo() {
    assertThatThrownBy(
            () -> {
              try (var exchange = served.client.doExchange(FlightDescriptor.path("c"))) {
                exchange.getWriter().completed();
                exchange.getReader().next();
                exchange.getReader().getRoot();
              }
            })
        .hasMessageContaining("[sagitta.UNIMPLEMENTED]");
    assertThatThrownBy(() -> served.client.pollInfo(FlightDescriptor.path("c")))
        .hasMessageContaining("[sagitta.UNIMPLEMENTED]");
    assertThatThrownBy(() -> served.act("compact", "{}"))
        .hasMessageContaining("[sagitta.UNIMPLEMENTED] unknown action 'compact'");
    assertThatThrownBy(() -> served.act("search", "{}"))
        .hasMessageContaining("'search' is no action");
  }

  @Test
  void aDrainingNodeRefusesNewCallsAndTellsWhenToComeBack() {
    served.endpoint.drain();
    assertThatThrownBy(() -> served.act("status", ""))
        .satisfies(
            e -> {
              SagittaException refused = FlightErrors.coded(e).orElseThrow();
              assertThat(refused.code()).isEqualTo(ErrorCode.UNAVAILABLE);
              assertThat(refused.retryAfterMs()).isPresent();
            });
  }
}
