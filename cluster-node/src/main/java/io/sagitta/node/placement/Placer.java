// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.SlotRange;
import io.sagitta.node.placement.ClusterState.CollectionEntry;
import io.sagitta.node.placement.ClusterState.NodeEntry;
import io.sagitta.node.placement.ClusterState.ReplicaEntry;
import io.sagitta.node.placement.ClusterState.ShardEntry;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;

/** Places a new collection's shards on nodes: pure but for the random ids it is given. */
final class Placer {
  /** Shards of a collection where nobody says: one a node, at most this many. */
  static final int SHARDS_DEFAULT_MAX = 16;

  /** Shards a collection may have: each owns at least four of the 4,096 slots. */
  static final int SHARDS_MAX = 1_024;

  /** Replicas a shard may have: beyond it every write waits for too many disks. */
  static final int REPLICAS_MAX = 7;

  private Placer() {}

  /**
   * A collection, each shard on the nodes that have least.
   *
   * @param shards 0: as many as there are nodes, at most 16
   * @param replicas 0: auto
   * @param reachable nodes that answer; they are taken first, and always as founders
   */
  static CollectionEntry place(
      ClusterState state,
      Set<NodeId> reachable,
      CollectionId id,
      String name,
      CollectionSchema schema,
      int shards,
      int replicas,
      Supplier<UUID> ids) {
    int nodes = state.nodes().size();
    if (shards < 0 || shards > SHARDS_MAX) {
      throw SagittaException.invalid("'shards' is " + shards + ", expected 1.." + SHARDS_MAX);
    }
    if (replicas < 0 || replicas > REPLICAS_MAX) {
      throw SagittaException.invalid(
          "'replicas' is " + replicas + ", expected 1.." + REPLICAS_MAX + " or \"auto\"");
    }
    if (replicas > nodes) {
      throw SagittaException.invalid(
          "'replicas' is "
              + replicas
              + ", but the cluster has "
              + nodes
              + (nodes == 1 ? " node" : " nodes")
              + "; ask for fewer, or \"auto\", or add nodes");
    }
    int shardCount = shards == 0 ? Math.min(nodes, SHARDS_DEFAULT_MAX) : shards;
    int replicaCount = replicas == 0 ? Planner.autoReplicas(nodes) : replicas;
    Map<NodeId, Integer> groups = new HashMap<>(state.groupsByNode());
    Map<NodeId, Integer> founded = founded(state);
    List<ShardEntry> placed = new ArrayList<>();
    for (int i = 0; i < shardCount; i++) {
      List<ReplicaEntry> on = new ArrayList<>();
      for (NodeEntry node :
          best(state, reachable, groups, founded, shardCount, replicaCount, name)) {
        on.add(new ReplicaEntry(node.node().id(), false));
        groups.merge(node.node().id(), 1, Integer::sum);
      }
      founded.merge(on.getFirst().node(), 1, Integer::sum);
      placed.add(
          new ShardEntry(new ShardId(ids.get()), i, SlotRange.part(i, shardCount), 0, false, on));
    }
    return new CollectionEntry(id, name, schema, replicas, 0, false, placed);
  }

  /** The nodes for one shard, its founder first: that one will lead, so leaders are spread too. */
  private static List<NodeEntry> best(
      ClusterState state,
      Set<NodeId> reachable,
      Map<NodeId, Integer> groups,
      Map<NodeId, Integer> founded,
      int shards,
      int replicas,
      String name) {
    List<NodeEntry> order = new ArrayList<>(state.nodesByNumber());
    order.removeIf(node -> groups.get(node.node().id()) >= node.groupsMax());
    if (order.size() < replicas) {
      throw new SagittaException(
          ErrorCode.LIMIT, Transition.groupLimit(state, name, shards, replicas));
    }
    Comparator<NodeEntry> answering =
        Comparator.comparing(node -> !reachable.contains(node.node().id()));
    Comparator<NodeEntry> byLoad = answering.thenComparingInt(node -> groups.get(node.node().id()));
    NodeEntry founder =
        order.stream()
            .min(
                answering
                    .thenComparingInt(node -> founded.getOrDefault(node.node().id(), 0))
                    .thenComparing(byLoad))
            .orElseThrow();
    if (!reachable.contains(founder.node().id())) {
      throw SagittaException.unavailable("no node answers that could take a shard", 1_000);
    }
    order.remove(founder);
    order.sort(byLoad);
    List<NodeEntry> chosen = new ArrayList<>();
    chosen.add(founder);
    chosen.addAll(order.subList(0, replicas - 1));
    return chosen;
  }

  private static Map<NodeId, Integer> founded(ClusterState state) {
    Map<NodeId, Integer> founded = new HashMap<>();
    for (CollectionEntry collection : state.collections().values()) {
      for (ShardEntry shard : collection.shards()) {
        founded.merge(shard.replicas().getFirst().node(), 1, Integer::sum);
      }
    }
    return founded;
  }
}
