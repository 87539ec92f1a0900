// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import com.codahale.metrics.MetricRegistry;
import io.sagitta.flight.internal.ShardDoor;
import io.sagitta.flight.server.Authenticator;
import io.sagitta.flight.server.InternalEndpoint;
import io.sagitta.flight.server.PortConfig;
import io.sagitta.flight.server.PublicEndpoint;
import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.node.http.Health;
import io.sagitta.node.http.OpsHttp;
import io.sagitta.node.http.PrometheusText;
import io.sagitta.node.placement.ClusterState;
import io.sagitta.node.service.MeteredRequests;
import io.sagitta.node.service.NodeMetadata;
import io.sagitta.node.service.PeerTransport;
import io.sagitta.raft.DamageException;
import io.sagitta.router.Router;
import io.sagitta.router.RouterOptions;
import io.sagitta.router.RouterParts;
import io.sagitta.router.fanout.PeerChannels;
import io.sagitta.router.fanout.PeerConnections;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node: the one place where its parts are made and joined. Reads from top to bottom as it starts;
 * what was opened last is closed first.
 *
 * <p>Start: data folder -> ports are free -> operations HTTP (alive, not ready) -> internal port ->
 * {@link Member#join} -> router -> public port -> ready once {@link MemberHealth} says so.
 *
 * <p>Stop (design of the node's shutdown): not ready -> leaders handed over -> new calls refused,
 * streams told to go elsewhere -> calls under way end, at most {@code drain_ms} -> Raft -> shards
 * -> memory, each allocator checked for leaks -> the folder's lock.
 */
public final class Node implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Node.class);

  /** Messages of clients and of peers, each; see docs/contract.md, section 7. */
  private static final long PORT_MEMORY_BYTES_MAX = 512L << 20;

  private final NodeConfig config;
  private final Deque<Closing> opened = new ArrayDeque<>();
  private final MetricRegistry metrics = new MetricRegistry();

  private Member member;
  private PublicEndpoint publicPort;
  private volatile boolean serving;
  private volatile Exception closeFailure;

  /** What undoes one step of the start. */
  private record Closing(String what, AutoCloseable how) {}

  private Node(NodeConfig config) {
    this.config = config;
  }

  /**
   * Starts a node. It may not be {@link #health ready} yet on return, since elections take their
   * time.
   *
   * <p>An interrupt ends a start that waits for others; it fails then.
   *
   * @throws ConfigException with one line that says what to change
   * @throws DamageException with one line that names the damaged file
   * @throws IOException where the machine does not let it
   */
  public static Node start(NodeConfig config, String version) throws IOException {
    Node node = new Node(config);
    try {
      node.open(version);
      return node;
    } catch (IOException | RuntimeException e) {
      // Told to stop: closing must not be cut short by what ended the start.
      Thread.interrupted();
      node.closeOpened(e);
      throw e;
    }
  }

  private void open(String version) throws IOException {
    warnIfOpen();
    DataFolder folder = opening("data folder", DataFolder.open(config.dataDir()));
    checkPortsAreFree();
    BufferAllocator memory = opening("memory", new RootAllocator(config.memory().offHeapBytes()));
    NodeThreads threads =
        new NodeThreads(
            config.limits().searchThreads(),
            config.limits().searchQueue(),
            Math.max(1, Runtime.getRuntime().availableProcessors() / 2));
    opening("threads", threads);
    opening(
        "operations port",
        OpsHttp.start(
            config.host(), config.ports().ops(), this::health, () -> PrometheusText.of(metrics)));
    BufferAllocator peerMemory = opening("memory of peers", child(memory, "peers"));
    PeerConnections peers =
        opening(
            "connections to peers",
            new PeerConnections(
                PeerChannels.plaintext(),
                peerMemory,
                threads.blocking,
                threads.upkeep,
                System::nanoTime,
                RouterOptions.DEFAULT.answerBytesMax(),
                shard -> member.termOf(shard)));
    PeerTransport transport =
        new PeerTransport(config.internalAddress(), () -> member.internals(), peers);
    member =
        opening(
            "member",
            new Member(
                config,
                folder,
                threads,
                memory,
                transport,
                transport,
                InstantSource.system(),
                UUID::randomUUID,
                ClusterState.FEATURE_LEVEL,
                version));
    opening(
        "internal port",
        InternalEndpoint.start(
            port(config.ports().internal()),
            member.internals(),
            Authenticator.OPEN,
            memory,
            threads.blocking));
    Thread warmUp =
        NodeThreads.loop(
            "warm-up",
            new WarmUp(
                    config.dataDir().resolve("warm-up"),
                    threads,
                    memory,
                    InstantSource.system(),
                    UUID::randomUUID)
                ::run);
    opening("warm-up", () -> end(warmUp));
    member.join();
    BufferAllocator routerMemory = opening("memory of the router", child(memory, "router"));
    Router router = router(threads, peers, routerMemory);
    MeteredRequests requests = new MeteredRequests(router, metrics);
    publicPort =
        opening(
            "public port",
            PublicEndpoint.start(
                port(config.ports().flight()),
                requests,
                Authenticator.OPEN,
                memory,
                threads.flight));
    new NodeMetrics(metrics, member, threads, memory, this::health).register();
    end(warmUp);
    serving = true;
    log.info("{} serves Flight on {}:{}", member.name(), config.host(), config.ports().flight());
  }

  private Router router(NodeThreads threads, PeerConnections peers, BufferAllocator memory) {
    NodeMetadata metadata = new NodeMetadata(member.cluster(), threads.blocking, this::leaderOf);
    return new Router(
        RouterOptions.DEFAULT,
        new RouterParts(
            member.self().id(),
            metadata,
            metadata,
            metadata,
            node -> door(node, peers),
            memory,
            threads.flight,
            InstantSource.system(),
            System::nanoTime,
            UUID::randomUUID));
  }

  private ShardDoor door(ShardMap.Node node, PeerConnections peers) {
    return node.id().equals(member.self().id())
        ? member.internals()
        : peers.door(node.host(), node.internalPort());
  }

  private Optional<NodeId> leaderOf(ShardId shard) {
    return member.shards().flatMap(shards -> shards.leader(shard));
  }

  private PortConfig port(int number) {
    return new PortConfig(
        config.host(),
        number,
        Optional.empty(),
        PORT_MEMORY_BYTES_MAX,
        Duration.ofMillis(config.timeouts().callMs()),
        Duration.ofMillis(config.timeouts().drainMs()));
  }

  private static BufferAllocator child(BufferAllocator memory, String name) {
    return memory.newChildAllocator(name, 0, memory.getLimit());
  }

  private <T extends AutoCloseable> T opening(String what, T part) {
    opened.push(new Closing(what, part));
    return part;
  }

  private static void end(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void warnIfOpen() {
    if (config.security() == NodeConfig.Security.INSECURE_PRIVATE_NETWORK) {
      log.warn(
          "security: insecure-private-network: anyone who reaches {} may read and change everything,"
              + " nothing is encrypted",
          config.host());
    }
  }

  /**
   * Says which port is taken; the parts that bind them say it in their own words, one at a time.
   */
  private void checkPortsAreFree() throws IOException {
    InetAddress address = InetAddress.getByName(config.host());
    for (var port : ConfigFile.portsByName(config.ports()).entrySet()) {
      try (ServerSocket socket = new ServerSocket()) {
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(address, port.getValue()));
      } catch (IOException e) {
        throw new ConfigException(
            "port "
                + port.getValue()
                + " (ports."
                + port.getKey()
                + ") on "
                + config.host()
                + " cannot be had: "
                + e.getMessage(),
            e);
      }
    }
  }

  // ---- asked ---------------------------------------------------------------------------------

  /** What the cluster calls this node. */
  public String name() {
    return member.name();
  }

  /** Whether it may be sent requests. */
  public Health health() {
    Member joining = member;
    if (joining == null) {
      return new Health(List.of("the node is starting"), List.of());
    }
    Health health = joining.health();
    return serving || !health.ready()
        ? health
        : new Health(List.of("the node is starting"), health.warnings());
  }

  /** Why the node cannot go on although nobody stopped it; the process must end. */
  public Optional<String> failure() {
    return member.failure();
  }

  // ---- stopping ------------------------------------------------------------------------------

  @Override
  public void close() {
    log.info("Stopping");
    serving = false;
    if (member != null) {
      member.handOver();
    }
    if (publicPort != null) {
      publicPort.drain();
    }
    closeOpened(null);
    log.info("Stopped");
  }

  /** Closes in reverse; one part that fails does not keep the others open. */
  private void closeOpened(Throwable cause) {
    while (!opened.isEmpty()) {
      Closing part = opened.pop();
      try {
        part.how().close();
      } catch (Exception e) {
        if (e instanceof InterruptedException) {
          Thread.currentThread().interrupt();
        }
        if (cause != null) {
          cause.addSuppressed(e);
        } else {
          log.error("Closing the {} failed", part.what(), e);
          closeFailure = e;
        }
      }
    }
  }

  /** What went wrong at {@link #close}, such as memory that leaked. */
  public Optional<Exception> closeFailure() {
    return Optional.ofNullable(closeFailure);
  }
}
