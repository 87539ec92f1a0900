// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What is, as far as nodes answered.
 *
 * @param metaVoters voters of the metadata group
 * @param nodes the nodes that answered
 */
record Observed(List<NodeId> metaVoters, Map<NodeId, NodeView> nodes) {
  Observed {
    metaVoters = List.copyOf(metaVoters);
    nodes = Map.copyOf(nodes);
  }

  /**
   * What a node says of itself.
   *
   * @param metaMember whether it hosts the metadata group
   * @param featureLevel highest it supports
   * @param groups its shard replicas
   */
  record NodeView(boolean metaMember, int featureLevel, Map<ShardId, GroupView> groups) {
    NodeView {
      groups = Map.copyOf(groups);
    }
  }

  /**
   * What a node says of a replica.
   *
   * @param leads whether it leads and has applied an entry of its term
   * @param initialised whether the shard's first entry has been applied
   * @param failure why it does not run, if it does not
   */
  record GroupView(
      boolean leads,
      long term,
      long applied,
      List<NodeId> voters,
      boolean initialised,
      Optional<String> failure) {
    GroupView {
      voters = List.copyOf(voters);
    }
  }

  /** The node that leads a shard: of two that say so, the one with the higher term. */
  Optional<NodeId> leaderOf(ShardId shard) {
    NodeId leader = null;
    long term = -1;
    for (Map.Entry<NodeId, NodeView> node : nodes.entrySet()) {
      GroupView group = node.getValue().groups().get(shard);
      if (group != null && group.leads() && group.term() > term) {
        leader = node.getKey();
        term = group.term();
      }
    }
    return Optional.ofNullable(leader);
  }

  Optional<GroupView> group(NodeId node, ShardId shard) {
    return Optional.ofNullable(nodes.get(node)).map(view -> view.groups().get(shard));
  }
}
