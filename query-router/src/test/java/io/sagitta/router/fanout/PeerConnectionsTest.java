// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.fanout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.flight.internal.AskerTerm;
import io.sagitta.flight.internal.CallContext;
import io.sagitta.flight.internal.InternalHandler;
import io.sagitta.flight.internal.NotLeaderException;
import io.sagitta.flight.internal.SentCheckpoint;
import io.sagitta.flight.internal.ShardDoor;
import io.sagitta.flight.internal.ShardDoor.ShardAnswer;
import io.sagitta.flight.server.Authenticator;
import io.sagitta.flight.server.InternalEndpoint;
import io.sagitta.flight.server.PortConfig;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.NodeId;
import io.sagitta.model.ReadMode;
import io.sagitta.model.ReadStamp;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteKey;
import io.sagitta.model.WriteOutcome;
import io.sagitta.model.WriterId;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls over a real internal port, to a handler that does what a test wants. */
class PeerConnectionsTest {
  private static final ShardId SHARD = new ShardId(new UUID(1, 2));
  private static final ReadStamp STAMP =
      new ReadStamp(SHARD, 17, "n2", true, 1, 2, 3, 4, 55, 0.9, false, "{}");

  private final BufferAllocator allocator = new RootAllocator();
  private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final Handler handler = new Handler();
  private InternalEndpoint endpoint;
  private PeerConnections peers;
  private volatile AskerTerm vote; // null: this node votes on nothing

  /** Does what the test said. */
  private static final class Handler implements InternalHandler {
    private volatile Function<CallContext, CompletableFuture<WriteOutcome>> onWrite;
    private volatile Function<CallContext, CompletableFuture<ShardAnswer>> onRead;
    private volatile ShardWrite written;
    private volatile ShardRead read;
    private volatile byte[] file = {};

    @Override
    public CompletableFuture<WriteOutcome> write(ShardWrite write, CallContext call) {
      written = write;
      return onWrite.apply(call);
    }

    @Override
    public CompletableFuture<ShardAnswer> read(ShardRead asked, CallContext call) {
      read = asked;
      return onRead.apply(call);
    }

    @Override
    public Map<UUID, Long> terms(List<UUID> groups) {
      return Map.of(groups.getFirst(), 7L);
    }

    @Override
    public CompletableFuture<Long> leaderBarrier(UUID group, long timeoutMs) {
      return CompletableFuture.completedFuture(99L);
    }

    @Override
    public CompletableFuture<byte[]> metadata(byte[] request) {
      return CompletableFuture.completedFuture(request);
    }

    @Override
    public CompletableFuture<byte[]> placement(byte[] request) {
      return CompletableFuture.failedFuture(SagittaException.invalid("no such placement"));
    }

    @Override
    public CompletableFuture<Void> prefetchCheckpoint(
        UUID group, byte[] manifest, NodeId source, String sourceHost, int sourcePort) {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<SentCheckpoint> sendCheckpoint(UUID group, long minIndex, NodeId to) {
      return CompletableFuture.completedFuture(
          new SentCheckpoint(3, minIndex + 1, new byte[] {1, 2}, new byte[] {4, 5, 6}));
    }

    @Override
    public InputStream openFile(ShardId shard, String fileId, OptionalLong offset) {
      byte[] bytes = file;
      int from = (int) offset.orElse(0);
      return new ByteArrayInputStream(bytes, from, bytes.length - from);
    }
  }

  @BeforeEach
  void start() {
    endpoint =
        InternalEndpoint.start(
            PortConfig.loopback(0), handler, Authenticator.OPEN, allocator, workers);
    peers =
        new PeerConnections(
            PeerChannels.plaintext(),
            allocator,
            workers,
            timer,
            System::nanoTime,
            16 << 20,
            shard -> Optional.ofNullable(vote));
  }

  @AfterEach
  void stop() throws Exception {
    peers.close();
    endpoint.close();
    timer.shutdownNow();
    workers.close();
    allocator.close();
  }

  private ShardDoor door() {
    return peers.door("127.0.0.1", endpoint.port());
  }

  private static CallContext call() {
    return new CallContext(
        "tester", System.nanoTime() + TimeUnit.SECONDS.toNanos(20), new AtomicBoolean());
  }

  private static ShardWrite write() {
    return new ShardWrite.DeleteWhere(
        SHARD,
        3,
        4,
        Optional.of(new WriteKey(new WriterId(new UUID(5, 6), 7), 8, 2, 1)),
        "tester",
        new FilterText("n = $1", List.of(9007199254740993L)));
  }

  private static ShardRead scan() {
    return new ShardRead.Scan(
        SHARD,
        new ReadMode.Session(4),
        Optional.empty(),
        Optional.empty(),
        java.util.OptionalInt.of(5),
        List.of("text"));
  }

  /** Rows of an id and a text of {@code bytes} bytes. */
  private VectorSchemaRoot rows(int count, int bytes) {
    Schema schema =
        new Schema(
            List.of(
                new Field("id", FieldType.notNullable(new ArrowType.Int(64, true)), List.of()),
                new Field("text", FieldType.nullable(ArrowType.Utf8.INSTANCE), List.of())));
    VectorSchemaRoot root = VectorSchemaRoot.create(schema, allocator);
    byte[] text = "x".repeat(bytes).getBytes(StandardCharsets.UTF_8);
    for (int row = 0; row < count; row++) {
      ((BigIntVector) root.getVector(0)).setSafe(row, row);
      if (row % 3 != 0) {
        ((VarCharVector) root.getVector(1)).setSafe(row, text);
      }
    }
    root.setRowCount(count);
    return root;
  }

  @Test
  void aWriteArrivesAsItWasSentAndItsOutcomeComesBack() {
    WriteOutcome outcome =
        new WriteOutcome.Applied(
            5, 2, List.of(new WriteOutcome.RowReject(1, ErrorCode.CONFLICT, "version 3")), true);
    handler.onWrite = context -> CompletableFuture.completedFuture(outcome);
    assertThat(door().write(write(), call()).join()).isEqualTo(outcome);
    assertThat(handler.written).isEqualTo(write());
  }

  @Test
  void anAnswerComesBackWithItsStampWhateverItsSize() throws Exception {
    for (int[] size : new int[][] {{0, 0}, {1, 3}, {1_000, 10}, {900, 10_000}}) {
      handler.onRead =
          context ->
              CompletableFuture.completedFuture(new ShardAnswer(STAMP, rows(size[0], size[1])));
      try (ShardAnswer answer = door().read(scan(), call()).join()) {
        assertThat(answer.stamp()).isEqualTo(STAMP);
        assertThat(answer.rows().getRowCount()).isEqualTo(size[0]);
        assertThat(answer.rows().getSchema().getFields()).hasSize(2);
        for (int row = 0; row < size[0]; row++) {
          assertThat(((BigIntVector) answer.rows().getVector("id")).get(row)).isEqualTo(row);
          VarCharVector text = (VarCharVector) answer.rows().getVector("text");
          assertThat(text.isNull(row)).isEqualTo(row % 3 == 0);
          assertThat(text.isNull(row) ? size[1] : text.getValueLength(row)).isEqualTo(size[1]);
        }
      }
    }
    assertThat(handler.read).isEqualTo(scan());
  }

  @Test
  void aStrongReadTakesThisNodesTermAlongAsItStandsWhenTheReadIsSent() {
    List<CallContext> seen = new CopyOnWriteArrayList<>();
    handler.onRead =
        context -> {
          seen.add(context);
          return CompletableFuture.completedFuture(new ShardAnswer(STAMP, rows(1, 1)));
        };
    ShardRead strong = new ShardRead.Count(SHARD, ReadMode.STRONG, Optional.empty());
    ShardRead any = new ShardRead.Count(SHARD, ReadMode.ANY, Optional.empty());
    door().read(strong, call()).join().close();
    vote = new AskerTerm(new NodeId(new UUID(4, 4)), 6);
    door().read(strong, call()).join().close();
    vote = new AskerTerm(new NodeId(new UUID(4, 4)), 7);
    door().read(strong, call()).join().close();
    door().read(any, call()).join().close();
    assertThat(seen.stream().map(call -> call.askerTerm().map(AskerTerm::term)))
        .containsExactly(Optional.empty(), Optional.of(6L), Optional.of(7L), Optional.empty());
  }

  @Test
  void anAnswerBeyondTheBoundIsRefused() {
    handler.onRead =
        context -> CompletableFuture.completedFuture(new ShardAnswer(STAMP, rows(3_000, 10_000)));
    assertCode(door().read(scan(), call()), ErrorCode.LIMIT);
  }

  @Test
  void whatThePeerThrewComesBack() {
    NodeId leader = new NodeId(new UUID(3, 3));
    handler.onWrite =
        context ->
            CompletableFuture.failedFuture(new NotLeaderException("not me", Optional.of(leader)));
    assertThatThrownBy(() -> door().write(write(), call()).join())
        .cause()
        .isInstanceOfSatisfying(
            NotLeaderException.class, e -> assertThat(e.leader()).contains(leader));
    handler.onRead =
        context -> CompletableFuture.failedFuture(SagittaException.unavailable("soon", 250));
    assertThatThrownBy(() -> door().read(scan(), call()).join())
        .cause()
        .isInstanceOfSatisfying(
            SagittaException.class,
            e -> {
              assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE);
              assertThat(e.retryAfterMs()).hasValue(250);
            });
  }

  @Test
  void aPeerThatIsNotThereWasNeverAsked() throws Exception {
    int free;
    try (ServerSocket socket = new ServerSocket(0)) {
      free = socket.getLocalPort();
    }
    ShardDoor nobody = peers.door("127.0.0.1", free);
    assertCode(nobody.write(write(), call()), ErrorCode.UNAVAILABLE);
    assertCode(nobody.read(scan(), call()), ErrorCode.UNAVAILABLE);
  }

  @Test
  void aWriteWithoutAnAnswerIsUnknown() {
    handler.onWrite = context -> new CompletableFuture<>();
    CallContext brief =
        new CallContext(
            "tester", System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(150), new AtomicBoolean());
    assertCode(door().write(write(), brief), ErrorCode.OUTCOME_UNKNOWN);
  }

  @Test
  void aReadIsCalledOffOnThePeerWhenItsCallerHasGone() throws Exception {
    CompletableFuture<CallContext> asked = new CompletableFuture<>();
    CompletableFuture<ShardAnswer> late = new CompletableFuture<>();
    handler.onRead =
        context -> {
          asked.complete(context);
          return late;
        };
    CallContext mine = call();
    CompletableFuture<ShardAnswer> answer = door().read(scan(), mine);
    CallContext theirs = asked.get(20, TimeUnit.SECONDS);
    assertThat(theirs.principal()).isEqualTo("tester");
    mine.cancelled().set(true);
    assertThatThrownBy(() -> answer.get(20, TimeUnit.SECONDS))
        .hasMessageContaining("node 127.0.0.1");
    while (!theirs.cancelled().get()) {
      Thread.onSpinWait();
    }
    late.complete(new ShardAnswer(STAMP, rows(1, 1)));
  }

  @Test
  void theNodesOwnCallsArrive() throws Exception {
    Peer peer = peers.peer("127.0.0.1", endpoint.port());
    Duration brief = Duration.ofSeconds(20);
    UUID known = new UUID(1, 1);
    assertThat(peer.terms(List.of(known, new UUID(1, 2)), brief).join()).containsExactly(7L, -1L);
    assertThat(peer.leaderBarrier(known, brief).join()).isEqualTo(99);
    assertThat(peer.metadata(new byte[] {1, 2}, brief).join()).containsExactly(1, 2);
    peer.prefetch(known, new byte[] {3}, new NodeId(known), "127.0.0.1", 1, brief).join();
    SentCheckpoint sent = peer.sendCheckpoint(known, 40, new NodeId(known), brief).join();
    assertThat(sent.term()).isEqualTo(3);
    assertThat(sent.index()).isEqualTo(41);
    assertThat(sent.manifest()).containsExactly(1, 2);
    assertThat(sent.configuration()).containsExactly(4, 5, 6);
    assertCode(peer.placement(new byte[0], brief), ErrorCode.INVALID_ARGUMENT);
  }

  @Test
  void aFileComesInChunksFromItsOffset() throws Exception {
    handler.file = new byte[(5 << 20) + 3];
    for (int i = 0; i < handler.file.length; i++) {
      handler.file[i] = (byte) (i * 31);
    }
    Peer peer = peers.peer("127.0.0.1", endpoint.port());
    for (int offset : new int[] {0, 1, 3 << 20, handler.file.length}) {
      try (InputStream in = peer.openFile(SHARD, "vectors", offset, Duration.ofSeconds(20))) {
        assertThat(
                Arrays.equals(
                    in.readAllBytes(),
                    Arrays.copyOfRange(handler.file, offset, handler.file.length)))
            .isTrue();
      }
    }
    try (InputStream in = peer.openFile(SHARD, "vectors", 0, Duration.ofSeconds(20))) {
      assertThat(in.read()).isZero();
    }
  }

  private static void assertCode(CompletableFuture<?> future, ErrorCode code) {
    assertThatThrownBy(future::join)
        .isInstanceOf(CompletionException.class)
        .cause()
        .isInstanceOfSatisfying(SagittaException.class, e -> assertThat(e.code()).isEqualTo(code));
  }
}
