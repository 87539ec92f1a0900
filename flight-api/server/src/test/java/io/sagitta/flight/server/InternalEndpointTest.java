// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.sagitta.flight.internal.CallContext;
import io.sagitta.flight.internal.Failures;
import io.sagitta.flight.internal.InternalCodec;
import io.sagitta.flight.internal.InternalTicket;
import io.sagitta.flight.internal.NotLeaderException;
import io.sagitta.flight.internal.StampJson;
import io.sagitta.flight.internal.proto.BarrierRequest;
import io.sagitta.flight.internal.proto.FileTicket;
import io.sagitta.flight.internal.proto.InternalGrpc;
import io.sagitta.flight.internal.proto.Opaque;
import io.sagitta.flight.internal.proto.PrefetchRequest;
import io.sagitta.flight.internal.proto.SendCheckpointReply;
import io.sagitta.flight.internal.proto.SendCheckpointRequest;
import io.sagitta.flight.internal.proto.TermsRequest;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.NodeId;
import io.sagitta.model.ReadMode;
import io.sagitta.model.ReadStamp;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteOutcome;
import io.sagitta.model.WriteOutcomeCodec;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.arrow.flight.Action;
import org.apache.arrow.flight.Criteria;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.FlightGrpcUtils;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VarBinaryVector;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class InternalEndpointTest {
  private static final ShardId SHARD = new ShardId(new UUID(1, 2));

  private final RootAllocator allocator = new RootAllocator();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final FakePeer peer = new FakePeer(allocator);
  private final InternalEndpoint endpoint =
      InternalEndpoint.start(Served.loopback(), peer, Authenticator.OPEN, allocator, threads);
  private final ManagedChannel channel =
      NettyChannelBuilder.forAddress("127.0.0.1", endpoint.port())
          .usePlaintext()
          .maxInboundMessageSize(32 << 20)
          .build();
  private final FlightClient flight =
      FlightGrpcUtils.createFlightClientWithSharedChannel(allocator, channel);
  private final InternalGrpc.InternalBlockingStub stub =
      InternalGrpc.newBlockingStub(channel).withDeadlineAfter(20, TimeUnit.SECONDS);
  private final CallContext call =
      new CallContext(
          "alice", System.nanoTime() + TimeUnit.SECONDS.toNanos(9), new AtomicBoolean());

  @AfterEach
  void nothingLeaks() throws InterruptedException {
    flight.close();
    channel.shutdownNow();
    endpoint.close();
    threads.close();
    allocator.close();
  }

  private static ShardWrite write() {
    return new ShardWrite.DeleteWhere(
        SHARD, 3, 4, Optional.empty(), "alice", new FilterText("a = 1", List.of()));
  }

  @Test
  void aWriteArrivesAsItWasSentAndItsOutcomeComesBack() {
    byte[] outcome =
        stub.write(InternalCodec.encode(write(), call, System.nanoTime()))
            .getOutcome()
            .toByteArray();
    assertThat(WriteOutcomeCodec.decode(ByteBuffer.wrap(outcome)))
        .isEqualTo(new WriteOutcome.Applied(17, 2, List.of(), false));
    assertThat(peer.writes).containsExactly(write());
    assertThat(peer.contexts.getFirst().deadlineNanos() - System.nanoTime())
        .isLessThanOrEqualTo(TimeUnit.SECONDS.toNanos(9));
  }

  @Test
  void aClientThatTookThisPortForThePublicOneIsToldSo() {
    byte[] get = "{\"get\":{}}".getBytes(StandardCharsets.UTF_8);
    for (ThrowingCallable ask :
        List.<ThrowingCallable>of(
            () -> flight.doAction(new Action("status", new byte[0])).forEachRemaining(r -> {}),
            () -> flight.getSchema(FlightDescriptor.path("c")),
            () -> flight.getInfo(FlightDescriptor.path("c")),
            () -> flight.listFlights(Criteria.ALL).forEach(f -> {}),
            () -> flight.getStream(new Ticket(get)).next())) {
      assertThatThrownBy(ask)
          .hasMessageContaining("[sagitta.UNIMPLEMENTED] this is no public Flight port of Sagitta");
    }
  }

  @Test
  void theLeaderComesBackWithARefusalAndErrorsKeepTheirCode() {
    NodeId leader = new NodeId(new UUID(5, 6));
    peer.failure = () -> new NotLeaderException("not me", Optional.of(leader));
    assertThatThrownBy(() -> stub.write(InternalCodec.encode(write(), call, System.nanoTime())))
        .satisfies(
            e ->
                assertThat(((NotLeaderException) Failures.fromCall(e, "n2", true)).leader())
                    .contains(leader));
    peer.failure = () -> new SagittaException(ErrorCode.LIMIT, "full", 30, null);
    assertThatThrownBy(() -> read().close())
        .satisfies(
            e -> {
              SagittaException limit = (SagittaException) Failures.fromCall(e, "n2", false);
              assertThat(limit.code()).isEqualTo(ErrorCode.LIMIT);
              assertThat(limit.retryAfterMs()).hasValue(30);
            });
  }

  @Test
  void aRefusalThatEveryLeaderChangeBringsIsNotLoggedAsABug() {
    Logger logger = (Logger) LoggerFactory.getLogger(BugLog.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    logger.addAppender(lines);
    try {
      peer.failure = () -> new NotLeaderException("not me", Optional.empty());
      assertThatThrownBy(() -> stub.write(InternalCodec.encode(write(), call, System.nanoTime())))
          .isNotNull();
      assertThatThrownBy(() -> read().close()).isNotNull();
      assertThat(lines.list).isEmpty();
      peer.failure = () -> new IllegalStateException("a bug");
      assertThatThrownBy(() -> stub.write(InternalCodec.encode(write(), call, System.nanoTime())))
          .isNotNull();
      assertThat(lines.list).hasSize(1);
    } finally {
      logger.detachAppender(lines);
    }
  }

  private FlightStream read() {
    ShardRead read = new ShardRead.Count(SHARD, ReadMode.STRONG, Optional.empty());
    byte[] ticket =
        new InternalTicket.Read(InternalCodec.encode(read, call, System.nanoTime())).toBytes();
    FlightStream stream = flight.getStream(new Ticket(ticket));
    stream.getRoot();
    return stream;
  }

  @Test
  void aReadAnswersItsRowsWithTheStampInTheSchema() throws Exception {
    try (FlightStream stream = read()) {
      assertThat(stream.next()).isTrue();
      assertThat(stream.getRoot().getRowCount()).isEqualTo(3);
      ReadStamp stamp =
          StampJson.parse(stream.getSchema().getCustomMetadata().get(StampJson.METADATA_KEY));
      assertThat(stamp)
          .isEqualTo(new ReadStamp(SHARD, 9, "n2", true, 0, 0, 0, 1, 5, 1.0, false, ""));
      assertThat(stream.next()).isFalse();
    }
  }

  @Test
  void aLargeReadComesInSeveralMessages() throws Exception {
    peer.answerRows = 5_000_000;
    try (FlightStream stream = read()) {
      long rows = 0;
      int batches = 0;
      while (stream.next()) {
        rows += stream.getRoot().getRowCount();
        batches++;
      }
      assertThat(rows).isEqualTo(5_000_000);
      assertThat(batches).isBetween(3, 5);
    }
  }

  @Test
  void aFileComesInChunksFromTheOffsetAsked() throws Exception {
    byte[] bytes = new byte[3_500_000];
    new Random(1).nextBytes(bytes);
    peer.files.put("vectors.v", bytes);
    for (int offset : new int[] {0, 1_234_567, bytes.length}) {
      ByteArrayOutputStream received = new ByteArrayOutputStream();
      try (FlightStream stream = flight.getStream(file("vectors.v", offset))) {
        while (stream.next()) {
          VarBinaryVector column =
              (VarBinaryVector) stream.getRoot().getVector(InternalTicket.CHUNK_COLUMN);
          assertThat(column.getValueLength(0)).isLessThanOrEqualTo(InternalTicket.CHUNK_BYTES_MAX);
          received.write(column.get(0));
        }
      }
      assertThat(received.size()).isEqualTo(bytes.length - offset);
      assertThat(received.toByteArray()).isEqualTo(Arrays.copyOfRange(bytes, offset, bytes.length));
    }
    assertThatThrownBy(
            () -> {
              try (FlightStream stream = flight.getStream(file("none", 0))) {
                stream.next();
              }
            })
        .satisfies(
            e ->
                assertThat(((SagittaException) Failures.fromCall(e, "n2", false)).code())
                    .isEqualTo(ErrorCode.NOT_FOUND));
  }

  private static Ticket file(String id, long offset) {
    return new Ticket(
        new InternalTicket.File(
                FileTicket.newBuilder()
                    .setShard(InternalCodec.bytes(SHARD.value()))
                    .setFileId(id)
                    .setOffset(offset)
                    .build())
            .toBytes());
  }

  @Test
  void theOtherRequestsReachTheHandler() {
    ByteString known = InternalCodec.bytes(new UUID(7, 7));
    ByteString unknown = InternalCodec.bytes(new UUID(8, 8));
    assertThat(
            stub.terms(TermsRequest.newBuilder().addGroups(known).addGroups(unknown).build())
                .getTermsList())
        .containsExactly(4L, -1L);
    assertThat(
            stub.leaderBarrier(BarrierRequest.newBuilder().setGroup(known).setTimeoutMs(40).build())
                .getIndex())
        .isEqualTo(41);
    Opaque body = Opaque.newBuilder().setBody(ByteString.copyFromUtf8("x")).build();
    assertThat(stub.metadata(body)).isEqualTo(body);
    assertThat(stub.placement(body)).isEqualTo(body);
    assertThat(
            stub.prefetchCheckpoint(
                PrefetchRequest.newBuilder()
                    .setGroup(known)
                    .setSourceNode(unknown)
                    .setSourceHost("h")
                    .build()))
        .isNotNull();
    SendCheckpointReply sent =
        stub.sendCheckpoint(
            SendCheckpointRequest.newBuilder()
                .setGroup(known)
                .setMinIndex(40)
                .setToNode(unknown)
                .build());
    assertThat(sent)
        .isEqualTo(
            SendCheckpointReply.newBuilder()
                .setTerm(3)
                .setIndex(41)
                .setManifest(ByteString.copyFrom(new byte[] {1, 2}))
                .setConfiguration(ByteString.copyFrom(new byte[] {4, 5, 6}))
                .build());
  }

  @Test
  void malformedTicketsAreRefused() {
    for (byte[] ticket : List.of(new byte[0], new byte[] {'R', 8}, new byte[] {'F'})) {
      assertThatThrownBy(
              () -> {
                try (FlightStream stream = flight.getStream(new Ticket(ticket))) {
                  stream.getRoot();
                }
              })
          .satisfies(
              e ->
                  assertThat(((SagittaException) Failures.fromCall(e, "n2", false)).code())
                      .isEqualTo(ErrorCode.INVALID_ARGUMENT));
    }
  }
}
