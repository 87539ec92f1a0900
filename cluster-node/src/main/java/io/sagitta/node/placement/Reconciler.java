// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import com.google.protobuf.InvalidProtocolBufferException;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.node.placement.ClusterState.CollectionEntry;
import io.sagitta.node.placement.ClusterState.NodeEntry;
import io.sagitta.node.placement.ClusterState.Placed;
import io.sagitta.node.placement.ClusterState.ShardEntry;
import io.sagitta.node.placement.proto.AddReplica;
import io.sagitta.node.placement.proto.ChangeVoters;
import io.sagitta.node.placement.proto.CollectionReady;
import io.sagitta.node.placement.proto.Command;
import io.sagitta.node.placement.proto.CreateReplica;
import io.sagitta.node.placement.proto.GetReport;
import io.sagitta.node.placement.proto.GroupReport;
import io.sagitta.node.placement.proto.InitShard;
import io.sagitta.node.placement.proto.JoinMetaGroup;
import io.sagitta.node.placement.proto.MoveLeader;
import io.sagitta.node.placement.proto.NodeReport;
import io.sagitta.node.placement.proto.Peer;
import io.sagitta.node.placement.proto.PlacementReply;
import io.sagitta.node.placement.proto.PlacementRequest;
import io.sagitta.node.placement.proto.RaiseFeatureLevel;
import io.sagitta.node.placement.proto.RemoveReplica;
import io.sagitta.node.placement.proto.ReplicaCreated;
import io.sagitta.node.placement.proto.ReplicaRemoved;
import io.sagitta.node.placement.proto.ShardInitialised;
import io.sagitta.raft.NotLeader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The metadata leader's loop: ask every node what is, read what was agreed, let {@link Planner} say
 * what to do, do it. Runs on every node and rests where it does not lead. Steps run on their own,
 * one at a time for each shard; a step that failed waits a moment before it is tried again, and the
 * next look decides whether it is still to be done.
 *
 * <p>The reports are taken before the state is read (and the state as of now, not as of some
 * earlier leadership): so a replica that a report shows and the state does not know was ordered
 * before and dropped since, and removing it is safe.
 */
public final class Reconciler implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(Reconciler.class);

  private static final Duration REPORT_TIMEOUT = Duration.ofSeconds(2);

  /** Creating or initialising a replica takes milliseconds, an election or a slow disk seconds. */
  private static final Duration STEP_TIMEOUT = Duration.ofSeconds(15);

  /** A new voter must catch up first, which may mean the transfer of a checkpoint. */
  private static final Duration VOTERS_TIMEOUT = Duration.ofMinutes(10);

  private static final Duration RETRY_AFTER = Duration.ofMillis(500);

  /**
   * Leaders are moved one at a time, and less and less often while that does not help: each move
   * stops a shard's writes for a moment, and on a busy machine the heir may lose its election.
   */
  private static final Duration BETWEEN_MOVES_MIN = Duration.ofSeconds(10);

  private static final Duration BETWEEN_MOVES_MAX = Duration.ofMinutes(10);

  private final NodeId self;
  private final MetaGroup group;
  private final PeerCalls peers;
  private final Executor executor;
  private final Duration pause;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition woken = lock.newCondition();
  private boolean wake; // under lock
  private boolean closed; // under lock

  private final Set<Object> running = ConcurrentHashMap.newKeySet();
  private final Map<Object, Long> retryAtNanos = new ConcurrentHashMap<>();
  private final Map<Object, String> failures = new ConcurrentHashMap<>();
  private volatile Map<NodeId, NodeReport> reports = Map.of();
  private long movedAtNanos; // the loop's own
  private Duration betweenMoves = BETWEEN_MOVES_MIN; // the loop's own

  /**
   * The loop; run it on a thread of its own.
   *
   * @param executor runs steps, which block: one virtual thread each
   * @param pause between two looks when nothing happens
   */
  public Reconciler(
      NodeId self, MetaGroup group, PeerCalls peers, Executor executor, Duration pause) {
    this.self = self;
    this.group = group;
    this.peers = peers;
    this.executor = executor;
    this.pause = pause;
    this.movedAtNanos = System.nanoTime();
  }

  /** Looks again soon. Any thread. */
  public void wake() {
    lock.lock();
    try {
      wake = true;
      woken.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the loop. */
  public void close() {
    lock.lock();
    try {
      closed = true;
      woken.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** What the nodes that answered said last; empty where this node does not lead. */
  Map<NodeId, NodeReport> reports() {
    return reports;
  }

  /** Nodes that answered last, this one always. */
  Set<NodeId> reachable() {
    Set<NodeId> reachable = new HashSet<>(reports.keySet());
    reachable.add(self);
    return reachable;
  }

  /** Nodes that refuse writes for want of room, and what each says. */
  Map<NodeId, String> full() {
    Map<NodeId, String> full = new HashMap<>();
    reports.forEach(
        (node, report) -> {
          if (!report.getDiskRefusal().isEmpty()) {
            full.put(
                node,
                group.node(node).map(n -> n.node().name()).orElse("?")
                    + ": "
                    + report.getDiskRefusal());
          }
        });
    return full;
  }

  /** What a collection that does not open still waits for, in words. */
  String missing(CollectionEntry planned) {
    Set<NodeId> reachable = reachable();
    int shards = 0;
    Set<String> silent = new HashSet<>();
    for (ShardEntry shard : planned.shards()) {
      boolean led =
          reports.values().stream()
              .flatMap(report -> report.getGroupsList().stream())
              .anyMatch(
                  g ->
                      g.getGroup().equals(Wire.bytes(shard.id().value()))
                          && g.getLeaderReady()
                          && g.getInitialised());
      if (!led) {
        shards++;
      }
      shard.nodes().stream()
          .filter(node -> !reachable.contains(node))
          .forEach(node -> silent.add(group.node(node).map(n -> n.node().name()).orElse("?")));
    }
    Optional<String> why =
        planned.shards().stream()
            .map(shard -> failures.get(shard.id()))
            .filter(Objects::nonNull)
            .findFirst();
    return shards
        + " of "
        + planned.shards().size()
        + " shards had no leader"
        + why.map(failure -> " (" + failure + ")").orElse("")
        + (silent.isEmpty() ? "" : ", and " + silent + " did not answer");
  }

  @Override
  public void run() {
    while (sleep()) {
      try {
        if (group.leads()) {
          look();
        } else {
          reports = Map.of();
        }
      } catch (NotLeader e) {
        log.debug("No longer the metadata leader: {}", e.getMessage());
      } catch (RuntimeException e) {
        log.warn("A look at the cluster failed; the next one comes in {} ms", pause.toMillis(), e);
      }
    }
  }

  /** Rests until it is time to look; false when the loop is to end. */
  private boolean sleep() {
    lock.lock();
    try {
      long left = pause.toNanos();
      while (!closed && !wake && left > 0) {
        left = woken.awaitNanos(left);
      }
      wake = false;
      return !closed;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }

  // ---- one look ------------------------------------------------------------------------------

  private void look() {
    ClusterState before = group.read(MetadataService.COMMAND_TIMEOUT);
    long term = group.term();
    reports = collect(before, term);
    ClusterState state = group.read(MetadataService.COMMAND_TIMEOUT);
    List<Step> steps = Planner.plan(state, observed());
    if (steps.isEmpty()) {
      betweenMoves = BETWEEN_MOVES_MIN;
    }
    long now = System.nanoTime();
    for (Step step : steps) {
      if (retryAtNanos.getOrDefault(step.key(), now) - now > 0 || !mayRun(step, now)) {
        continue;
      }
      if (running.add(step.key())) {
        executor.execute(() -> run(step, state, term));
      }
    }
  }

  private boolean mayRun(Step step, long now) {
    if (step instanceof Step.MoveLeader) {
      if (now - movedAtNanos < betweenMoves.toNanos()) {
        return false;
      }
      movedAtNanos = now;
      Duration doubled = betweenMoves.multipliedBy(2);
      betweenMoves = doubled.compareTo(BETWEEN_MOVES_MAX) < 0 ? doubled : BETWEEN_MOVES_MAX;
    }
    return true;
  }

  private Map<NodeId, NodeReport> collect(ClusterState state, long term) {
    Map<NodeId, CompletableFuture<PlacementReply>> asked = new HashMap<>();
    GetReport.Builder question = GetReport.newBuilder();
    reports.values().stream()
        .filter(NodeReport::getDiskFull)
        .forEach(report -> question.addFullDisks(report.getNode()));
    for (NodeEntry node : state.nodes().values()) {
      PlacementRequest.Builder request = PlacementRequest.newBuilder().setGetReport(question);
      asked.put(node.node().id(), send(node, request, term, REPORT_TIMEOUT));
    }
    Map<NodeId, NodeReport> answered = new HashMap<>();
    asked.forEach(
        (node, reply) -> {
          try {
            PlacementReply report = reply.get(REPORT_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            if (report.hasReport()) {
              answered.put(node, report.getReport());
            }
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          } catch (java.util.concurrent.ExecutionException
              | java.util.concurrent.TimeoutException e) {
            log.debug("No report from {}", node, e);
          }
        });
    return Map.copyOf(answered);
  }

  private Observed observed() {
    Map<NodeId, Observed.NodeView> views = new HashMap<>();
    reports.forEach(
        (node, report) -> {
          Map<ShardId, Observed.GroupView> groups = new HashMap<>();
          for (GroupReport g : report.getGroupsList()) {
            groups.put(
                Wire.shard(g.getGroup()),
                new Observed.GroupView(
                    g.getLeaderReady(),
                    g.getTerm(),
                    g.getAppliedIndex(),
                    g.getVotersList().stream().map(Wire::node).toList(),
                    g.getInitialised(),
                    g.getFailure().isEmpty() ? Optional.empty() : Optional.of(g.getFailure())));
          }
          views.put(
              node,
              new Observed.NodeView(report.getMetaMember(), report.getFeatureLevel(), groups));
        });
    return new Observed(group.voters(), views);
  }

  // ---- one step ------------------------------------------------------------------------------

  private void run(Step step, ClusterState state, long term) {
    try {
      log.debug("Step: {}", step);
      perform(step, state, term);
      retryAtNanos.remove(step.key());
      failures.remove(step.key());
    } catch (NotLeader e) {
      log.debug("Not the metadata leader any more; {} is left to the next one", step);
    } catch (RuntimeException e) {
      retryAtNanos.put(step.key(), System.nanoTime() + RETRY_AFTER.toNanos());
      String before = failures.put(step.key(), String.valueOf(e.getMessage()));
      if (!String.valueOf(e.getMessage()).equals(before)) { // tried again often; said once
        log.info("{} did not work yet and is tried again: {}", step, e.getMessage());
      }
      log.debug("Its failure", e);
    } finally {
      running.remove(step.key());
      wake();
    }
  }

  private void perform(Step step, ClusterState state, long term) {
    switch (step) {
      case Step.FoundShard(ShardId shard, NodeId node) -> {
        CreateReplica create =
            CreateReplica.newBuilder()
                .setShard(Wire.bytes(shard.value()))
                .addVoters(peer(state, node))
                .build();
        order(state, node, PlacementRequest.newBuilder().setCreateReplica(create), term);
        record(replicaCreated(shard, node));
      }
      case Step.CreateReplica(ShardId shard, NodeId node) -> {
        CreateReplica create =
            CreateReplica.newBuilder().setShard(Wire.bytes(shard.value())).build();
        order(state, node, PlacementRequest.newBuilder().setCreateReplica(create), term);
        record(replicaCreated(shard, node));
      }
      case Step.InitShard(ShardId shard, NodeId leader) -> {
        Placed placed = state.find(shard).orElseThrow();
        order(state, leader, PlacementRequest.newBuilder().setInitShard(init(placed)), term);
        record(
            Command.newBuilder()
                .setShardInitialised(
                    ShardInitialised.newBuilder().setShard(Wire.bytes(shard.value()))));
      }
      case Step.ChangeVoters(ShardId shard, NodeId leader, List<NodeId> target) -> {
        ChangeVoters.Builder change = ChangeVoters.newBuilder().setGroup(Wire.bytes(shard.value()));
        target.forEach(node -> change.addTarget(peer(state, node)));
        order(
            state,
            leader,
            PlacementRequest.newBuilder().setChangeVoters(change),
            term,
            VOTERS_TIMEOUT);
      }
      case Step.OpenCollection(var collection) ->
          record(
              Command.newBuilder()
                  .setCollectionReady(
                      CollectionReady.newBuilder().setId(Wire.bytes(collection.value()))));
      case Step.AddReplica(ShardId shard, NodeId node) ->
          record(
              Command.newBuilder()
                  .setAddReplica(
                      AddReplica.newBuilder()
                          .setShard(Wire.bytes(shard.value()))
                          .setNode(Wire.bytes(node.value()))));
      case Step.RemoveReplica(ShardId shard, NodeId node) -> {
        order(state, node, PlacementRequest.newBuilder().setRemoveReplica(remove(shard)), term);
        record(
            Command.newBuilder()
                .setReplicaRemoved(
                    ReplicaRemoved.newBuilder()
                        .setShard(Wire.bytes(shard.value()))
                        .setNode(Wire.bytes(node.value()))));
      }
      case Step.RemoveOrphan(ShardId shard, NodeId node) -> {
        log.warn("Removing shard {} from {}: its collection is gone", shard, name(state, node));
        order(state, node, PlacementRequest.newBuilder().setRemoveReplica(remove(shard)), term);
      }
      case Step.MoveLeader(ShardId shard, NodeId from, NodeId to) -> {
        log.info(
            "Moving the lead of shard {} from {} to {}", shard, name(state, from), name(state, to));
        order(
            state,
            from,
            PlacementRequest.newBuilder()
                .setMoveLeader(
                    MoveLeader.newBuilder()
                        .setShard(Wire.bytes(shard.value()))
                        .setTarget(Wire.bytes(to.value()))),
            term);
      }
      case Step.RaiseFeatureLevel(int level) -> {
        record(
            Command.newBuilder()
                .setRaiseFeatureLevel(RaiseFeatureLevel.newBuilder().setLevel(level)));
        log.info("The cluster's feature level is {}", level);
      }
      case Step.JoinMetaGroup(NodeId node) ->
          order(
              state,
              node,
              PlacementRequest.newBuilder()
                  .setJoinMetaGroup(
                      JoinMetaGroup.newBuilder().setGroup(Wire.bytes(state.cluster()))),
              term);
      case Step.ChangeMetaVoters(List<NodeId> target) -> {
        List<ShardMap.Node> nodes = new ArrayList<>();
        target.forEach(node -> nodes.add(state.nodes().get(node).node()));
        group.changeVoters(nodes, VOTERS_TIMEOUT);
        log.info(
            "The metadata group has voters {}", nodes.stream().map(ShardMap.Node::name).toList());
      }
    }
  }

  private void record(Command.Builder command) {
    group.propose(command, MetadataService.COMMAND_TIMEOUT);
  }

  private static Command.Builder replicaCreated(ShardId shard, NodeId node) {
    return Command.newBuilder()
        .setReplicaCreated(
            ReplicaCreated.newBuilder()
                .setShard(Wire.bytes(shard.value()))
                .setNode(Wire.bytes(node.value())));
  }

  private static RemoveReplica remove(ShardId shard) {
    return RemoveReplica.newBuilder().setShard(Wire.bytes(shard.value())).build();
  }

  private static InitShard init(Placed placed) {
    ShardEntry shard = placed.shard();
    return InitShard.newBuilder()
        .setShard(Wire.bytes(shard.id().value()))
        .setCollection(Wire.bytes(placed.collection().id().value()))
        .setNumber(shard.number())
        .setEpoch(shard.epoch())
        .setSlotsFrom(shard.slots().from())
        .setSlotsTo(shard.slots().to())
        .setSchema(Wire.schema(placed.collection().schema()))
        .build();
  }

  private static Peer peer(ClusterState state, NodeId id) {
    ShardMap.Node node = state.nodes().get(id).node();
    return Peer.newBuilder()
        .setNode(Wire.bytes(id.value()))
        .setAddress(node.host() + ":" + node.shardRaftPort())
        .build();
  }

  private static String name(ClusterState state, NodeId node) {
    return state.nodes().get(node).node().name();
  }

  private void order(ClusterState state, NodeId node, PlacementRequest.Builder request, long term) {
    order(state, node, request, term, STEP_TIMEOUT);
  }

  private void order(
      ClusterState state,
      NodeId node,
      PlacementRequest.Builder request,
      long term,
      Duration timeout) {
    NodeEntry entry = state.nodes().get(node);
    PlacementReply reply = Calls.await(send(entry, request, term, timeout), timeout);
    if (reply.hasFailure()) {
      throw new SagittaException(
          ErrorCode.valueOf(reply.getFailure().getCode()),
          entry.node().name() + ": " + reply.getFailure().getMessage());
    }
  }

  private CompletableFuture<PlacementReply> send(
      NodeEntry node, PlacementRequest.Builder request, long term, Duration timeout) {
    byte[] bytes =
        request.setTerm(term).setNode(Wire.bytes(node.node().id().value())).build().toByteArray();
    return peers
        .placement(Members.address(node), bytes, timeout)
        .thenApply(
            reply -> {
              try {
                return PlacementReply.parseFrom(reply);
              } catch (InvalidProtocolBufferException e) {
                throw new IllegalStateException(e);
              }
            });
  }
}
