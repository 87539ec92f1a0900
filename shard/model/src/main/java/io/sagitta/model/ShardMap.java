// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Where everything is: an immutable picture of the metadata group's state. A request routed by an
 * older epoch than a shard's own is refused by the shard's apply with StaleShardMap.
 *
 * @param epoch grows with every change of collections or placement
 * @param collections by name
 * @param nodes all nodes that have joined
 */
public record ShardMap(long epoch, Map<String, Collection> collections, Map<NodeId, Node> nodes) {
  public static final ShardMap EMPTY = new ShardMap(0, Map.of(), Map.of());

  public ShardMap {
    collections = Map.copyOf(collections);
    nodes = Map.copyOf(nodes);
  }

  /** The named collection; the name is checked first. */
  public Collection requireCollection(String name) {
    Names.checkCollection("collection", name);
    return Optional.ofNullable(collections.get(name))
        .orElseThrow(() -> SagittaException.notFound("no collection " + Names.quote(name)));
  }

  /**
   * A collection.
   *
   * @param shards in slot order, covering all slots
   * @param replicasWanted replicas asked for; 0 for auto
   */
  public record Collection(
      CollectionId id,
      String name,
      CollectionSchema schema,
      List<Shard> shards,
      int replicasWanted,
      long createdAtMs) {
    public Collection {
      shards = List.copyOf(shards);
    }

    /** The shard that owns a slot. */
    public Shard shardOf(int slot) {
      for (Shard shard : shards) {
        if (shard.slots().contains(slot)) {
          return shard;
        }
      }
      throw new IllegalStateException("no shard of " + name + " owns slot " + slot);
    }
  }

  /**
   * A shard.
   *
   * @param number its place in the collection, from 0; what certificates and people call it
   * @param epoch epoch at which its slots or schema last changed
   * @param replicas nodes that hold it
   */
  public record Shard(ShardId id, int number, SlotRange slots, long epoch, List<NodeId> replicas) {
    public Shard {
      replicas = List.copyOf(replicas);
    }
  }

  /**
   * A node.
   *
   * @param number given at join, from 1; its name is {@code n<number>}
   * @param host address the other nodes reach it at
   * @param flightPort public Flight
   * @param internalPort Flight and gRPC between nodes
   * @param metaRaftPort Raft of the metadata group
   * @param shardRaftPort Raft of the shard groups
   */
  public record Node(
      NodeId id,
      int number,
      String host,
      int flightPort,
      int internalPort,
      int httpPort,
      int metaRaftPort,
      int shardRaftPort) {
    public String name() {
      return "n" + number;
    }
  }
}
