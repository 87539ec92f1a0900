// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.routing;

import io.sagitta.model.NodeId;
import io.sagitta.model.ReadMode;
import io.sagitta.model.ShardMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * In which order a shard's replicas are asked. Writes and strong reads: the leader first, since any
 * other would have to ask it. Other reads: this node's own replica first, which costs no hop, then
 * the rest in turns, so that their load is alike.
 */
public final class ReplicaChoice {
  private final NodeId self;
  private final LeaderCache leaders;
  private final boolean strongOnFollowers;

  /**
   * A choice.
   *
   * @param self this node
   * @param strongOnFollowers whether strong reads are spread as others are
   */
  public ReplicaChoice(NodeId self, LeaderCache leaders, boolean strongOnFollowers) {
    this.self = self;
    this.leaders = leaders;
    this.strongOnFollowers = strongOnFollowers;
  }

  /**
   * Replicas for a read, best first.
   *
   * @param turn any number; equal ones give equal orders
   */
  public List<ShardMap.Node> forRead(ShardMap map, ShardMap.Shard shard, ReadMode mode, int turn) {
    return switch (mode) {
      case ReadMode.Strong ignored ->
          strongOnFollowers ? nearFirst(map, shard, turn) : forWrite(map, shard, turn);
      case ReadMode.Session ignored -> nearFirst(map, shard, turn);
      case ReadMode.Bounded ignored -> nearFirst(map, shard, turn);
      case ReadMode.Any ignored -> nearFirst(map, shard, turn);
    };
  }

  /** Replicas for a write, the likely leader first. */
  public List<ShardMap.Node> forWrite(ShardMap map, ShardMap.Shard shard, int turn) {
    Optional<NodeId> leader = leaders.leaderOf(shard.id());
    return order(map, shard, leader.orElse(self), turn);
  }

  /** Whether any replica can serve a read as well as the next. */
  public boolean isSpread(ReadMode mode) {
    return strongOnFollowers || !(mode instanceof ReadMode.Strong);
  }

  private List<ShardMap.Node> nearFirst(ShardMap map, ShardMap.Shard shard, int turn) {
    return order(map, shard, self, turn);
  }

  /** The replicas from the one whose turn it is, {@code first} moved to the front if it is one. */
  private static List<ShardMap.Node> order(
      ShardMap map, ShardMap.Shard shard, NodeId first, int turn) {
    List<ShardMap.Node> nodes = new ArrayList<>();
    int count = shard.replicas().size();
    for (int i = 0; i < count; i++) {
      NodeId id = shard.replicas().get(Math.floorMod(turn + i, count));
      ShardMap.Node node = map.nodes().get(id);
      if (node == null) {
        continue;
      }
      if (id.equals(first)) {
        nodes.addFirst(node);
      } else {
        nodes.add(node);
      }
    }
    return nodes;
  }
}
