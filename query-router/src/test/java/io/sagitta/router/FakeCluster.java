// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.flight.RequestHandler.Call;
import io.sagitta.flight.internal.CallContext;
import io.sagitta.flight.internal.NotLeaderException;
import io.sagitta.flight.internal.ShardDoor;
import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.SlotRange;
import io.sagitta.model.WriteOutcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/**
 * Nodes and shards in memory, with a router on node n1. Every replica sees the one state of its
 * shard; faults are put between a call and that state.
 */
final class FakeCluster implements ShardMaps, Metadata, Doors, AutoCloseable {
  /** Stands between a write and its shard. */
  interface WriteFault {
    /** The entry takes effect now. */
    interface Apply {
      WriteOutcome now();
    }

    /** What the caller gets; {@code apply} makes the entry take effect. */
    CompletableFuture<WriteOutcome> at(ShardMap.Node node, ShardWrite write, Apply apply);
  }

  /** Stands between a read and its shard; null lets it pass. */
  interface ReadFault {
    CompletableFuture<ShardDoor.ShardAnswer> at(
        ShardMap.Node node, ShardRead read, Supplier<ShardDoor.ShardAnswer> answer);
  }

  static final RouterOptions FAST =
      new RouterOptions(
          64,
          8,
          64L << 20,
          Duration.ofSeconds(5),
          16,
          64L << 20,
          Duration.ofSeconds(20),
          Duration.ofSeconds(20),
          Duration.ofMillis(1),
          Duration.ofMillis(4),
          Duration.ofSeconds(20),
          Duration.ofSeconds(20),
          false,
          1 << 14,
          64L << 20);

  final BufferAllocator allocator = new RootAllocator();
  final List<ShardMap.Node> nodes = new ArrayList<>();
  final Map<ShardId, FakeShard> shards = new ConcurrentHashMap<>();
  final AtomicInteger refreshes = new AtomicInteger();

  /** So many of the next refreshes were answered before the last change. */
  final AtomicInteger refreshesBehind = new AtomicInteger();

  final AtomicInteger writes = new AtomicInteger();
  final AtomicInteger reads = new AtomicInteger();
  final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();

  volatile WriteFault writeFault = (node, write, apply) -> null;
  volatile ReadFault readFault = (node, read, answer) -> null;

  /** What a node says when it is asked whether it is there. */
  volatile Function<ShardMap.Node, CompletableFuture<Void>> pulse =
      node -> CompletableFuture.completedFuture(null);

  /** What the router's own replicas know. */
  volatile Leaders hints = Leaders.UNKNOWN;

  /** What nodes know, and what the metadata group knows. */
  private volatile ShardMap known = ShardMap.EMPTY;

  private volatile ShardMap truth;
  private final AtomicLong uuids = new AtomicLong();

  FakeCluster(int nodeCount) {
    Map<NodeId, ShardMap.Node> byId = new HashMap<>();
    for (int i = 1; i <= nodeCount; i++) {
      NodeId id = new NodeId(new UUID(1, i));
      ShardMap.Node node = new ShardMap.Node(id, i, "127.0.0.1", i, i, i, i, i);
      nodes.add(node);
      byId.put(id, node);
    }
    truth = new ShardMap(1, Map.of(), byId);
    known = truth;
  }

  /** {@link #FAST}, but for these two. */
  static RouterOptions fast(Duration hedgeAfter, Duration silence) {
    return new RouterOptions(
        FAST.readsMax(),
        FAST.scansMax(),
        FAST.writeBytesMax(),
        FAST.writeWait(),
        FAST.streamBatchesMax(),
        FAST.streamBytesMax(),
        FAST.writeTimeout(),
        FAST.readRetry(),
        FAST.retryPause(),
        FAST.retryPauseMax(),
        hedgeAfter,
        silence,
        false,
        FAST.scanPageBytes(),
        FAST.answerBytesMax());
  }

  Router router(RouterOptions options) {
    return new Router(
        options,
        new RouterParts(
            nodes.getFirst().id(),
            this,
            this,
            shard -> hints.leaderOf(shard),
            this,
            allocator,
            workers,
            () -> Instant.ofEpochMilli(1_000_000),
            System::nanoTime,
            () -> new UUID(9, uuids.incrementAndGet())));
  }

  static Call call() {
    return call(Duration.ofSeconds(30));
  }

  static Call call(Duration timeout) {
    return new Call("tester", System.nanoTime() + timeout.toNanos(), hook -> {});
  }

  // ---- the cluster's state

  /** Creates a collection that every node knows. */
  ShardMap.Collection createKnown(String name, CollectionSchema schema, int shardCount) {
    ShardMap.Collection collection = createUnknown(name, schema, shardCount);
    known = truth;
    return collection;
  }

  /** Creates a collection that only the metadata group knows yet. */
  synchronized ShardMap.Collection createUnknown(
      String name, CollectionSchema schema, int shardCount) {
    List<ShardMap.Shard> parts = new ArrayList<>();
    List<NodeId> replicas = nodes.stream().map(ShardMap.Node::id).toList();
    for (int i = 0; i < shardCount; i++) {
      ShardMap.Shard shard =
          new ShardMap.Shard(
              new ShardId(new UUID(2, uuids.incrementAndGet())),
              i,
              SlotRange.part(i, shardCount),
              truth.epoch() + 1,
              replicas);
      parts.add(shard);
      shards.put(
          shard.id(), new FakeShard(shard, schema, replicas.get(i % replicas.size()), allocator));
    }
    ShardMap.Collection collection =
        new ShardMap.Collection(
            new CollectionId(new UUID(3, uuids.incrementAndGet())), name, schema, parts, 0, 0);
    change(
        collections -> {
          if (collections.putIfAbsent(name, collection) != null) {
            throw new SagittaException(ErrorCode.ALREADY_EXISTS, name);
          }
        });
    return collection;
  }

  synchronized void dropUnknown(String name) {
    change(collections -> collections.remove(name).shards().forEach(s -> shards.remove(s.id())));
  }

  /** Raises the map's epoch and that of every shard, so that what nodes know is stale. */
  synchronized void raiseEpoch() {
    change(collections -> {});
    shards.values().forEach(shard -> shard.epoch = truth.epoch());
  }

  /** Gives a collection another schema, here and in its shards. */
  synchronized void changeSchema(String name, CollectionSchema schema) {
    change(
        collections -> {
          ShardMap.Collection old = collections.get(name);
          collections.put(
              name, new ShardMap.Collection(old.id(), name, schema, old.shards(), 0, 0));
          old.shards().forEach(s -> shards.get(s.id()).schema = schema);
        });
  }

  private interface Change {
    void on(Map<String, ShardMap.Collection> collections);
  }

  private void change(Change change) {
    Map<String, ShardMap.Collection> collections = new LinkedHashMap<>(truth.collections());
    change.on(collections);
    truth = new ShardMap(truth.epoch() + 1, collections, truth.nodes());
  }

  FakeShard shard(String collection, int number) {
    return shards.get(truth.collections().get(collection).shards().get(number).id());
  }

  int pointCount() {
    return shards.values().stream().mapToInt(s -> s.points.size()).sum();
  }

  // ---- what the router sees

  @Override
  public ShardMap current() {
    return known;
  }

  @Override
  public CompletableFuture<ShardMap> refresh(long minEpoch) {
    refreshes.incrementAndGet();
    if (refreshesBehind.getAndUpdate(left -> Math.max(0, left - 1)) == 0) {
      known = truth;
    }
    return CompletableFuture.completedFuture(known);
  }

  @Override
  public ShardDoor door(ShardMap.Node node) {
    return new Door(node);
  }

  @Override
  public CompletableFuture<ShardMap> create(CreateSpec spec, CallContext call) {
    try {
      createUnknown(spec.collection(), spec.schema(), spec.shards().orElse(2));
      return refresh(0);
    } catch (SagittaException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public CompletableFuture<ShardMap> drop(String collection, CallContext call) {
    if (!truth.collections().containsKey(collection)) {
      return CompletableFuture.failedFuture(SagittaException.notFound("no " + collection));
    }
    dropUnknown(collection);
    return refresh(0);
  }

  @Override
  public CompletableFuture<ObjectNode> status(CallContext call) {
    return CompletableFuture.completedFuture(
        JsonNodeFactory.instance.objectNode().put("nodes", nodes.size()));
  }

  @Override
  public CompletableFuture<ObjectNode> describeExtras(
      ShardMap.Collection collection, CallContext call) {
    return CompletableFuture.completedFuture(
        JsonNodeFactory.instance.objectNode().put("extra", true));
  }

  @Override
  public CompletableFuture<ObjectNode> verify(ShardMap.Collection collection, CallContext call) {
    return CompletableFuture.completedFuture(JsonNodeFactory.instance.objectNode());
  }

  private final class Door implements ShardDoor {
    private final ShardMap.Node node;

    private Door(ShardMap.Node node) {
      this.node = node;
    }

    @Override
    public CompletableFuture<Void> pulse(Duration timeout) {
      return pulse.apply(node);
    }

    @Override
    public CompletableFuture<WriteOutcome> write(ShardWrite write, CallContext call) {
      writes.incrementAndGet();
      FakeShard shard = shards.get(write.shard());
      if (shard == null) {
        return CompletableFuture.failedFuture(
            SagittaException.unavailable("no such shard here", 1));
      }
      WriteFault.Apply apply = () -> shard.apply(write);
      CompletableFuture<WriteOutcome> faulty = writeFault.at(node, write, apply);
      if (faulty != null) {
        return faulty;
      }
      if (!shard.leader.equals(node.id())) {
        return CompletableFuture.failedFuture(
            new NotLeaderException(node.name() + " does not lead", Optional.of(shard.leader)));
      }
      return CompletableFuture.completedFuture(apply.now());
    }

    @Override
    public CompletableFuture<ShardAnswer> read(ShardRead read, CallContext call) {
      reads.incrementAndGet();
      FakeShard shard = shards.get(read.shard());
      if (shard == null) {
        return CompletableFuture.failedFuture(
            SagittaException.unavailable("no such shard here", 1));
      }
      Supplier<ShardAnswer> answer = () -> shard.read(read, node.name());
      CompletableFuture<ShardAnswer> faulty = readFault.at(node, read, answer);
      return faulty != null ? faulty : CompletableFuture.completedFuture(answer.get());
    }
  }

  /** Fails unless every answer was closed. */
  @Override
  public void close() {
    workers.shutdown();
    try {
      if (!workers.awaitTermination(20, TimeUnit.SECONDS)) {
        throw new AssertionError("the router still works");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    allocator.close();
  }
}
