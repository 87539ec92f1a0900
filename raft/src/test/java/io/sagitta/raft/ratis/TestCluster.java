// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.CheckpointTransfer;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.NotLeader;
import io.sagitta.raft.OutcomeUnknown;
import io.sagitta.raft.Overloaded;
import io.sagitta.raft.Peer;
import io.sagitta.raft.RaftHost.GroupStatus;
import io.sagitta.raft.ReplicatedState.Checkpoint;
import io.sagitta.raft.TermProbe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.util.CodeInjectionForTesting;

/**
 * Hosts in one JVM over real gRPC on loopback, with a network that can be cut between any two of
 * them: Raft's messages at Ratis' own injection points, term probes and prefetches in process.
 */
final class TestCluster implements AutoCloseable {
  private static final AtomicInteger PORTS =
      new AtomicInteger(20_000 + (int) (ProcessHandle.current().pid() % 8_000));
  private static final List<String> INJECTION_POINTS =
      List.of(
          "RaftServerImpl.requestVote",
          "RaftServerImpl.appendEntries",
          "RaftServerImpl.installSnapshot",
          "RaftServerImpl.startLeaderElection");
  private static final Set<TestCluster> OPEN = ConcurrentHashMap.newKeySet();
  static final Duration SOON = Duration.ofSeconds(30);

  final Path directory;
  final RaftSettings settings;
  final Map<String, Peer> peers = new ConcurrentHashMap<>();
  final Map<String, RatisRaftHost> hosts = new ConcurrentHashMap<>();
  final Map<String, RegisterState> states = new ConcurrentHashMap<>();
  final Map<String, RaftResources> resources = new ConcurrentHashMap<>();
  final Set<RaftHostConfig.Plant> plants = ConcurrentHashMap.newKeySet();
  final AtomicInteger prefetches = new AtomicInteger();

  /** Announcements as they came in, oldest first. */
  final Queue<InstallSnapshotRequestProto> announcements = new ConcurrentLinkedQueue<>();

  volatile Optional<RaftHostConfig.Tls> tls = Optional.empty();
  volatile boolean withholdPrefetch;
  volatile boolean losePrefetched;
  volatile boolean probesFail;
  volatile boolean failInstalls;
  volatile DirectoryFsync fsync = DirectoryFsync.REAL;
  private final Set<String> cut = ConcurrentHashMap.newKeySet();

  TestCluster(Path directory, RaftSettings settings) {
    this.directory = directory;
    this.settings = settings;
    OPEN.add(this);
    for (String point : INJECTION_POINTS) {
      CodeInjectionForTesting.put(point, TestCluster::maybeCutAnywhere);
    }
  }

  /** Elections of a few hundred milliseconds, small segments, checkpoints only when asked for. */
  static RaftSettings fast() {
    return fast(1L << 40);
  }

  /** The same with a checkpoint for each {@code checkpointLogBytes} of log. */
  static RaftSettings fast(long checkpointLogBytes) {
    return fast(checkpointLogBytes, 400);
  }

  /** The same with this shortest election timeout. */
  static RaftSettings fast(long checkpointLogBytes, int electionMinMs) {
    return new RaftSettings(
        electionMinMs,
        2 * electionMinMs,
        100,
        300,
        5_000,
        60_000,
        4_000,
        64,
        5_000,
        512,
        48L << 20,
        2 << 20,
        8,
        4 << 20,
        256L << 10,
        64L << 10,
        2,
        8L << 20,
        0,
        checkpointLogBytes,
        3_600_000,
        1L << 20,
        60_000,
        60_000,
        500,
        10_000,
        100);
  }

  // ---- hosts

  Peer peer(String name) {
    return peers.computeIfAbsent(name, n -> new Peer(n, "127.0.0.1:" + freePort()));
  }

  List<Peer> peers(String... names) {
    return Arrays.stream(names).map(this::peer).toList();
  }

  RatisRaftHost start(String name) throws IOException {
    RaftResources shared = RaftResources.create(8, 64L << 20);
    RaftHostConfig config =
        new RaftHostConfig(peer(name), "127.0.0.1", hostFolder(name), settings, tls, plants);
    Files.createDirectories(hostFolder(name));
    RatisRaftHost host =
        RatisRaftHost.open(
            config,
            group -> {
              RegisterState state = new RegisterState(stateFolder(name, group), () -> failInstalls);
              states.put(name + "/" + group, state);
              return state;
            },
            new Probe(name),
            new Transfer(name),
            shared,
            d -> fsync.fsync(d));
    hosts.put(name, host);
    resources.put(name, shared);
    return host;
  }

  void startAll(String... names) {
    Arrays.stream(names)
        .parallel()
        .forEach(
            name -> {
              try {
                start(name);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
  }

  void stop(String name) {
    hosts.remove(name).close();
    resources.remove(name).close();
  }

  RatisRaftHost host(String name) {
    return hosts.get(name);
  }

  RegisterState state(String name, GroupId group) {
    return states.get(name + "/" + group);
  }

  Path hostFolder(String name) {
    return directory.resolve(name).resolve("raft");
  }

  Path stateFolder(String name, GroupId group) {
    return directory.resolve(name).resolve("state").resolve(group.toString());
  }

  GroupFolder groupFolder(String name, GroupId group) {
    return GroupFolder.of(hostFolder(name).resolve("groups"), group);
  }

  /** Whole network, no faults, no groups. */
  void calm() {
    heal();
    withholdPrefetch = false;
    losePrefetched = false;
    failInstalls = false;
    prefetches.set(0);
    announcements.clear();
    probesFail = false;
    hosts.values().parallelStream().forEach(h -> h.groups().forEach(g -> h.remove(g.group())));
  }

  @Override
  public void close() {
    OPEN.remove(this);
    List.copyOf(hosts.keySet()).parallelStream().forEach(this::stop);
  }

  // ---- the network

  /** Nothing passes between this peer and the others, in either direction. */
  void cutOff(String name) {
    cut.add(name);
  }

  void heal() {
    cut.clear();
  }

  private boolean reachable(String one, String other) {
    return one.equals(other) || (!cut.contains(one) && !cut.contains(other));
  }

  private static boolean maybeCutAnywhere(Object local, Object remote, Object... args) {
    if (remote instanceof RaftPeerId from
        && OPEN.stream().anyMatch(c -> !c.reachable(local.toString(), from.toString()))) {
      throw new IllegalStateException("cut: " + from + " -> " + local);
    }
    if (args.length > 0 && args[0] instanceof InstallSnapshotRequestProto announcement) {
      OPEN.forEach(c -> c.announcements.add(announcement));
    }
    return false;
  }

  private final class Probe implements TermProbe {
    private final String from;

    Probe(String from) {
      this.from = from;
    }

    @Override
    public CompletableFuture<Map<GroupId, Long>> terms(
        Peer peer, List<GroupId> groups, Duration timeout) {
      RatisRaftHost to = hosts.get(peer.id());
      return to == null || probesFail || !reachable(from, peer.id())
          ? CompletableFuture.failedFuture(new IOException("unreachable: " + peer.id()))
          : CompletableFuture.supplyAsync(() -> to.terms(groups));
    }

    @Override
    public CompletableFuture<Long> leaderBarrier(Peer leader, GroupId group, Duration timeout) {
      RatisRaftHost to = hosts.get(leader.id());
      return to == null || !reachable(from, leader.id())
          ? CompletableFuture.failedFuture(new IOException("unreachable: " + leader.id()))
          : to.leaderReadIndex(group, timeout);
    }
  }

  private final class Transfer implements CheckpointTransfer {
    private final String from;

    Transfer(String from) {
      this.from = from;
    }

    @Override
    public CompletableFuture<Void> prefetch(Peer follower, GroupId group, Checkpoint checkpoint) {
      prefetches.incrementAndGet();
      if (withholdPrefetch) {
        return new CompletableFuture<>();
      }
      if (!reachable(from, follower.id())) {
        return CompletableFuture.failedFuture(new IOException("unreachable: " + follower.id()));
      }
      if (losePrefetched) {
        return CompletableFuture.completedFuture(null);
      }
      String file = "data-" + checkpoint.position().index();
      try {
        DurableFile.replace(
            stateFolder(follower.id(), group).resolve(file),
            ByteBuffer.wrap(Files.readAllBytes(stateFolder(from, group).resolve(file))),
            DirectoryFsync.REAL);
      } catch (IOException e) {
        return CompletableFuture.failedFuture(e);
      }
      return CompletableFuture.completedFuture(null);
    }
  }

  /** A group of all of these, created on each; answers once it has a leader. */
  GroupId create(String... names) {
    GroupId group = new GroupId(UUID.randomUUID());
    for (String name : names) {
      host(name).create(group, peers(names));
    }
    awaitLeader(group);
    return group;
  }

  /**
   * Makes this replica's state write a checkpoint now, and waits until the log is purged up to it.
   */
  void checkpoint(String name, GroupId group) {
    state(name, group).requestCheckpoint();
    long index = state(name, group).checkpointed().orElseThrow().position().index();
    await(
        "checkpoint published",
        () -> host(name).hostedGroup(group).orElseThrow().machine().latestIndex() >= index);
  }

  long logStart(String name, GroupId group) {
    return host(name)
        .hostedGroup(group)
        .orElseThrow()
        .division()
        .orElseThrow()
        .getRaftLog()
        .getStartIndex();
  }

  /** Index of the last entry in a replica's log. */
  long logEnd(String name, GroupId group) {
    return host(name)
            .hostedGroup(group)
            .orElseThrow()
            .division()
            .orElseThrow()
            .getRaftLog()
            .getNextIndex()
        - 1;
  }

  /** What a peer reaches of this host, for messages that the network keeps and delivers later. */
  PeerGate gate(String name, GroupId group) {
    HostedGroup hosted = host(name).hostedGroup(group).orElseThrow();
    return new PeerGate(hosted.division().orElseThrow().getRaftServer(), new OneGroup(hosted));
  }

  private record OneGroup(HostedGroup hosted) implements PeerHooks {
    @Override
    public Optional<HostedGroup> group(RaftGroupId group) {
      return Optional.of(hosted);
    }

    @Override
    public InstallGate installs() {
      throw new UnsupportedOperationException("a follower announces nothing");
    }

    @Override
    public void stepDown(HostedGroup group, String why) {
      throw new UnsupportedOperationException(why);
    }

    @Override
    public void appenderStarted(PrefetchingLogAppender appender) {}

    @Override
    public void appenderStopped(PrefetchingLogAppender appender) {}
  }

  // ---- looking and waiting

  /** The one host that leads the group and is ready. */
  String awaitLeader(GroupId group) {
    String[] found = new String[1];
    await(
        "a leader of " + group,
        () -> {
          found[0] = leader(group).orElse(null);
          return found[0] != null;
        });
    return found[0];
  }

  Optional<String> leader(GroupId group) {
    return hosts.entrySet().stream()
        .filter(e -> e.getValue().status(group).map(GroupStatus::leaderReady).orElse(false))
        .map(Map.Entry::getKey)
        .findFirst();
  }

  void awaitApplied(GroupId group, long index, String... names) {
    for (String name : names) {
      host(name).awaitApplied(group, index, SOON).join();
    }
  }

  long write(GroupId group, long value) {
    return write(group, value, 8);
  }

  /**
   * Writes through the leader until it is acknowledged, perhaps more than once. Answers the index
   * of the acknowledged one.
   */
  long write(GroupId group, long value, int bytes) {
    long deadline = System.nanoTime() + SOON.toNanos();
    while (true) {
      String leader = awaitLeader(group);
      try {
        return host(leader).submit(group, entry(value, bytes)).join().position().index();
      } catch (RuntimeException e) {
        Throwable cause = RatisRaftHost.unwrap(e);
        if (!(cause instanceof NotLeader
                || cause instanceof OutcomeUnknown
                || cause instanceof Overloaded)
            || System.nanoTime() > deadline) {
          throw e;
        }
      }
    }
  }

  static ByteBuffer entry(long value, int bytes) {
    ByteBuffer entry = ByteBuffer.allocate(bytes).putLong(0, value);
    for (int i = 8; i < bytes; i++) {
      entry.put(i, (byte) (value * 31 + i));
    }
    return entry;
  }

  static void await(String what, BooleanSupplier condition) {
    await(what, SOON, condition);
  }

  static void await(String what, Duration atMost, BooleanSupplier condition) {
    long deadline = System.nanoTime() + atMost.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("waited in vain for " + what);
      }
      try {
        TimeUnit.MILLISECONDS.sleep(5);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private static int freePort() {
    while (true) {
      int port = PORTS.getAndIncrement();
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (IOException taken) {
        // the next one
      }
    }
  }
}
