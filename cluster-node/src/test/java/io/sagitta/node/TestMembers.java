// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.flight.internal.CallContext;
import io.sagitta.flight.internal.SentCheckpoint;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.node.NodeConfig.HostPort;
import io.sagitta.node.NodeConfig.Membership;
import io.sagitta.node.placement.ClusterState;
import io.sagitta.node.placement.PeerCalls;
import io.sagitta.node.service.NodeInternals;
import io.sagitta.node.service.NodeMetadata;
import io.sagitta.node.service.PeerLinks;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/**
 * Members of one cluster in one process: Raft over real ports, calls between members as plain
 * method calls. Short timeouts, small limits.
 */
final class TestMembers implements AutoCloseable, PeerCalls, PeerLinks {
  static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Path root;
  private final List<NodeConfig.Ports> ports = new ArrayList<>();
  private final Map<HostPort, Running> running = new ConcurrentHashMap<>();

  /** Of nodes with older software. */
  private final Map<Integer, Integer> featureLevels = new ConcurrentHashMap<>();

  /** How many files of checkpoints still travel. */
  final AtomicInteger filesLeft = new AtomicInteger(Integer.MAX_VALUE);

  /** Those that have travelled, oldest first. */
  final Queue<String> filesOpened = new ConcurrentLinkedQueue<>();

  record Running(
      int number, Member member, NodeThreads threads, DataFolder folder, BufferAllocator memory) {}

  TestMembers(Path root) {
    this.root = root;
  }

  Path folder(int i) {
    return root.resolve("n" + i);
  }

  /** The level that the software of node {@code i} supports from its next start on. */
  void support(int i, int featureLevel) {
    featureLevels.put(i, featureLevel);
  }

  /** Starts node {@code i}, counting from 1; the first one founds the cluster. */
  Member start(int i) throws IOException {
    while (ports.size() < i) {
      ports.add(Ports.six());
    }
    Membership membership =
        i == 1
            ? new Membership.Bootstrap()
            : new Membership.Join(List.of(new HostPort("127.0.0.1", ports.getFirst().internal())));
    return start(i, folder(i), membership);
  }

  Member start(int i, Path dataDir, Membership membership) throws IOException {
    String yaml =
        ConfigFile.localYaml(dataDir, ports.get(i - 1), membership)
            + """
            timeouts:
              meta_election_ms: 300
              shard_election_ms: 300
              join_ms: 20000
              reconcile_ms: 100
            limits:
              groups: 16
            log:
              checkpoint_bytes: 256KiB
              segment_bytes: 64KiB
              freeze_rows: 2000
            """;
    NodeConfig config = ConfigFile.parse("test", yaml, root);
    DataFolder folder = DataFolder.open(dataDir);
    NodeThreads threads = new NodeThreads(2, 64, 1);
    BufferAllocator memory = new RootAllocator();
    Member member = null;
    try {
      member =
          new Member(
              config,
              folder,
              threads,
              memory,
              this,
              this,
              InstantSource.system(),
              UUID::randomUUID,
              featureLevels.getOrDefault(i, ClusterState.FEATURE_LEVEL),
              "test");
      running.put(config.internalAddress(), new Running(i, member, threads, folder, memory));
      member.join();
      return member;
    } catch (IOException | RuntimeException e) {
      running.remove(config.internalAddress());
      if (member != null) {
        member.close();
      }
      threads.close();
      memory.close();
      folder.close();
      throw e;
    }
  }

  Member member(int i) {
    return running.get(address(i)).member();
  }

  boolean runs(int i) {
    return running.containsKey(address(i));
  }

  private HostPort address(int i) {
    return new HostPort("127.0.0.1", ports.get(i - 1).internal());
  }

  /** Stops a node in order. */
  void stop(int i) {
    Running stopped = running.get(address(i));
    stopped.member().handOver();
    running.remove(address(i));
    stopped.member().close();
    stopped.threads().close();
    stopped.memory().close(); // fails where anything leaked
    stopped.folder().close();
  }

  @Override
  public void close() {
    for (int i = ports.size(); i >= 1; i--) {
      if (running.containsKey(address(i))) {
        stop(i);
      }
    }
  }

  static CallContext call() {
    return new CallContext("test", System.nanoTime() + PATIENCE.toNanos(), new AtomicBoolean());
  }

  /** Waits until something is so; fails after a patience that no healthy machine needs. */
  static void await(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError("not within " + PATIENCE + ": " + what);
      }
      java.util.concurrent.locks.LockSupport.parkNanos(5_000_000);
    }
  }

  /** What {@code verify} says of a collection's first shard. */
  static JsonNode verify(Member asker, String collection) {
    return new NodeMetadata(asker.cluster(), Thread::startVirtualThread, shard -> Optional.empty())
        .verify(asker.cluster().map().requireCollection(collection), call())
        .join()
        .at("/shards/0");
  }

  /** Waits until all replicas of a collection's first shard have been compared; they are equal. */
  static void checkReplicas(Member asker, String collection) {
    await(
        "replicas at one log index",
        () -> {
          JsonNode shard = verify(asker, collection);
          if (shard.path("equal").isBoolean() && !shard.path("equal").booleanValue()) {
            throw new AssertionError(shard.toString());
          }
          return shard.path("equal").isBoolean();
        });
  }

  // ---- calls between members -----------------------------------------------------------------

  private <T> CompletableFuture<T> at(
      HostPort to, Function<NodeInternals, CompletableFuture<T>> call) {
    return Optional.ofNullable(running.get(to))
        .map(r -> call.apply(r.member().internals()))
        .orElseGet(
            () ->
                CompletableFuture.failedFuture(
                    SagittaException.unavailable(to + " is not running", 10)));
  }

  @Override
  public CompletableFuture<byte[]> metadata(HostPort to, byte[] request, Duration timeout) {
    return at(to, node -> node.metadata(request));
  }

  @Override
  public CompletableFuture<byte[]> placement(HostPort to, byte[] request, Duration timeout) {
    return at(to, node -> node.placement(request));
  }

  @Override
  public CompletableFuture<List<Long>> terms(
      String host, int internalPort, List<UUID> groups, Duration timeout) {
    return at(
        new HostPort(host, internalPort),
        node -> {
          Map<UUID, Long> terms = node.terms(groups);
          return CompletableFuture.completedFuture(
              groups.stream().map(group -> terms.getOrDefault(group, -1L)).toList());
        });
  }

  @Override
  public CompletableFuture<Long> leaderBarrier(
      String host, int internalPort, UUID group, Duration timeout) {
    return at(
        new HostPort(host, internalPort), node -> node.leaderBarrier(group, timeout.toMillis()));
  }

  @Override
  public CompletableFuture<Void> prefetch(
      String host,
      int internalPort,
      UUID group,
      byte[] manifest,
      NodeId source,
      String sourceHost,
      int sourcePort,
      Duration timeout) {
    return at(
        new HostPort(host, internalPort),
        node -> node.prefetchCheckpoint(group, manifest, source, sourceHost, sourcePort));
  }

  @Override
  public CompletableFuture<SentCheckpoint> sendCheckpoint(
      String host, int internalPort, UUID group, long minIndex, NodeId to, Duration timeout) {
    return at(new HostPort(host, internalPort), node -> node.sendCheckpoint(group, minIndex, to));
  }

  @Override
  public InputStream openFile(
      String host, int internalPort, ShardId shard, String file, long offset) throws IOException {
    if (filesLeft.getAndDecrement() <= 0) {
      throw new IOException("no more files travel");
    }
    filesOpened.add(file);
    Running source = running.get(new HostPort(host, internalPort));
    if (source == null) {
      throw new IOException(host + ":" + internalPort + " is not running");
    }
    return source.member().internals().openFile(shard, file, OptionalLong.of(offset));
  }
}
