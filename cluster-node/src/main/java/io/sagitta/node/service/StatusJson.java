// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.service;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.model.NodeId;
import io.sagitta.node.placement.ClusterState;
import io.sagitta.node.placement.ClusterState.CollectionEntry;
import io.sagitta.node.placement.ClusterState.NodeEntry;
import io.sagitta.node.placement.ClusterState.ReplicaEntry;
import io.sagitta.node.placement.ClusterState.ShardEntry;
import io.sagitta.node.placement.Reports;
import io.sagitta.node.placement.proto.GroupReport;
import io.sagitta.node.placement.proto.NodeReport;
import java.util.Map;
import java.util.Optional;

/**
 * The cluster as {@code status} shows it: what was agreed beside what nodes reported. One JSON
 * object; keys are added, never renamed.
 */
final class StatusJson {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private final ClusterState state;
  private final Reports reports;

  StatusJson(ClusterState state, Reports reports) {
    this.state = state;
    this.reports = reports;
  }

  ObjectNode cluster() {
    ObjectNode out = JSON.objectNode();
    out.put("cluster", state.cluster().toString());
    out.put("feature_level", state.featureLevel());
    out.put("epoch", state.epoch());
    ObjectNode metadata = out.putObject("metadata");
    metadata.put("leader", reports.metaLeader().map(this::name).orElse(null));
    ArrayNode voters = metadata.putArray("voters");
    reports.metaVoters().stream().map(this::name).sorted().forEach(voters::add);
    ArrayNode nodes = out.putArray("nodes");
    state.nodesByNumber().forEach(node -> nodes.add(node(node)));
    ArrayNode collections = out.putArray("collections");
    state.collections().values().forEach(c -> collections.add(collection(c)));
    if (!state.dropped().isEmpty()) {
      out.put("shards_being_removed", state.dropped().size());
    }
    return out;
  }

  private ObjectNode node(NodeEntry entry) {
    ObjectNode out = JSON.objectNode();
    NodeReport report = reports.nodes().get(entry.node().id());
    out.put("name", entry.node().name());
    out.put("id", entry.node().id().toString());
    out.put("host", entry.node().host());
    ObjectNode ports = out.putObject("ports");
    ports.put("flight", entry.node().flightPort());
    ports.put("internal", entry.node().internalPort());
    ports.put("http", entry.node().httpPort());
    ports.put("ops", entry.opsPort());
    ports.put("meta_raft", entry.node().metaRaftPort());
    ports.put("shard_raft", entry.node().shardRaftPort());
    out.put("version", entry.version());
    out.put("starts", entry.boot());
    out.put("reachable", report != null);
    out.put("ready", report != null && report.getReady());
    ArrayNode causes = out.putArray("causes");
    out.put("groups_max", entry.groupsMax());
    if (report == null) {
      causes.add("the node does not answer");
      return out;
    }
    report.getCausesList().forEach(causes::add);
    out.put("groups", report.getGroupsCount());
    out.put("leads", report.getGroupsList().stream().filter(GroupReport::getLeaderReady).count());
    ObjectNode memory = out.putObject("memory");
    report.getMemoryList().forEach(part -> memory.put(part.getName(), part.getBytes()));
    ObjectNode disk = out.putObject("disk");
    disk.put("total_bytes", report.getDiskTotalBytes());
    disk.put("free_bytes", report.getDiskFreeBytes());
    return out;
  }

  private ObjectNode collection(CollectionEntry entry) {
    ObjectNode out = JSON.objectNode();
    out.put("name", entry.name());
    out.put("id", entry.id().toString());
    out.put("ready", entry.ready());
    if (entry.replicasWanted() == 0) {
      out.put("replicas_wanted", "auto");
    } else {
      out.put("replicas_wanted", entry.replicasWanted());
    }
    long rows = 0;
    ArrayNode shards = JSON.arrayNode();
    for (ShardEntry shard : entry.shards()) {
      rows += reports.leaderOf(shard.id()).map(l -> l.getValue().getRows()).orElse(0L);
      shards.add(shard(shard));
    }
    out.put("rows", rows);
    out.set("shards", shards);
    return out;
  }

  private ObjectNode shard(ShardEntry shard) {
    ObjectNode out = JSON.objectNode();
    Optional<Map.Entry<NodeId, GroupReport>> leader = reports.leaderOf(shard.id());
    Map<NodeId, GroupReport> copies = reports.of(shard.id());
    out.put("shard", shard.number());
    out.put("id", shard.id().toString());
    out.putArray("slots").add(shard.slots().from()).add(shard.slots().to());
    out.put("leader", leader.map(l -> name(l.getKey())).orElse(null));
    ArrayNode replicas = out.putArray("replicas");
    for (ReplicaEntry replica : shard.replicas()) {
      replicas.add(replica(replica, leader, Optional.ofNullable(copies.get(replica.node()))));
    }
    return out;
  }

  private ObjectNode replica(
      ReplicaEntry replica,
      Optional<Map.Entry<NodeId, GroupReport>> leader,
      Optional<GroupReport> copy) {
    ObjectNode out = JSON.objectNode();
    out.put("node", name(replica.node()));
    out.put("state", state(replica, leader, copy));
    copy.ifPresent(
        group -> {
          out.put("index", group.getAppliedIndex());
          out.put("rows", group.getRows());
          out.put("growing_bytes", group.getGrowingBytes());
          out.put("segments", group.getSegments());
          out.put("checkpoint_index", group.getCheckpointIndex());
          out.put("log_bytes", group.getLogBytes());
          if (!group.getFailure().isEmpty()) {
            out.put("failure", group.getFailure());
          }
        });
    return out;
  }

  private String state(
      ReplicaEntry replica,
      Optional<Map.Entry<NodeId, GroupReport>> leader,
      Optional<GroupReport> copy) {
    if (copy.isEmpty()) {
      boolean answers = reports.nodes().containsKey(replica.node());
      return !answers ? "unreachable" : replica.created() ? "lost" : "planned";
    }
    if (!copy.get().getFailure().isEmpty()) {
      return "failed";
    }
    if (leader.isPresent() && leader.get().getKey().equals(replica.node())) {
      return "leader";
    }
    boolean votes = leader.isPresent() && Reports.votes(leader.get().getValue(), replica.node());
    return votes ? "follower" : "joining";
  }

  private String name(NodeId id) {
    NodeEntry node = state.nodes().get(id);
    return node == null ? id.toString() : node.node().name();
  }

  /** What {@code describe} adds: each shard's replicas as reported. */
  ObjectNode shardStates(String collection) {
    ObjectNode out = JSON.objectNode();
    CollectionEntry entry = state.collections().get(collection);
    if (entry != null) {
      ObjectNode byNumber = out.putObject("shard_states");
      entry.shards().forEach(s -> byNumber.set(Integer.toString(s.number()), shard(s)));
    }
    return out;
  }
}
