// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import io.sagitta.flight.internal.AskerTerm;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.node.NodeConfig.Membership;
import io.sagitta.node.NodeConfig.Timeouts;
import io.sagitta.node.http.Health;
import io.sagitta.node.placement.Cluster;
import io.sagitta.node.placement.ClusterView;
import io.sagitta.node.placement.MetaGroup;
import io.sagitta.node.placement.MetaState;
import io.sagitta.node.placement.PeerCalls;
import io.sagitta.node.placement.PlacementService;
import io.sagitta.node.placement.Registration;
import io.sagitta.node.placement.Registration.Registered;
import io.sagitta.node.replica.Admission;
import io.sagitta.node.replica.CheckpointExports;
import io.sagitta.node.replica.CheckpointFetcher;
import io.sagitta.node.replica.CheckpointSender;
import io.sagitta.node.replica.EarlyFreeze;
import io.sagitta.node.replica.FullDisks;
import io.sagitta.node.replica.LocalShards;
import io.sagitta.node.replica.RateLimit;
import io.sagitta.node.replica.ReplicaRepair;
import io.sagitta.node.replica.Replicas;
import io.sagitta.node.replica.Scrub;
import io.sagitta.node.service.DiskSpace;
import io.sagitta.node.service.NodeInternals;
import io.sagitta.node.service.NodeReports;
import io.sagitta.node.service.PeerLinks;
import io.sagitta.node.service.RaftPeers;
import io.sagitta.node.service.RepairPeers;
import io.sagitta.raft.DamageException;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.Peer;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.RaftHost.GroupStatus;
import io.sagitta.raft.ratis.RaftHostConfig;
import io.sagitta.raft.ratis.RaftResources;
import io.sagitta.raft.ratis.RaftSettings;
import io.sagitta.raft.ratis.RatisRaftHost;
import io.sagitta.shard.MemoryBudget;
import io.sagitta.shard.MemoryBudget.Part;
import io.sagitta.shard.ShardOptions;
import io.sagitta.shard.index.IndexingOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The part of a node that belongs to the cluster: identity, metadata group, Raft, shards. {@link
 * Node} puts ports, router and operations around it.
 *
 * <p>{@link #join} in order: ask peers whether the data folder has gone back; run the metadata
 * group's Raft; found the cluster or register with it; only then run the shards' Raft, so that no
 * shard of a folder that must not take part ever votes.
 */
final class Member implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Member.class);

  private static final int SUBMITTERS = 8;
  private static final Duration HAND_OVER_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration POLL_TIMEOUT = Duration.ofSeconds(2);

  /** Writers wait as long where memory runs full. */
  private static final long FREEZE_LOOK_MS = 100;

  private static final long RESERVE_SECONDS = 5;

  /** A tenth of a slow disk; 1.4 TB a day. */
  private static final long SCRUB_BYTES_PER_SECOND = 16L << 20;

  private static final long MARKS_SECONDS = 10;

  /** How often work is taken up again for which there was no room on the disk. */
  private static final long PUT_OFF_SECONDS = 5;

  private final NodeConfig config;
  private final DataFolder folder;
  private final NodeThreads threads;
  private final InstantSource clock;
  private final Supplier<UUID> ids;
  private final int featureLevel;
  private final String version;
  private final ShardMap.Node self;
  private final BufferAllocator shardMemory;
  private final BufferAllocator answerMemory;
  private final MemoryBudget memory;
  private final DiskSpace disk;
  private final FullDisks fullDisks = new FullDisks(System::nanoTime);
  private final Marks marks;
  private final ClusterView view;
  private final MetaGroup metaGroup;
  private final Cluster cluster;
  private final PeerLinks links;
  private final NodeInternals internals;
  private final Replicas replicas;
  private final CheckpointExports exports;
  private final RaftPeers raftPeers;
  private final Admission admission;
  private final Membership membership;

  private NodeIdentity identity;
  private RaftResources raftResources;
  private volatile RatisRaftHost metaHost;
  private volatile RatisRaftHost shardHost;
  private Thread reconcile;
  private volatile LocalShards shards;
  private volatile Scrub scrubbing;
  private volatile ReplicaRepair repairs;
  private volatile MemberHealth health;
  private volatile boolean stopping;

  /** Why the start does not go on, as far as it is known. */
  private volatile String waitingFor;

  /**
   * A member that has not joined yet.
   *
   * @param memoryRoot where the shards' and the answers' allocators are made
   * @param peers calls to other nodes' metadata and placement services
   * @param links calls for Raft's sake
   * @param clock stamps entries
   * @param ids random ids
   * @param featureLevel that this software supports
   */
  Member(
      NodeConfig config,
      DataFolder folder,
      NodeThreads threads,
      BufferAllocator memoryRoot,
      PeerCalls peers,
      PeerLinks links,
      InstantSource clock,
      Supplier<UUID> ids,
      int featureLevel,
      String version)
      throws IOException {
    this.config = config;
    this.folder = folder;
    this.threads = threads;
    this.clock = clock;
    this.ids = ids;
    this.featureLevel = featureLevel;
    this.version = version;
    this.membership = config.membership();
    this.identity = NodeIdentity.start(folder, config, ids);
    NodeConfig.Ports ports = config.ports();
    this.self =
        new ShardMap.Node(
            identity.id(),
            0,
            config.advertisedHost(),
            ports.flight(),
            ports.internal(),
            ports.http(),
            ports.metaRaft(),
            ports.shardRaft());
    this.shardMemory = memoryRoot.newChildAllocator("shards", 0, config.memory().offHeapBytes());
    this.answerMemory = memoryRoot.newChildAllocator("answers", 0, config.memory().offHeapBytes());
    this.memory = new MemoryBudget(config.memory().growingBytes(), config.memory().residentBytes());
    this.disk =
        new DiskSpace(
            DiskSpace.Volume.of(folder.root()),
            config.disk().derivePercent(),
            config.disk().refusePercent(),
            new DiskSpace.Owed(this::flushesOwed, this::logsOwed),
            System::nanoTime);
    this.marks = new Marks(folder);
    this.view = new ClusterView(folder.root());
    view.load();
    this.metaGroup = new MetaGroup(view, clock);
    this.cluster =
        new Cluster(
            identity.id(),
            view,
            metaGroup,
            peers,
            config.join().map(Membership.Join::members).orElse(List.of()),
            threads.blocking,
            ids,
            Duration.ofMillis(config.timeouts().reconcileMs()));
    this.links = links;
    this.internals = new NodeInternals(cluster, links);
    this.replicas =
        new Replicas(
            folder::shard,
            new ShardOptions(
                threads.background,
                memory,
                ShardOptions.FROZEN_WAITING_MAX,
                Optional.of(
                    new IndexingOptions(
                        threads.indexing,
                        threads.indexing.getCorePoolSize(),
                        System::nanoTime,
                        NodeThreads::cpuTime)),
                disk),
            shardMemory);
    this.exports = new CheckpointExports(replicas);
    this.raftPeers =
        new RaftPeers(
            id -> view.node(id).map(entry -> entry.node()), links, self, this::pinCheckpoint);
    this.admission = new Admission(memory, disk, fullDisks, config.limits().writesInFlight());
  }

  // ---- joining -------------------------------------------------------------------------------

  /**
   * Joins the cluster and starts what this node holds of it. The internal port must be open.
   *
   * @throws ConfigException where the cluster refuses this folder, with what to do about it
   */
  void join() throws IOException {
    Registration registration =
        cluster.registration(
            self,
            Registration.info(
                self, config.ports().ops(), config.limits().groups(), featureLevel, version),
            identity.boot(),
            ids.get());
    registration
        .rolledBack(marks.current())
        .ifPresent(
            why -> {
              throw new ConfigException(why);
            });
    raftResources =
        new RaftResources(SUBMITTERS, config.limits().writesInFlight(), NodeThreads::factory);
    metaHost = openMetaHost();
    metaGroup.attach(metaHost);
    internals.attach(metaHost);
    refuseLostMetadata();
    foundIfFirst();
    reconcile = NodeThreads.loop("metadata-reconcile", cluster.reconciler());
    register(registration);
    shardHost = openShardHost();
    startShards(registration);
  }

  private RatisRaftHost openMetaHost() throws IOException {
    Timeouts timeouts = config.timeouts();
    return open(
        folder.metaRaft(),
        config.ports().metaRaft(),
        startingTogether(RaftSettings.metadata())
            .withElections(timeouts.metaElectionMs(), 2 * timeouts.metaElectionMs()),
        group -> MetaState.open(folder.metaState(), view::adopt));
  }

  private RatisRaftHost openShardHost() throws IOException {
    Timeouts timeouts = config.timeouts();
    return open(
        folder.shardRaft(),
        config.ports().shardRaft(),
        startingTogether(RaftSettings.shards())
            .withElections(
                timeouts.shardElectionMs(), Plants.electionSpread() * timeouts.shardElectionMs())
            .withLog(
                config.log().checkpointBytes(),
                config.log().segmentBytes(),
                config.log().checkpointMs()),
        replicas);
  }

  /**
   * Nobody else stands for election where a node is alone. Among others, who may all be starting at
   * once on machines that have other things to do, a vote has been seen to take 0.3 s.
   */
  private RaftSettings startingTogether(RaftSettings settings) {
    return view.state().nodes().size() == 1
        ? settings.withFirstElections(50, 150)
        : settings.withFirstElections(300, 1_500);
  }

  /** On a full volume every election must find room for the step by which its log grows. */
  private RaftSettings asRoomAllows(RaftSettings settings) {
    return folder.reserve().isTight() ? settings.withLogSteps(Reserve.LOG_STEP_BYTES) : settings;
  }

  private RatisRaftHost open(
      Path raftFolder, int port, RaftSettings settings, RaftHost.StateFactory states)
      throws IOException {
    Peer peer = new Peer(identity.id().toString(), config.advertisedHost() + ":" + port);
    return RatisRaftHost.open(
        new RaftHostConfig(
            peer,
            config.host(),
            raftFolder,
            asRoomAllows(settings),
            Optional.empty(),
            Plants.planted()),
        states,
        raftPeers,
        raftPeers,
        raftResources);
  }

  /**
   * Ends the start where the metadata's only replica is damaged: nobody could ever answer. Among
   * others the node waits for them, and its health says what is wrong.
   */
  private void refuseLostMetadata() throws DamageException {
    Optional<String> damage = metadataDamage();
    if (damage.isPresent() && view.state().nodes().size() <= 1) {
      throw new DamageException(
          "the metadata of the cluster, which has no other node, is damaged: " + damage.get());
    }
  }

  private Optional<String> metadataDamage() {
    return metaGroup.status().filter(GroupStatus::damaged).flatMap(GroupStatus::failure);
  }

  /**
   * Founds the cluster where this is its first node. The cluster's id is kept before the group is
   * made, so a crash in between founds the same one again.
   */
  private void foundIfFirst() throws IOException {
    if (!(membership instanceof Membership.Bootstrap) || metaGroup.status().isPresent()) {
      return;
    }
    if (identity.cluster().isEmpty()) {
      identity = identity.join(folder, ids.get());
    } else if (!view.state().nodes().isEmpty()) {
      if (view.state().nodes().size() == 1) {
        throw new ConfigException(
            "data folder "
                + folder.root()
                + " has lost its metadata log (meta/raft): restore it;"
                + " the cluster had no other node to get it from");
      }
      return; // a member of a grown cluster that does not vote on metadata, or no longer can
    }
    log.info("Founding cluster {}", identity.cluster().orElseThrow());
    metaGroup.found(identity.cluster().orElseThrow(), self);
  }

  private void register(Registration registration) throws IOException {
    boolean newcomer = identity.cluster().isEmpty();
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.timeouts().joinMs());
    while (true) {
      try {
        Registered registered =
            registration.register(identity.cluster(), marks.current(), Duration.ofSeconds(5));
        if (newcomer) {
          identity = identity.join(folder, registered.cluster());
        }
        log.info("This is n{} of cluster {}", registered.number(), registered.cluster());
        cluster.refresh(Duration.ofSeconds(10));
        return;
      } catch (SagittaException e) {
        if (stopping || Thread.currentThread().isInterrupted()) {
          throw e;
        }
        if (e.code() != ErrorCode.UNAVAILABLE) {
          throw new ConfigException("the cluster refuses this node: " + e.getMessage(), e);
        }
        if (newcomer && System.nanoTime() - end > 0) {
          throw new ConfigException(
              "no cluster could be joined within "
                  + config.timeouts().joinMs()
                  + " ms: "
                  + e.getMessage(),
              e);
        }
        waitingFor = e.getMessage();
        log.warn("Waiting for the cluster: {}", e.getMessage());
      }
    }
  }

  private void startShards(Registration registration) {
    Scrub scrub =
        new Scrub(
            shardHost,
            replicas,
            new RateLimit(SCRUB_BYTES_PER_SECOND),
            Duration.ofHours(config.disk().scrubHours()),
            threads.blocking,
            System::nanoTime);
    scrubbing = scrub;
    LocalShards local =
        new LocalShards(
            shardHost,
            replicas,
            scrub,
            admission,
            this::isAlone,
            threads.search,
            threads.pace,
            answerMemory,
            clock,
            this::name);
    CheckpointFetcher fetcher =
        new CheckpointFetcher(
            replicas,
            disk,
            threads.blocking,
            new RateLimit(config.limits().prefetchBytesPerSecond()));
    internals.attach(
        new NodeInternals.Shards(
            shardHost, local, fetcher, exports, new CheckpointSender(shardHost, raftPeers)));
    ReplicaRepair repair =
        new ReplicaRepair(
            shardHost,
            replicas,
            new RepairPeers(identity.id(), view, links),
            threads.blocking,
            System::nanoTime);
    repairs = repair;
    health =
        new MemberHealth(
            config,
            identity.id(),
            view,
            metaGroup,
            metaHost,
            shardHost,
            replicas,
            repair,
            disk,
            memory);
    cluster.attach(
        new PlacementService(
            identity.id(),
            shardHost,
            local,
            metaGroup,
            shard -> DataFolder.delete(folder.shard(shard)),
            config.freeze(),
            this::shardRefusal,
            fullDisks,
            new NodeReports(
                identity.id(),
                featureLevel,
                metaHost,
                shardHost,
                replicas,
                this::health,
                this::memoryParts,
                disk,
                this::shardRefusal,
                repair::withNote)));
    shards = local;
    every(PUT_OFF_SECONDS, TimeUnit.SECONDS, replicas::retryPutOff);
    every(
        FREEZE_LOOK_MS,
        TimeUnit.MILLISECONDS,
        new EarlyFreeze(replicas, shardHost, memory, clock)::look);
    every(1, TimeUnit.SECONDS, () -> followState(registration));
    every(1, TimeUnit.SECONDS, repair::look);
    every(1, TimeUnit.SECONDS, scrub::look);
    every(RESERVE_SECONDS, TimeUnit.SECONDS, folder.reserve()::keep);
    every(MARKS_SECONDS, TimeUnit.SECONDS, () -> recordMarks(registration));
  }

  /** Whether a shard has no other replica than the one here. */
  private boolean isAlone(ShardId shard) {
    return view.state().collections().values().stream()
        .flatMap(collection -> collection.shards().stream())
        .filter(entry -> entry.id().equals(shard))
        .anyMatch(entry -> entry.replicas().size() == 1);
  }

  private void every(long period, TimeUnit unit, Upkeep task) {
    var unused =
        threads.upkeep.scheduleWithFixedDelay(
            () -> {
              try {
                task.run();
              } catch (IOException | RuntimeException e) {
                log.debug("Upkeep failed and is tried again", e);
              }
            },
            period,
            period,
            unit);
  }

  private interface Upkeep {
    void run() throws IOException;
  }

  /**
   * A node without a replica of the metadata group asks a member; every node keeps a copy on disk.
   */
  private void followState(Registration registration) throws IOException {
    if (metaGroup.status().filter(status -> status.failure().isEmpty()).isEmpty()) {
      registration.refresh(false, POLL_TIMEOUT);
      health.heardFromCluster();
    }
    view.save();
  }

  private void recordMarks(Registration registration) throws IOException {
    if (marks.update(metaHost, shardHost)) {
      registration.recordMarks(marks.current(), POLL_TIMEOUT);
    }
  }

  private AutoCloseable pinCheckpoint(GroupId group, byte[] manifest) {
    if (metaGroup.status().filter(status -> status.group().equals(group)).isPresent()) {
      return () -> {}; // its manifest is all there is
    }
    return exports.begin(new ShardId(group.value()), manifest);
  }

  /**
   * Rows in memory; and writes under way, which come to the log and to memory. These are read
   * first: what is answered in between counts twice and not never.
   */
  private long flushesOwed() {
    if (admission == null) {
      return 0; // the first look, taken while this is made
    }
    long underWay = 2 * admission.bytesInFlight();
    return underWay + replicas.unflushedBytes();
  }

  /** Why there is no room for another shard, which begins with a step of its log. */
  private Optional<String> shardRefusal() {
    return disk.refusal(RaftSettings.shards().preallocatedBytes(), false)
        .or(() -> admission.residentRefusal(0));
  }

  private long logsOwed() {
    return logsOwed(metaHost, RaftSettings.metadata()) + logsOwed(shardHost, RaftSettings.shards());
  }

  private static long logsOwed(RaftHost host, RaftSettings settings) {
    return host == null ? 0 : host.metrics().groups() * settings.preallocatedBytes();
  }

  // ---- asked ---------------------------------------------------------------------------------

  Cluster cluster() {
    return cluster;
  }

  NodeInternals internals() {
    return internals;
  }

  /** This process's shards, once they run. */
  Optional<LocalShards> shards() {
    return Optional.ofNullable(shards);
  }

  /** This node's term of a shard on which it votes. */
  Optional<AskerTerm> termOf(ShardId shard) {
    LocalShards running = shards;
    return running == null
        ? Optional.empty()
        : running.term(shard).map(term -> new AskerTerm(identity.id(), term));
  }

  Replicas replicas() {
    return replicas;
  }

  /** Once shards run. */
  Scrub scrub() {
    return scrubbing;
  }

  /** Once shards run. */
  ReplicaRepair repairs() {
    return repairs;
  }

  Admission admission() {
    return admission;
  }

  DiskSpace disk() {
    return disk;
  }

  RaftHost shardHost() {
    return shardHost;
  }

  RaftHost metaHost() {
    return metaHost;
  }

  /** This node as others reach it, with its number once it has one. */
  ShardMap.Node self() {
    return view.node(identity.id()).map(entry -> entry.node()).orElse(self);
  }

  /** What the cluster calls this node. */
  String name() {
    return self().name();
  }

  boolean isStopping() {
    return stopping;
  }

  /** Why Raft ended although nobody stopped it. */
  Optional<String> failure() {
    if (stopping || shardHost == null) {
      return Optional.empty();
    }
    if (!metaHost.isRunning()) {
      return Optional.of("the metadata group's Raft server closed by itself");
    }
    return shardHost.isRunning()
        ? Optional.empty()
        : Optional.of("the shards' Raft server closed by itself");
  }

  Health health() {
    MemberHealth running = health;
    if (stopping) {
      return new Health(List.of("the node is stopping"), List.of());
    }
    return running == null ? starting() : running.get();
  }

  /** Why the node is not ready before it has joined. */
  private Health starting() {
    List<String> causes = new ArrayList<>();
    causes.add("the node is starting");
    metaGroup
        .status()
        .flatMap(GroupStatus::failure)
        .ifPresent(failure -> causes.add("the metadata group's replica failed: " + failure));
    if (waitingFor != null) {
      causes.add("it waits for the cluster: " + waitingFor);
    }
    return new Health(causes, List.of());
  }

  /** Bytes by part. */
  Map<String, Long> memoryParts() {
    Runtime runtime = Runtime.getRuntime();
    Map<String, Long> parts = new TreeMap<>();
    parts.put("growing", memory.bytes(Part.GROWING));
    parts.put("growing_max", memory.growingBytesMax());
    parts.put("lives", memory.bytes(Part.LIVES));
    parts.put("vectors", memory.bytes(Part.VECTORS));
    parts.put("codes", memory.bytes(Part.CODES));
    parts.put("links", memory.bytes(Part.LINKS));
    parts.put("indexes", memory.bytes(Part.CODES) + memory.bytes(Part.LINKS));
    parts.put("resident", memory.residentBytes());
    parts.put("resident_owed", memory.bytes(Part.OWED));
    parts.put("resident_max", memory.residentBytesMax());
    parts.put("vectors_mapped", memory.bytes(Part.VECTORS_MAPPED));
    parts.put("columns_mapped", memory.bytes(Part.COLUMNS_MAPPED));
    parts.put("displaced", memory.bytes(Part.DISPLACED));
    parts.put(
        "mapped",
        memory.bytes(Part.VECTORS_MAPPED)
            + memory.bytes(Part.COLUMNS_MAPPED)
            + memory.bytes(Part.DISPLACED));
    parts.put("arrow_shards", shardMemory.getAllocatedMemory());
    parts.put("arrow_answers", answerMemory.getAllocatedMemory());
    parts.put("raft_in_flight", admission.bytesInFlight());
    parts.put("heap", runtime.totalMemory() - runtime.freeMemory());
    parts.put("heap_max", runtime.maxMemory());
    return parts;
  }

  // ---- leaving -------------------------------------------------------------------------------

  /** Not ready any more; leaderships go to other voters, so that nobody waits for an election. */
  void handOver() {
    stopping = true;
    if (metaHost == null || shardHost == null) {
      return;
    }
    List<CompletableFuture<Void>> transfers = new ArrayList<>();
    transfers.add(metaGroup.handOver(HAND_OVER_TIMEOUT));
    for (GroupStatus status : shardHost.groups()) {
      if (status.leaderReady() && status.voters().size() > 1) {
        transfers.add(shardHost.transferLeadership(status.group(), HAND_OVER_TIMEOUT));
      }
    }
    try {
      CompletableFuture.allOf(transfers.toArray(CompletableFuture[]::new))
          .orTimeout(HAND_OVER_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
          .join();
    } catch (CompletionException e) {
      log.info("Not every leadership was handed over: {}", e.getCause().getMessage());
    }
  }

  /** Stops Raft, closes the shards, gives memory back. Ports are closed by then. */
  @Override
  public void close() {
    stopping = true;
    cluster.reconciler().close();
    internals.detach();
    if (reconcile != null) {
      reconcile.interrupt();
    }
    closeHosts();
    if (raftResources != null) {
      raftResources.close();
    }
    answerMemory.close();
    shardMemory.close();
  }

  /** Both at once: closing a group's log waits until a thread of Ratis' looks up, once a second. */
  private void closeHosts() {
    CompletableFuture<Void> shardsClosed =
        shardHost == null
            ? CompletableFuture.completedFuture(null)
            : CompletableFuture.runAsync(shardHost::close, threads.blocking);
    if (metaHost != null) {
      metaHost.close();
    }
    shardsClosed.join();
  }
}
