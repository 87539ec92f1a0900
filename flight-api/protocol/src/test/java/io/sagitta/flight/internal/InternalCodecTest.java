// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.Status;
import io.sagitta.flight.internal.proto.Failure;
import io.sagitta.flight.internal.proto.FileTicket;
import io.sagitta.flight.internal.proto.ReadTicket;
import io.sagitta.flight.internal.proto.WriteRequest;
import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.NodeId;
import io.sagitta.model.PointId;
import io.sagitta.model.ReadMode;
import io.sagitta.model.ReadStamp;
import io.sagitta.model.RowBatch;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardRead.Effort;
import io.sagitta.model.ShardRead.QueryVectors;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteKey;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriterId;
import java.math.BigDecimal;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class InternalCodecTest {
  private static final ShardId SHARD = new ShardId(new UUID(1, -2));
  private static final FilterText FILTER =
      new FilterText("a = $1", Arrays.asList(1L, new BigDecimal("0.10"), null, List.of("x")));
  private static final CallContext CALL =
      new CallContext("alice", TimeUnit.MILLISECONDS.toNanos(700), new AtomicBoolean());

  static List<ShardWrite> writes() {
    Optional<WriteKey> key = Optional.of(new WriteKey(new WriterId(new UUID(3, 4), 5), 9, 7, 2));
    RowBatch rows =
        new RowBatch(List.of(0, -1, 3), 2, ByteBuffer.wrap(new byte[] {1, 2, 3, 4}).position(1));
    return List.of(
        new ShardWrite.Rows(SHARD, 11, 3, key, "bob", WriteMode.UPDATE, rows),
        new ShardWrite.Rows(SHARD, 11, 3, Optional.empty(), "bob", WriteMode.UPSERT, rows),
        new ShardWrite.DeleteWhere(SHARD, 11, 3, key, "bob", FILTER),
        new ShardWrite.SetWhere(SHARD, 1, 1, key, "", FILTER, Optional.of(rows), List.of(4, 5)),
        new ShardWrite.SetWhere(SHARD, 1, 1, key, "", FILTER, Optional.empty(), List.of(4)));
  }

  static List<ShardRead> reads() {
    return List.of(
        new ShardRead.Get(
            SHARD,
            new ReadMode.Session(-1),
            List.of(
                new PointId.Int64(Long.MIN_VALUE),
                new PointId.Utf8("é"),
                new PointId.Uuid(new UUID(-1, 1))),
            List.of()),
        new ShardRead.Scan(
            SHARD,
            new ReadMode.Bounded(20),
            Optional.of(FILTER),
            Optional.of(new PointId.Int64(0)),
            OptionalInt.of(0),
            List.of("a")),
        new ShardRead.Scan(
            SHARD,
            ReadMode.ANY,
            Optional.empty(),
            Optional.empty(),
            OptionalInt.empty(),
            List.of()),
        new ShardRead.Count(SHARD, ReadMode.STRONG, Optional.of(FILTER)),
        new ShardRead.Count(SHARD, ReadMode.STRONG, Optional.empty()));
  }

  @ParameterizedTest
  @MethodSource("writes")
  void aWriteComesBackAsItWas(ShardWrite write) throws InvalidProtocolBufferException {
    byte[] wire = InternalCodec.encode(write, CALL, 0).toByteArray();
    assertThat(InternalCodec.decode(WriteRequest.parseFrom(wire))).isEqualTo(write);
  }

  @ParameterizedTest
  @MethodSource("reads")
  void aReadComesBackAsItWas(ShardRead read) throws InvalidProtocolBufferException {
    byte[] wire = InternalCodec.encode(read, CALL, 0).toByteArray();
    assertThat(InternalCodec.decode(ReadTicket.parseFrom(wire))).isEqualTo(read);
  }

  @Test
  void aSearchComesBackAsItWas() throws InvalidProtocolBufferException {
    float[] values = {1.5f, -0f, Float.MIN_VALUE, 3e38f};
    for (Effort effort : List.of(new Effort.Recall(0.9), new Effort.Ef(7), new Effort.Exact())) {
      ShardRead.Search search =
          new ShardRead.Search(
              SHARD,
              ReadMode.STRONG,
              "v",
              new QueryVectors(2, 2, values),
              10,
              Optional.of(FILTER),
              effort,
              OptionalDouble.of(0),
              List.of("a", "b"),
              true,
              Optional.of(
                  new ShardRead.Grouping(
                      "a", 3, List.of(new long[] {1, -1, Long.MIN_VALUE}, new long[0]))));
      byte[] wire = InternalCodec.encode(search, CALL, 0).toByteArray();
      ShardRead.Search back = (ShardRead.Search) InternalCodec.decode(ReadTicket.parseFrom(wire));
      assertThat(back).usingRecursiveComparison().isEqualTo(search);
    }
  }

  @Test
  void theAskersTermTravelsWhereItVotes() throws InvalidProtocolBufferException {
    ShardRead read = reads().getLast();
    AskerTerm known = new AskerTerm(new NodeId(new UUID(8, 9)), 12);
    for (Optional<AskerTerm> asker : List.of(Optional.of(known), Optional.<AskerTerm>empty())) {
      byte[] wire = InternalCodec.encode(read, CALL.from(asker), 0).toByteArray();
      CallContext context =
          InternalCodec.context(ReadTicket.parseFrom(wire), 0, new AtomicBoolean());
      assertThat(context.askerTerm()).isEqualTo(asker);
    }
  }

  @Test
  void theTimeThatRemainsTravelsAndNotTheClock() {
    long now = TimeUnit.MILLISECONDS.toNanos(200);
    WriteRequest request = InternalCodec.encode(writes().getFirst(), CALL, now);
    long there = -12_345;
    CallContext context = InternalCodec.context(request, there, new AtomicBoolean());
    assertThat(context.deadlineNanos() - there).isEqualTo(TimeUnit.MILLISECONDS.toNanos(500));
    assertThat(context.principal()).isEqualTo("bob");
    long late = CALL.deadlineNanos() + 1;
    assertThat(InternalCodec.encode(reads().getFirst(), CALL, late).getDeadlineMs()).isZero();
  }

  @Seeded
  @Test
  void damagedMessagesAreDecodedOrRefusedAndNeverAnythingElse(Seed seed) {
    RandomGenerator random = seed.random();
    for (int round = 0; round < 5_000; round++) {
      byte[] write = InternalCodec.encode(writes().get(random.nextInt(5)), CALL, 0).toByteArray();
      byte[] read = InternalCodec.encode(reads().get(random.nextInt(5)), CALL, 0).toByteArray();
      write[random.nextInt(write.length)] = (byte) random.nextInt(256);
      read[random.nextInt(read.length)] = (byte) random.nextInt(256);
      try {
        InternalCodec.decode(WriteRequest.parseFrom(write));
        InternalCodec.decode(ReadTicket.parseFrom(read));
      } catch (InvalidProtocolBufferException e) {
        assertThat(e.getMessage()).isNotEmpty();
      } catch (SagittaException e) {
        assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
      }
    }
  }

  @Test
  void aMessageWithoutABodyIsRefused() {
    ReadTicket ticket =
        ReadTicket.newBuilder().setShard(InternalCodec.bytes(SHARD.value())).build();
    assertThatThrownBy(() -> InternalCodec.decode(ticket)).hasMessageContaining("no read mode");
    assertThatThrownBy(() -> InternalCodec.uuid(ByteString.EMPTY))
        .hasMessageContaining("0 bytes, expected 16");
  }

  @Test
  void aTicketSaysWhichMessageItHolds() {
    ReadTicket read = InternalCodec.encode(reads().getFirst(), CALL, 0);
    FileTicket file = FileTicket.newBuilder().setFileId("f").setOffset(1).build();
    for (InternalTicket ticket :
        List.of(new InternalTicket.Read(read), new InternalTicket.File(file))) {
      assertThat(InternalTicket.parse(ticket.toBytes())).isEqualTo(ticket);
    }
    for (byte[] bad : List.of(new byte[0], new byte[] {'X'}, new byte[] {'R', 1})) {
      assertThatThrownBy(() -> InternalTicket.parse(bad)).isInstanceOf(SagittaException.class);
    }
  }

  @Test
  void aStampComesBackAsItWas() {
    ReadStamp stamp =
        new ReadStamp(SHARD, 5, "n2", true, 1, 2, 3, 4, 99, 1.0, true, "{\"segments\":[]}");
    assertThat(StampJson.parse(StampJson.print(stamp))).isEqualTo(stamp);
    assertThatThrownBy(() -> StampJson.parse(null)).isInstanceOf(SagittaException.class);
    assertThatThrownBy(() -> StampJson.parse("{}")).isInstanceOf(SagittaException.class);
  }

  @ParameterizedTest
  @EnumSource
  void whatAPeerThrowsIsWhatItsCallerGets(ErrorCode code) {
    SagittaException thrown = new SagittaException(code, "shard 3", 7, null);
    for (Throwable failed :
        List.of(Failures.toGrpc(thrown), Failures.toFlight(new CompletionException(thrown)))) {
      SagittaException caught = (SagittaException) Failures.fromCall(failed, "n2", true);
      assertThat(caught.code()).isEqualTo(code);
      assertThat(caught.getMessage()).isEqualTo("shard 3");
      assertThat(caught.retryAfterMs()).hasValue(7);
    }
  }

  @Test
  void theLeaderTravelsWithNotLeader() {
    NodeId leader = new NodeId(new UUID(8, 9));
    for (Optional<NodeId> known : List.of(Optional.of(leader), Optional.<NodeId>empty())) {
      NotLeaderException thrown = new NotLeaderException("not me", known);
      for (Throwable failed : List.of(Failures.toGrpc(thrown), Failures.toFlight(thrown))) {
        NotLeaderException caught = (NotLeaderException) Failures.fromCall(failed, "n2", true);
        assertThat(caught.leader()).isEqualTo(known);
      }
    }
  }

  @Test
  void aCallThatFailedOnTheWayLeavesAWriteUnknownUnlessItNeverLeft() {
    Throwable reset = Status.UNAVAILABLE.asRuntimeException();
    assertThat(((SagittaException) Failures.fromCall(reset, "n2", true)).code())
        .isEqualTo(ErrorCode.OUTCOME_UNKNOWN);
    assertThat(((SagittaException) Failures.fromCall(reset, "n2", false)).code())
        .isEqualTo(ErrorCode.UNAVAILABLE);
    Throwable refused = Status.UNAVAILABLE.withCause(new ConnectException()).asRuntimeException();
    assertThat(((SagittaException) Failures.fromCall(refused, "n2", true)).code())
        .isEqualTo(ErrorCode.UNAVAILABLE);
  }

  @Test
  void aCodeOfANewerVersionIsInternal() {
    RuntimeException decoded =
        Failures.decode(Failure.newBuilder().setCode("TOO_NEW").setMessage("m").build());
    assertThat(((SagittaException) decoded).code()).isEqualTo(ErrorCode.INTERNAL);
  }
}
