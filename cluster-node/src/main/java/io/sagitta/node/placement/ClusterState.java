// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.model.SlotRange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/**
 * What the cluster has agreed on: an immutable value, the state of the metadata group at one
 * position of its log. Only {@link Transition} makes a new one from an old one; a {@link ShardMap}
 * is the part of it that routing needs.
 *
 * @param cluster identity of the cluster, also the metadata group's; the log's first registration
 *     sets it
 * @param featureLevel entry types and file formats in use; every node supports at least this
 * @param epoch grows with every change that a router may have to know
 * @param timeMs state time: the latest of all proposers' clocks, milliseconds since the epoch
 * @param nextNode number of the next node to join
 * @param nodes every node that ever joined
 * @param collections by name, also those not ready yet
 * @param dropped shards whose collection is gone and whose files may not be
 */
public record ClusterState(
    UUID cluster,
    int featureLevel,
    long epoch,
    long timeMs,
    int nextNode,
    SortedMap<NodeId, NodeEntry> nodes,
    SortedMap<String, CollectionEntry> collections,
    SortedMap<ShardId, SortedSet<NodeId>> dropped) {

  /** A cluster's identity before it has one. */
  static final UUID NO_CLUSTER = new UUID(0, 0);

  /**
   * The highest level that this software supports: docs/protocol.md, section 4, says what came with
   * each.
   */
  public static final int FEATURE_LEVEL = 2;

  /** From this level on the vectors of a field may be kept in memory. */
  static final int STORAGE_LEVEL = 2;

  /** Of a cluster that nobody has founded yet: every software supports it. */
  private static final int FIRST_LEVEL = 1;

  public static final ClusterState EMPTY =
      new ClusterState(
          NO_CLUSTER,
          FIRST_LEVEL,
          0,
          0,
          1,
          Collections.emptySortedMap(),
          Collections.emptySortedMap(),
          Collections.emptySortedMap());

  public ClusterState {
    nodes = Collections.unmodifiableSortedMap(new TreeMap<>(nodes));
    collections = Collections.unmodifiableSortedMap(new TreeMap<>(collections));
    dropped = Collections.unmodifiableSortedMap(new TreeMap<>(dropped));
  }

  /** How far a node's copy of a group's log has certainly come. */
  public record Mark(long term, long index) {
    /** Whether a copy at this mark may have forgotten something that one at {@code other} had. */
    boolean isBehind(Mark other) {
      return term < other.term || index < other.index;
    }
  }

  /**
   * A node.
   *
   * @param node where it is
   * @param opsPort its operations HTTP
   * @param groupsMax shard replicas it hosts at most
   * @param version of its software
   * @param boot starts of its data folder, as last registered
   * @param session the process that registered it
   * @param marks by group, as last registered
   */
  public record NodeEntry(
      ShardMap.Node node,
      int opsPort,
      int groupsMax,
      String version,
      long boot,
      UUID session,
      SortedMap<UUID, Mark> marks) {
    public NodeEntry {
      marks = Collections.unmodifiableSortedMap(new TreeMap<>(marks));
    }
  }

  /**
   * A collection.
   *
   * @param replicasWanted replicas asked for; 0 for auto
   * @param ready whether it may be used: all its shards have come up once
   * @param shards in slot order
   */
  public record CollectionEntry(
      CollectionId id,
      String name,
      CollectionSchema schema,
      int replicasWanted,
      long createdAtMs,
      boolean ready,
      List<ShardEntry> shards) {
    public CollectionEntry {
      shards = List.copyOf(shards);
    }
  }

  /**
   * A shard.
   *
   * @param epoch at which its slots or schema last changed
   * @param initialised whether its first entry has been applied
   * @param replicas its replicas; the first founds the group
   */
  public record ShardEntry(
      ShardId id,
      int number,
      SlotRange slots,
      long epoch,
      boolean initialised,
      List<ReplicaEntry> replicas) {
    public ShardEntry {
      replicas = List.copyOf(replicas);
    }

    List<NodeId> nodes() {
      return replicas.stream().map(ReplicaEntry::node).toList();
    }

    Optional<ReplicaEntry> on(NodeId node) {
      return replicas.stream().filter(r -> r.node().equals(node)).findFirst();
    }
  }

  /**
   * One copy of a shard.
   *
   * @param created whether its folder was made: a node without it has lost its disk since, and must
   *     not vote as if it had not
   */
  public record ReplicaEntry(NodeId node, boolean created) {}

  /**
   * Shard replicas that each node has been given, dropped ones that may still be there included.
   */
  public Map<NodeId, Integer> groupsByNode() {
    Map<NodeId, Integer> groups = new HashMap<>();
    nodes.keySet().forEach(node -> groups.put(node, 0));
    for (CollectionEntry collection : collections.values()) {
      for (ShardEntry shard : collection.shards()) {
        shard.replicas().forEach(replica -> groups.merge(replica.node(), 1, Integer::sum));
      }
    }
    dropped.values().forEach(set -> set.forEach(node -> groups.merge(node, 1, Integer::sum)));
    return groups;
  }

  /** Nodes in the order in which they joined. */
  public List<NodeEntry> nodesByNumber() {
    return nodes.values().stream()
        .sorted((a, b) -> Integer.compare(a.node().number(), b.node().number()))
        .toList();
  }

  /** The shard and its collection, unless it was dropped or never was. */
  public Optional<Placed> find(ShardId id) {
    for (CollectionEntry collection : collections.values()) {
      for (ShardEntry shard : collection.shards()) {
        if (shard.id().equals(id)) {
          return Optional.of(new Placed(collection, shard));
        }
      }
    }
    return Optional.empty();
  }

  /** A shard with its collection. */
  public record Placed(CollectionEntry collection, ShardEntry shard) {}

  /** What routing needs: collections that are ready, and all nodes. */
  public ShardMap toMap() {
    Map<String, ShardMap.Collection> ready = new HashMap<>();
    for (CollectionEntry c : collections.values()) {
      if (c.ready()) {
        List<ShardMap.Shard> shards = new ArrayList<>();
        for (ShardEntry s : c.shards()) {
          shards.add(new ShardMap.Shard(s.id(), s.number(), s.slots(), s.epoch(), s.nodes()));
        }
        ready.put(
            c.name(),
            new ShardMap.Collection(
                c.id(), c.name(), c.schema(), shards, c.replicasWanted(), c.createdAtMs()));
      }
    }
    Map<NodeId, ShardMap.Node> places = new HashMap<>();
    nodes.forEach((id, entry) -> places.put(id, entry.node()));
    return new ShardMap(epoch, ready, places);
  }

  // Copies with one part changed, for Transition.

  ClusterState withNode(NodeEntry entry) {
    TreeMap<NodeId, NodeEntry> changed = new TreeMap<>(nodes);
    changed.put(entry.node().id(), entry);
    return new ClusterState(
        cluster, featureLevel, epoch, timeMs, nextNode, changed, collections, dropped);
  }

  ClusterState withCollection(CollectionEntry entry) {
    TreeMap<String, CollectionEntry> changed = new TreeMap<>(collections);
    changed.put(entry.name(), entry);
    return new ClusterState(
        cluster, featureLevel, epoch, timeMs, nextNode, nodes, changed, dropped);
  }

  ClusterState withShard(CollectionEntry collection, ShardEntry shard) {
    List<ShardEntry> shards = new ArrayList<>();
    collection.shards().forEach(s -> shards.add(s.id().equals(shard.id()) ? shard : s));
    return withCollection(
        new CollectionEntry(
            collection.id(),
            collection.name(),
            collection.schema(),
            collection.replicasWanted(),
            collection.createdAtMs(),
            collection.ready(),
            shards));
  }

  ClusterState withoutCollection(String name) {
    TreeMap<String, CollectionEntry> changed = new TreeMap<>(collections);
    changed.remove(name);
    return new ClusterState(
        cluster, featureLevel, epoch, timeMs, nextNode, nodes, changed, dropped);
  }

  /** With these nodes as those that may still hold a dropped shard; none forgets the shard. */
  ClusterState withDropped(ShardId shard, Collection<NodeId> holders) {
    TreeMap<ShardId, SortedSet<NodeId>> changed = new TreeMap<>(dropped);
    if (holders.isEmpty()) {
      changed.remove(shard);
    } else {
      changed.put(shard, Collections.unmodifiableSortedSet(new TreeSet<>(holders)));
    }
    return new ClusterState(
        cluster, featureLevel, epoch, timeMs, nextNode, nodes, collections, changed);
  }

  ClusterState withNextNode(int number) {
    return new ClusterState(
        cluster, featureLevel, epoch, timeMs, number, nodes, collections, dropped);
  }

  ClusterState withCluster(UUID id) {
    return new ClusterState(id, featureLevel, epoch, timeMs, nextNode, nodes, collections, dropped);
  }

  ClusterState withFeatureLevel(int level) {
    return new ClusterState(cluster, level, epoch, timeMs, nextNode, nodes, collections, dropped);
  }

  ClusterState atTime(long ms) {
    return new ClusterState(
        cluster, featureLevel, epoch, Math.max(timeMs, ms), nextNode, nodes, collections, dropped);
  }

  ClusterState nextEpoch() {
    return new ClusterState(
        cluster, featureLevel, epoch + 1, timeMs, nextNode, nodes, collections, dropped);
  }
}
