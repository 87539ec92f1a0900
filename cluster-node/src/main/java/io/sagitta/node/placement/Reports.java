// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import io.sagitta.node.placement.proto.GroupReport;
import io.sagitta.node.placement.proto.MetadataReply;
import io.sagitta.node.placement.proto.NodeReport;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the nodes said of themselves at the metadata leader's last look, a second ago at most.
 *
 * @param metaLeader the node that leads the metadata group
 * @param metaVoters its voters
 * @param nodes by node; those that did not answer are absent
 */
public record Reports(
    Optional<NodeId> metaLeader, List<NodeId> metaVoters, Map<NodeId, NodeReport> nodes) {

  static Reports of(MetadataReply.Reports in) {
    Map<NodeId, NodeReport> nodes = new HashMap<>();
    in.getReportsList().forEach(report -> nodes.put(Wire.node(report.getNode()), report));
    return new Reports(
        in.getLeader().isEmpty() ? Optional.empty() : Optional.of(Wire.node(in.getLeader())),
        in.getVotersList().stream().map(Wire::node).toList(),
        nodes);
  }

  /** Each node's word on a shard. */
  public Map<NodeId, GroupReport> of(ShardId shard) {
    Map<NodeId, GroupReport> found = new LinkedHashMap<>();
    nodes.forEach(
        (node, report) -> {
          for (GroupReport group : report.getGroupsList()) {
            if (Wire.shard(group.getGroup()).equals(shard)) {
              found.put(node, group);
            }
          }
        });
    return found;
  }

  /** The shard's leader and its word: of two that claim the lead, the one with the higher term. */
  public Optional<Map.Entry<NodeId, GroupReport>> leaderOf(ShardId shard) {
    return of(shard).entrySet().stream()
        .filter(entry -> entry.getValue().getLeaderReady())
        .max(Comparator.comparingLong(entry -> entry.getValue().getTerm()));
  }

  /** Whether the node counts among the shard's voters. */
  public static boolean votes(GroupReport leader, NodeId node) {
    return leader.getVotersList().contains(Wire.bytes(node.value()));
  }
}
