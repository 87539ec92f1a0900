// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.service;

import com.google.protobuf.ByteString;
import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import io.sagitta.node.http.Health;
import io.sagitta.node.placement.proto.GroupReport;
import io.sagitta.node.placement.proto.NamedBytes;
import io.sagitta.node.placement.proto.NodeReport;
import io.sagitta.node.replica.Replicas;
import io.sagitta.raft.Peer;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.RaftHost.GroupStatus;
import io.sagitta.shard.ShardState;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;

/** Says how this node is, for the metadata leader and so for {@code status}. */
public final class NodeReports implements Supplier<NodeReport> {
  private final NodeId self;
  private final int featureLevel;
  private final RaftHost metaHost;
  private final RaftHost shardHost;
  private final Replicas replicas;
  private final Supplier<Health> health;
  private final Supplier<Map<String, Long>> memory;
  private final DiskSpace disk;
  private final Supplier<Optional<String>> shardRefusal;
  private final Function<GroupStatus, String> failures;

  /**
   * The reports of a node.
   *
   * @param featureLevel that this software supports
   * @param memory bytes by part
   * @param shardRefusal why there is no room for another shard, if there is none
   * @param failures why a group does not run and what is done about it; empty where it runs
   */
  public NodeReports(
      NodeId self,
      int featureLevel,
      RaftHost metaHost,
      RaftHost shardHost,
      Replicas replicas,
      Supplier<Health> health,
      Supplier<Map<String, Long>> memory,
      DiskSpace disk,
      Supplier<Optional<String>> shardRefusal,
      Function<GroupStatus, String> failures) {
    this.self = self;
    this.featureLevel = featureLevel;
    this.metaHost = metaHost;
    this.shardHost = shardHost;
    this.replicas = replicas;
    this.health = health;
    this.memory = memory;
    this.disk = disk;
    this.shardRefusal = shardRefusal;
    this.failures = failures;
  }

  @Override
  public NodeReport get() {
    Health now = health.get();
    NodeReport.Builder report =
        NodeReport.newBuilder()
            .setNode(bytes(self.value()))
            .setFeatureLevel(featureLevel)
            .setReady(now.ready())
            .addAllCauses(now.causes())
            .addAllCauses(now.warnings())
            .setDiskTotalBytes(disk.totalBytes())
            .setDiskFreeBytes(disk.freeBytes())
            .setDiskRefusal(shardRefusal.get().orElse(""))
            .setDiskFull(disk.refusal(0, false).isPresent())
            .setMetaMember(!metaHost.groups().isEmpty());
    memory
        .get()
        .forEach(
            (name, bytes) ->
                report.addMemory(NamedBytes.newBuilder().setName(name).setBytes(bytes)));
    shardHost.groups().forEach(status -> report.addGroups(group(status)));
    return report.build();
  }

  private GroupReport group(GroupStatus status) {
    GroupReport.Builder group =
        GroupReport.newBuilder()
            .setGroup(bytes(status.group().value()))
            .setLeaderReady(status.leaderReady())
            .setTerm(status.term())
            .setCommitIndex(status.commitIndex())
            .setAppliedIndex(status.appliedIndex())
            .setLogBytes(status.logBytes())
            .setFailure(failures.apply(status));
    status.leader().ifPresent(leader -> group.setLeader(bytes(UUID.fromString(leader))));
    for (Peer voter : status.voters()) {
      group.addVoters(bytes(UUID.fromString(voter.id())));
    }
    replicas
        .state(new ShardId(status.group().value()))
        .ifPresent(
            (ShardState state) ->
                group
                    .setInitialised(state.initialised())
                    .setRows(state.rows())
                    .setGrowingBytes(state.growingBytes())
                    .setSegments(state.segments().size())
                    .setCheckpointIndex(state.checkpointIndex()));
    return group.build();
  }

  private static ByteString bytes(UUID id) {
    return ByteString.copyFrom(
        ByteBuffer.allocate(16)
            .putLong(id.getMostSignificantBits())
            .putLong(id.getLeastSignificantBits())
            .flip());
  }
}
