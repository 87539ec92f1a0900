// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.flight.client.Answer;
import io.sagitta.flight.client.SagittaClient;
import io.sagitta.flight.client.Writer;
import io.sagitta.flight.internal.CallContext;
import io.sagitta.flight.server.Authenticator;
import io.sagitta.flight.server.InternalEndpoint;
import io.sagitta.flight.server.PortConfig;
import io.sagitta.flight.server.PublicEndpoint;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.NodeId;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PointId;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.model.SlotRange;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.router.Leaders;
import io.sagitta.router.Metadata;
import io.sagitta.router.Router;
import io.sagitta.router.RouterOptions;
import io.sagitta.router.RouterParts;
import io.sagitta.router.ShardMaps;
import io.sagitta.router.fanout.OwnVotes;
import io.sagitta.router.fanout.PeerChannels;
import io.sagitta.router.fanout.PeerConnections;
import io.sagitta.shard.FreezePolicy;
import io.sagitta.shard.MemoryBudget;
import io.sagitta.shard.Shard;
import io.sagitta.shard.ShardInit;
import io.sagitta.shard.ShardOptions;
import io.sagitta.shard.index.IndexingOptions;
import io.sagitta.shard.log.ShardEntries;
import io.sagitta.shard.store.DiskRoom;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.util.Text;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Before a node is ready it answers some hundred requests to itself: put, search, get and count,
 * from a client over a port of its own on loopback, through a router, in the process and over an
 * internal port, to a shard in a scratch folder. Java loads and compiles what it has never run, and
 * the first real search would wait for it (seconds, on a busy machine). Runs beside the join, which
 * mostly waits; is over after some seconds whatever happens; and never keeps a node from starting.
 */
final class WarmUp {
  private static final Logger log = LoggerFactory.getLogger(WarmUp.class);

  private static final String HOST = "127.0.0.1";
  private static final String NAME = "warm-up";

  /**
   * So many searches take away the worst; on a busy machine they are worth more time than the rest.
   */
  private static final int SEARCHES_MIN = 30;

  private static final int SEARCHES_MAX = 300;
  private static final long TIME_NANOS = Duration.ofMillis(1_500).toNanos();

  /** Beyond this a node that others wait for has more to give than quick first answers. */
  private static final long TIME_MAX_NANOS = Duration.ofSeconds(5).toNanos();

  private static final int BATCHES = 4;
  private static final int ROWS = 256;
  private static final int DIMENSION = 64;

  private static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.INT64,
          List.of(
              new VectorField(1, "v", VectorType.FLOAT32, DIMENSION, Metric.COSINE, false),
              new PayloadField(2, "tag", PayloadType.of(PayloadType.Kind.UTF8))));

  private final Path folder;
  private final NodeThreads threads;
  private final BufferAllocator memory;
  private final InstantSource clock;
  private final Supplier<UUID> ids;

  /**
   * A warm-up.
   *
   * @param folder scratch; deleted before and after
   * @param memory everything is taken from a child of it and given back
   */
  WarmUp(
      Path folder,
      NodeThreads threads,
      BufferAllocator memory,
      InstantSource clock,
      Supplier<UUID> ids) {
    this.folder = folder;
    this.threads = threads;
    this.memory = memory;
    this.clock = clock;
    this.ids = ids;
  }

  void run() {
    long began = System.nanoTime();
    try (BufferAllocator scratch = memory.newChildAllocator(NAME, 0, memory.getLimit())) {
      DataFolder.delete(folder);
      Files.createDirectories(folder);
      ShardId id = new ShardId(ids.get());
      ShardOptions options =
          new ShardOptions(
              threads.background,
              new MemoryBudget(64 << 20),
              ShardOptions.FROZEN_WAITING_MAX,
              Optional.of(
                  new IndexingOptions(
                      threads.indexing, 1, 0, ROWS, System::nanoTime, NodeThreads::cpuTime)),
              DiskRoom.ENDLESS);
      int searches;
      try (Shard shard = Shard.open(folder, options, scratch)) {
        CollectionId collection = new CollectionId(ids.get());
        ShardInit init =
            new ShardInit(id, collection, 0, 1, SlotRange.ALL, SCHEMA, 0, FreezePolicy.DEFAULT);
        ScratchShard answers = new ScratchShard(shard, threads.search, scratch);
        answers.apply(ShardEntries.init(init, clock.millis()));
        searches = overPorts(answers, init, scratch, began);
      }
      DataFolder.delete(folder);
      log.info(
          "Warmed up with {} searches in {} ms", searches, (System.nanoTime() - began) / 1_000_000);
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      log.warn("The warm-up failed; the first requests will be slow", e);
    }
  }

  private int overPorts(ScratchShard shard, ShardInit init, BufferAllocator scratch, long began)
      throws Exception {
    PortConfig any = PortConfig.loopback(0);
    try (InternalEndpoint internal =
            InternalEndpoint.start(any, shard, Authenticator.OPEN, scratch, threads.blocking);
        PeerConnections peers =
            new PeerConnections(
                PeerChannels.plaintext(),
                scratch,
                threads.blocking,
                threads.upkeep,
                System::nanoTime,
                RouterOptions.DEFAULT.answerBytesMax(),
                OwnVotes.NONE);
        PublicEndpoint open =
            PublicEndpoint.start(
                any,
                router(shard, init, internal.port(), peers, scratch),
                Authenticator.OPEN,
                scratch,
                threads.flight);
        SagittaClient client =
            SagittaClient.builder()
                .endpoints(HOST + ":" + open.port())
                .allocator(scratch)
                .build()) {
      put(client, scratch);
      return ask(client, began);
    }
  }

  private Router router(
      ScratchShard shard,
      ShardInit init,
      int internalPort,
      PeerConnections peers,
      BufferAllocator scratch) {
    NodeId self = new NodeId(ids.get());
    ShardMap.Node node = new ShardMap.Node(self, 1, HOST, internalPort, internalPort, 0, 0, 0);
    ShardMap map =
        new ShardMap(
            1,
            Map.of(
                NAME,
                new ShardMap.Collection(
                    init.collection(),
                    NAME,
                    SCHEMA,
                    List.of(new ShardMap.Shard(init.shard(), 0, init.slots(), 1, List.of(self))),
                    1,
                    0)),
            Map.of(self, node));
    AtomicInteger turns = new AtomicInteger();
    Leaders leaders = asked -> Optional.of(self);
    return new Router(
        RouterOptions.DEFAULT,
        new RouterParts(
            self,
            new FixedMap(map),
            new NoMetadata(),
            leaders,
            to -> turns.getAndIncrement() % 2 == 0 ? shard : peers.door(HOST, internalPort),
            scratch,
            threads.flight,
            clock,
            System::nanoTime,
            ids));
  }

  private static void put(SagittaClient client, BufferAllocator scratch) throws Exception {
    try (VectorSchemaRoot batch = VectorSchemaRoot.create(ArrowSchemas.toArrow(SCHEMA), scratch);
        Writer writer = client.writer(NAME)) {
      for (int i = 0; i < BATCHES; i++) {
        fill(batch, i * ROWS);
        writer.putAndWait(batch);
      }
    }
  }

  private static void fill(VectorSchemaRoot batch, int from) {
    BigIntVector points = (BigIntVector) batch.getVector(0);
    FixedSizeListVector vectors = (FixedSizeListVector) batch.getVector(1);
    Float4Vector components = (Float4Vector) vectors.getDataVector();
    VarCharVector tags = (VarCharVector) batch.getVector(2);
    for (int row = 0; row < ROWS; row++) {
      points.setSafe(row, from + row);
      vectors.setNotNull(row);
      for (int i = 0; i < DIMENSION; i++) {
        components.setSafe(row * DIMENSION + i, 1 + (from + row) * (i + 1) % 97);
      }
      tags.setSafe(row, new Text("t" + row % 7));
    }
    vectors.setValueCount(ROWS);
    batch.setRowCount(ROWS);
  }

  private static int ask(SagittaClient client, long began) {
    int searches = 0;
    while (searches < SEARCHES_MAX) {
      long taken = System.nanoTime() - began;
      if (taken > (searches < SEARCHES_MIN ? TIME_MAX_NANOS : TIME_NANOS)) {
        break;
      }
      float[] query = new float[DIMENSION];
      for (int i = 0; i < DIMENSION; i++) {
        query[i] = 1 + searches * (i + 3) % 89;
      }
      var search = client.search(NAME).vectors(query).k(10);
      if (searches % 4 == 0) {
        search.filter("tag = $1", "t" + searches % 7);
      }
      search.run().close();
      if (searches % 16 == 0) {
        client.count(NAME);
        try (Answer got = client.get(NAME, List.of(new PointId.Int64(searches)))) {
          got.rows();
        }
      }
      searches++;
    }
    return searches;
  }

  /** The map never changes. */
  private record FixedMap(ShardMap current) implements ShardMaps {
    @Override
    public CompletableFuture<ShardMap> refresh(long minEpoch) {
      return CompletableFuture.completedFuture(current);
    }
  }

  /** Nobody asks. */
  private static final class NoMetadata implements Metadata {
    @Override
    public CompletableFuture<ShardMap> create(CreateSpec spec, CallContext call) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<ShardMap> drop(String collection, CallContext call) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<ObjectNode> status(CallContext call) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<ObjectNode> describeExtras(
        ShardMap.Collection collection, CallContext call) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<ObjectNode> verify(ShardMap.Collection collection, CallContext call) {
      throw new UnsupportedOperationException();
    }
  }
}
