// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.node.placement.ClusterState.CollectionEntry;
import io.sagitta.node.placement.ClusterState.ReplicaEntry;
import io.sagitta.node.placement.ClusterState.ShardEntry;
import io.sagitta.node.placement.Observed.GroupView;
import io.sagitta.node.placement.Observed.NodeView;
import io.sagitta.node.placement.proto.AddReplica;
import io.sagitta.node.placement.proto.CollectionReady;
import io.sagitta.node.placement.proto.Command;
import io.sagitta.node.placement.proto.RaiseFeatureLevel;
import io.sagitta.node.placement.proto.ReplicaCreated;
import io.sagitta.node.placement.proto.ReplicaRemoved;
import io.sagitta.node.placement.proto.ShardInitialised;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.random.RandomGenerator;

/**
 * A model of nodes, disks and Raft groups on which a plan's steps take effect, for tests of the
 * planner. With faults on, a step may do nothing, or take effect and look as if it had not.
 */
final class World {
  private static final class Group {
    List<NodeId> voters = new ArrayList<>();
    NodeId leader;
    long term = 1;
    boolean initialised;
  }

  private final RandomGenerator random;
  private final Map<ShardId, Group> groups = new HashMap<>();
  private final Map<NodeId, Set<ShardId>> disks = new TreeMap<>();
  private final Set<NodeId> running = new HashSet<>();
  private final Set<NodeId> metaMembers = new HashSet<>();
  private final Map<NodeId, Integer> featureLevels = new HashMap<>();
  private final Set<String> madeOnce = new HashSet<>();
  private List<NodeId> metaVoters;
  private ClusterState state = ClusterState.EMPTY;
  private boolean faults;

  World(RandomGenerator random, int nodes) {
    this.random = random;
    for (int i = 0; i < nodes; i++) {
      join();
    }
    metaVoters = List.of(States.node(1));
    metaMembers.add(States.node(1));
  }

  ClusterState state() {
    return state;
  }

  void setFaults(boolean on) {
    faults = on;
  }

  // ---- what people do ------------------------------------------------------------------------

  void join() {
    int i = state.nodes().size() + 1;
    state = States.applied(state, States.register(i, 1, new UUID(1, i), 64));
    disks.put(States.node(i), new HashSet<>());
    featureLevels.put(States.node(i), ClusterState.FEATURE_LEVEL);
    running.add(States.node(i));
  }

  /** The cluster as software of a level would have founded it, which all nodes run. */
  void goBackTo(int level) {
    state = state.withFeatureLevel(level);
    featureLevels.replaceAll((node, any) -> level);
  }

  void upgrade(NodeId node) {
    featureLevels.put(node, ClusterState.FEATURE_LEVEL);
  }

  void create(String name, int shards, int replicas) {
    try {
      CollectionEntry planned =
          Placer.place(
              state,
              running,
              new io.sagitta.model.CollectionId(States.ids(random).get()),
              name,
              States.SCHEMA,
              shards,
              replicas,
              States.ids(random));
      state = States.apply(state, States.create(planned)).state();
    } catch (SagittaException e) {
      assertThat(faults).as(e.getMessage()).isTrue();
    }
  }

  void drop(String name) {
    state = States.apply(state, States.drop(name)).state();
  }

  void stop(NodeId node) {
    if (running.size() > 1) {
      running.remove(node);
      groups.values().forEach(this::elect);
    }
  }

  void start(NodeId node) {
    running.add(node);
    groups.values().forEach(this::elect);
  }

  void startAll() {
    state.nodes().keySet().forEach(this::start);
  }

  void loseReplica(ShardId shard, NodeId node) {
    disks.get(node).remove(shard);
    elect(groups.get(shard));
  }

  ShardId addOrphan(NodeId node) {
    ShardId orphan = new ShardId(new UUID(random.nextLong(), random.nextLong()));
    Group group = new Group();
    group.voters.add(node);
    groups.put(orphan, group);
    disks.get(node).add(orphan);
    return orphan;
  }

  void makeLeaderOfEverything(NodeId node) {
    for (Group group : groups.values()) {
      if (group.voters.contains(node)) {
        group.leader = node;
        group.term++;
      }
    }
  }

  // ---- what the loop does --------------------------------------------------------------------

  void round() {
    for (Step step : Planner.plan(state, observe())) {
      if (!faults || random.nextInt(4) > 0) {
        perform(step, !faults || random.nextInt(4) > 0);
      }
    }
  }

  /** Rounds until there is nothing to do. */
  void settle() {
    for (int i = 0; i < 500; i++) {
      List<Step> steps = Planner.plan(state, observe());
      if (steps.isEmpty()) {
        return;
      }
      steps.forEach(step -> perform(step, true));
    }
    throw new AssertionError("never at rest: " + Planner.plan(state, observe()));
  }

  /** The kinds of steps until there is nothing to do, in order. */
  List<String> stepKinds() {
    List<String> kinds = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      List<Step> steps = Planner.plan(state, observe());
      if (steps.isEmpty()) {
        return kinds;
      }
      for (Step step : steps) {
        kinds.add(step.getClass().getSimpleName());
        perform(step, true);
      }
    }
    throw new AssertionError("never at rest after " + kinds);
  }

  Observed observe() {
    Map<NodeId, NodeView> views = new LinkedHashMap<>();
    for (NodeId node : running) {
      Map<ShardId, GroupView> seen = new HashMap<>();
      for (ShardId shard : disks.get(node)) {
        Group group = groups.get(shard);
        seen.put(
            shard,
            new GroupView(
                node.equals(group.leader),
                group.term,
                100,
                group.voters,
                group.initialised,
                Optional.empty()));
      }
      views.put(node, new NodeView(metaMembers.contains(node), featureLevels.get(node), seen));
    }
    return new Observed(metaVoters, views);
  }

  private void perform(Step step, boolean recorded) {
    switch (step) {
      case Step.FoundShard(ShardId shard, NodeId node) -> {
        if (disks.get(node).add(shard)) {
          assertThat(madeOnce.add(shard + "@" + node)).as("made twice: %s", step).isTrue();
          Group group = new Group();
          group.voters.add(node);
          groups.put(shard, group);
          elect(group);
        }
        record(recorded, created(shard, node));
      }
      case Step.CreateReplica(ShardId shard, NodeId node) -> {
        if (disks.get(node).add(shard)) {
          assertThat(madeOnce.add(shard + "@" + node)).as("made twice: %s", step).isTrue();
        }
        record(recorded, created(shard, node));
      }
      case Step.InitShard(ShardId shard, NodeId leader) -> {
        groups.get(shard).initialised = true;
        record(
            recorded,
            Command.newBuilder()
                .setShardInitialised(
                    ShardInitialised.newBuilder().setShard(Wire.bytes(shard.value()))));
      }
      case Step.ChangeVoters(ShardId shard, NodeId leader, List<NodeId> target) -> {
        Group group = groups.get(shard);
        Set<NodeId> added = new HashSet<>(target);
        group.voters.forEach(added::remove);
        assertThat(added).as("voters change one at a time: %s", step).hasSizeLessThanOrEqualTo(1);
        assertThat(target).containsAll(group.voters);
        added.forEach(node -> assertThat(disks.get(node)).contains(shard));
        group.voters = new ArrayList<>(target);
        elect(group);
      }
      case Step.OpenCollection(var collection) ->
          record(
              recorded,
              Command.newBuilder()
                  .setCollectionReady(
                      CollectionReady.newBuilder().setId(Wire.bytes(collection.value()))));
      case Step.AddReplica(ShardId shard, NodeId node) ->
          record(
              recorded,
              Command.newBuilder()
                  .setAddReplica(
                      AddReplica.newBuilder()
                          .setShard(Wire.bytes(shard.value()))
                          .setNode(Wire.bytes(node.value()))));
      case Step.RemoveReplica(ShardId shard, NodeId node) -> {
        disks.get(node).remove(shard);
        record(
            recorded,
            Command.newBuilder()
                .setReplicaRemoved(
                    ReplicaRemoved.newBuilder()
                        .setShard(Wire.bytes(shard.value()))
                        .setNode(Wire.bytes(node.value()))));
      }
      case Step.RemoveOrphan(ShardId shard, NodeId node) -> disks.get(node).remove(shard);
      case Step.MoveLeader(ShardId shard, NodeId from, NodeId to) -> {
        Group group = groups.get(shard);
        if (from.equals(group.leader) && group.voters.contains(to)) {
          group.leader = to;
          group.term++;
        }
      }
      case Step.RaiseFeatureLevel(int level) ->
          record(
              recorded,
              Command.newBuilder()
                  .setRaiseFeatureLevel(RaiseFeatureLevel.newBuilder().setLevel(level)));
      case Step.JoinMetaGroup(NodeId node) -> metaMembers.add(node);
      case Step.ChangeMetaVoters(List<NodeId> target) -> {
        assertThat(target).hasSize(metaVoters.size() + 1).containsAll(metaVoters);
        assertThat(metaMembers).contains(target.getLast());
        metaVoters = target;
      }
    }
  }

  private void record(boolean recorded, Command.Builder command) {
    if (recorded) {
      state = States.apply(state, command).state();
    }
  }

  private static Command.Builder created(ShardId shard, NodeId node) {
    return Command.newBuilder()
        .setReplicaCreated(
            ReplicaCreated.newBuilder()
                .setShard(Wire.bytes(shard.value()))
                .setNode(Wire.bytes(node.value())));
  }

  private void elect(Group group) {
    ShardId shard =
        groups.entrySet().stream()
            .filter(e -> e.getValue() == group)
            .map(Map.Entry::getKey)
            .findFirst()
            .orElse(null);
    List<NodeId> up =
        group.voters.stream()
            .filter(running::contains)
            .filter(node -> shard == null || disks.get(node).contains(shard))
            .toList();
    if (up.size() <= group.voters.size() / 2) {
      group.leader = null;
    } else if (group.leader == null || !up.contains(group.leader)) {
      group.leader = up.get(random.nextInt(up.size()));
      group.term++;
    }
  }

  // ---- what is checked -----------------------------------------------------------------------

  Map<NodeId, Integer> leaders() {
    Map<NodeId, Integer> led = new TreeMap<>();
    groups.values().forEach(group -> led.merge(group.leader, 1, Integer::sum));
    return led;
  }

  List<Integer> replicas(String collection) {
    return state.collections().get(collection).shards().stream()
        .map(shard -> groups.get(shard.id()).voters.size())
        .toList();
  }

  Set<ShardId> groupsOn(NodeId node) {
    return disks.get(node);
  }

  void checkAgreement() {
    Set<ShardId> wanted = new HashSet<>();
    int nodes = state.nodes().size();
    for (CollectionEntry collection : state.collections().values()) {
      assertThat(collection.ready()).as(collection.name()).isTrue();
      for (ShardEntry shard : collection.shards()) {
        wanted.add(shard.id());
        assertThat(shard.initialised()).isTrue();
        assertThat(shard.replicas()).allMatch(ReplicaEntry::created);
        assertThat(groups.get(shard.id()).voters)
            .containsExactlyInAnyOrderElementsOf(shard.nodes());
        shard.nodes().forEach(node -> assertThat(disks.get(node)).contains(shard.id()));
        if (collection.replicasWanted() == 0) {
          assertThat(shard.replicas()).hasSize(Planner.autoReplicas(nodes));
        }
      }
    }
    disks.values().forEach(disk -> assertThat(wanted).containsAll(disk));
    assertThat(state.dropped()).isEmpty();
    assertThat(metaVoters).hasSize(Planner.metaVoters(nodes));
  }
}
