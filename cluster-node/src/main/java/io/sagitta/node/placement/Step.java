// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import io.sagitta.model.CollectionId;
import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import java.util.List;

/**
 * One thing to do on the way from what is to what was agreed. Every step may be repeated, may fail,
 * and may be found already done; {@link Planner} proposes it again until a report shows its effect.
 */
sealed interface Step {

  /** Steps of one key run one at a time. */
  Object key();

  /** Makes the group on its first replica, alone; then the state says it was created. */
  record FoundShard(ShardId shard, NodeId node) implements Step {
    @Override
    public Object key() {
      return shard;
    }
  }

  /** Has the leader propose the shard's first entry; then the state says it was. */
  record InitShard(ShardId shard, NodeId leader) implements Step {
    @Override
    public Object key() {
      return shard;
    }
  }

  /** Makes a replica that stays silent until it is made a voter; then the state says so. */
  record CreateReplica(ShardId shard, NodeId node) implements Step {
    @Override
    public Object key() {
      return shard;
    }
  }

  /** Has the leader make {@code target} the voters, one at a time. */
  record ChangeVoters(ShardId shard, NodeId leader, List<NodeId> target) implements Step {
    public ChangeVoters {
      target = List.copyOf(target);
    }

    @Override
    public Object key() {
      return shard;
    }
  }

  /** Opens a collection whose shards have come up. */
  record OpenCollection(CollectionId collection) implements Step {
    @Override
    public Object key() {
      return collection;
    }
  }

  /** Gives a shard one more replica. */
  record AddReplica(ShardId shard, NodeId node) implements Step {
    @Override
    public Object key() {
      return shard;
    }
  }

  /** Removes a replica of a dropped shard from a disk; then the state forgets it. */
  record RemoveReplica(ShardId shard, NodeId node) implements Step {
    @Override
    public Object key() {
      return List.of(shard, node);
    }
  }

  /** Removes a replica that nobody ordered: an order that arrived after its shard was dropped. */
  record RemoveOrphan(ShardId shard, NodeId node) implements Step {
    @Override
    public Object key() {
      return List.of(shard, node);
    }
  }

  /** Hands a shard's leadership from a node that leads many to one that leads few. */
  record MoveLeader(ShardId shard, NodeId from, NodeId to) implements Step {
    @Override
    public Object key() {
      return shard;
    }
  }

  /** Uses from here on what every node supports. */
  record RaiseFeatureLevel(int level) implements Step {
    @Override
    public Object key() {
      return "feature level";
    }
  }

  /** Makes a silent replica of the metadata group. */
  record JoinMetaGroup(NodeId node) implements Step {
    @Override
    public Object key() {
      return "metadata";
    }
  }

  /** Makes {@code target} the voters of the metadata group, one at a time. */
  record ChangeMetaVoters(List<NodeId> target) implements Step {
    public ChangeMetaVoters {
      target = List.copyOf(target);
    }

    @Override
    public Object key() {
      return "metadata";
    }
  }
}
