// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import io.sagitta.node.placement.ClusterState.CollectionEntry;
import io.sagitta.node.placement.ClusterState.NodeEntry;
import io.sagitta.node.placement.ClusterState.ReplicaEntry;
import io.sagitta.node.placement.ClusterState.ShardEntry;
import io.sagitta.node.placement.Observed.GroupView;
import io.sagitta.node.placement.Observed.NodeView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * From what was agreed and what is to what to do next: a pure function, so each rule is a line in a
 * table of tests. It never asks for two steps on one shard at once: each is planned when a report
 * shows that the one before took effect.
 *
 * <p>A shard grows like this: its first replica founds the group alone, the leader proposes the
 * first entry, every further replica is created silent and then made a voter. No replica is ever
 * created twice: one that was created and is missing has lost its disk, and what it voted for with
 * it, so it stays away (docs/protocol.md, section 5) and the cluster's status says so.
 */
final class Planner {
  /** Replicas of an auto collection from three nodes on. */
  private static final int AUTO_REPLICAS = 3;

  /** Entries by which a replica may lag and still be handed the leadership. */
  private static final long LAG_MAX = 64;

  private Planner() {}

  /** What to do now. */
  static List<Step> plan(ClusterState state, Observed observed) {
    List<Step> steps = new ArrayList<>();
    planMetaGroup(state, observed, steps);
    planFeatureLevel(state, observed, steps);
    Map<NodeId, Integer> groups = state.groupsByNode();
    for (CollectionEntry collection : state.collections().values()) {
      boolean open = true;
      for (ShardEntry shard : collection.shards()) {
        planShard(state, collection, shard, observed, groups, steps);
        open &= mayOpen(shard, observed);
      }
      if (open && !collection.ready()) {
        steps.add(new Step.OpenCollection(collection.id()));
      }
    }
    planRemovals(state, observed, steps);
    if (steps.isEmpty()) {
      planLeader(state, observed).ifPresent(steps::add);
    }
    return steps;
  }

  // ---- the metadata group --------------------------------------------------------------------

  /** Voters of the metadata group for this many nodes: 1, 2, 3, 3, 5, 5, ... */
  static int metaVoters(int nodes) {
    return nodes >= 5 ? 5 : Math.min(nodes, 3);
  }

  private static void planMetaGroup(ClusterState state, Observed observed, List<Step> steps) {
    List<NodeId> voters = observed.metaVoters();
    if (voters.isEmpty() || voters.size() >= metaVoters(state.nodes().size())) {
      return;
    }
    for (NodeEntry node : state.nodesByNumber()) {
      NodeId id = node.node().id();
      NodeView view = observed.nodes().get(id);
      if (view == null || voters.contains(id)) {
        continue;
      }
      if (view.metaMember()) {
        List<NodeId> target = new ArrayList<>(voters);
        target.add(id);
        steps.add(new Step.ChangeMetaVoters(target));
      } else {
        steps.add(new Step.JoinMetaGroup(id));
      }
      return;
    }
  }

  /**
   * Once every node answers and supports more than is in use, more is used: there is no way back.
   */
  private static void planFeatureLevel(ClusterState state, Observed observed, List<Step> steps) {
    if (!observed.nodes().keySet().containsAll(state.nodes().keySet())) {
      return;
    }
    state.nodes().keySet().stream()
        .mapToInt(node -> observed.nodes().get(node).featureLevel())
        .min()
        .stream()
        .filter(level -> level > state.featureLevel())
        .forEach(level -> steps.add(new Step.RaiseFeatureLevel(level)));
  }

  // ---- shards --------------------------------------------------------------------------------

  private static void planShard(
      ClusterState state,
      CollectionEntry collection,
      ShardEntry shard,
      Observed observed,
      Map<NodeId, Integer> groups,
      List<Step> steps) {
    ReplicaEntry founder = shard.replicas().getFirst();
    if (!founder.created()) {
      if (observed.nodes().containsKey(founder.node())) {
        steps.add(new Step.FoundShard(shard.id(), founder.node()));
      }
      return;
    }
    Optional<NodeId> leader = observed.leaderOf(shard.id());
    if (leader.isEmpty()) {
      return;
    }
    if (!shard.initialised()) {
      steps.add(new Step.InitShard(shard.id(), leader.get()));
      return;
    }
    for (ReplicaEntry replica : shard.replicas()) {
      if (!replica.created() && observed.nodes().containsKey(replica.node())) {
        steps.add(new Step.CreateReplica(shard.id(), replica.node()));
        return;
      }
    }
    List<NodeId> voters = observed.group(leader.get(), shard.id()).orElseThrow().voters();
    for (ReplicaEntry replica : shard.replicas()) {
      if (replica.created()
          && !voters.contains(replica.node())
          && observed.group(replica.node(), shard.id()).isPresent()) {
        List<NodeId> target = new ArrayList<>(voters);
        target.add(replica.node());
        steps.add(new Step.ChangeVoters(shard.id(), leader.get(), target));
        return;
      }
    }
    if (collection.ready()
        && collection.replicasWanted() == 0
        && shard.replicas().size() < autoReplicas(state.nodes().size())) {
      grow(shard, observed, state, groups).ifPresent(steps::add);
    }
  }

  /** Replicas of an auto collection in a cluster of this many nodes. */
  static int autoReplicas(int nodes) {
    return nodes < AUTO_REPLICAS ? 1 : AUTO_REPLICAS;
  }

  private static Optional<Step> grow(
      ShardEntry shard, Observed observed, ClusterState state, Map<NodeId, Integer> groups) {
    Optional<NodeEntry> place =
        state.nodesByNumber().stream()
            .filter(node -> observed.nodes().containsKey(node.node().id()))
            .filter(node -> shard.on(node.node().id()).isEmpty())
            .filter(node -> groups.get(node.node().id()) < node.groupsMax())
            .min(Comparator.comparingInt(node -> groups.get(node.node().id())));
    place.ifPresent(node -> groups.merge(node.node().id(), 1, Integer::sum));
    return place.map(node -> new Step.AddReplica(shard.id(), node.node().id()));
  }

  /**
   * A collection opens once each shard has a leader, is initialised, and every replica whose node
   * answers is a voter, and they are a majority: so the first write is already as durable as was
   * asked.
   */
  private static boolean mayOpen(ShardEntry shard, Observed observed) {
    Optional<NodeId> leader = observed.leaderOf(shard.id());
    if (leader.isEmpty() || !shard.initialised()) {
      return false;
    }
    List<NodeId> voters = observed.group(leader.get(), shard.id()).orElseThrow().voters();
    int in = 0;
    for (NodeId node : shard.nodes()) {
      if (voters.contains(node)) {
        in++;
      } else if (observed.nodes().containsKey(node)) {
        return false;
      }
    }
    return in > shard.replicas().size() / 2;
  }

  // ---- removals ------------------------------------------------------------------------------

  private static void planRemovals(ClusterState state, Observed observed, List<Step> steps) {
    state
        .dropped()
        .forEach(
            (shard, holders) -> {
              for (NodeId holder : holders) {
                if (observed.nodes().containsKey(holder)) {
                  steps.add(new Step.RemoveReplica(shard, holder));
                }
              }
            });
    observed
        .nodes()
        .forEach(
            (node, view) -> {
              for (ShardId shard : view.groups().keySet()) {
                boolean wanted =
                    state.find(shard).flatMap(placed -> placed.shard().on(node)).isPresent();
                boolean dropped =
                    state.dropped().containsKey(shard) && state.dropped().get(shard).contains(node);
                if (!wanted && !dropped) {
                  steps.add(new Step.RemoveOrphan(shard, node));
                }
              }
            });
  }

  // ---- leaders -------------------------------------------------------------------------------

  /** One move that makes the numbers of shards led more equal, when there is nothing else to do. */
  private static Optional<Step> planLeader(ClusterState state, Observed observed) {
    Map<NodeId, Integer> led = new HashMap<>();
    Map<ShardId, NodeId> leaders = new HashMap<>();
    for (CollectionEntry collection : state.collections().values()) {
      for (ShardEntry shard : collection.shards()) {
        observed
            .leaderOf(shard.id())
            .ifPresent(
                leader -> {
                  led.merge(leader, 1, Integer::sum);
                  leaders.put(shard.id(), leader);
                });
      }
    }
    Step best = null;
    int bestGap = 1;
    for (CollectionEntry collection : state.collections().values()) {
      for (ShardEntry shard : collection.shards()) {
        NodeId from = leaders.get(shard.id());
        if (from == null) {
          continue;
        }
        GroupView view = observed.group(from, shard.id()).orElseThrow();
        for (NodeId to : view.voters()) {
          int gap = led.get(from) - led.getOrDefault(to, 0);
          boolean near =
              observed
                  .group(to, shard.id())
                  .filter(g -> g.failure().isEmpty() && g.applied() >= view.applied() - LAG_MAX)
                  .isPresent();
          if (near && gap > bestGap) {
            best = new Step.MoveLeader(shard.id(), from, to);
            bestGap = gap;
          }
        }
      }
    }
    return Optional.ofNullable(best);
  }
}
