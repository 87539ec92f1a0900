// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import io.sagitta.node.http.Health;
import io.sagitta.node.placement.ClusterState;
import io.sagitta.node.placement.ClusterState.CollectionEntry;
import io.sagitta.node.placement.ClusterState.ShardEntry;
import io.sagitta.node.placement.ClusterView;
import io.sagitta.node.placement.MetaGroup;
import io.sagitta.node.replica.Admission;
import io.sagitta.node.replica.ReplicaRepair;
import io.sagitta.node.replica.Replicas;
import io.sagitta.node.service.DiskSpace;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.RaftHost.GroupStatus;
import io.sagitta.shard.MemoryBudget;
import io.sagitta.shard.MemoryBudget.Part;
import io.sagitta.shard.ShardState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Whether this node is ready: it knows the cluster's state, and every shard it holds has a leader,
 * has begun, and has caught up. Asked often, so it reads only what is at hand. Shards of
 * collections that are still being created do not count, nor do replicas that are on their way.
 */
final class MemberHealth implements Supplier<Health> {
  /** Entries by which a replica may lag behind the commit index it knows. */
  private static final long LAG_MAX = 1_024;

  /** A copy of the state from a member older than this is not knowing. */
  private static final Duration STATE_AGE_MAX = Duration.ofSeconds(10);

  /** Failed shards that are named; the log has all. */
  private static final int FAILURES_NAMED = 8;

  private final NodeConfig config;
  private final NodeId self;
  private final ClusterView view;
  private final MetaGroup metaGroup;
  private final RaftHost metaHost;
  private final RaftHost shardHost;
  private final Replicas replicas;
  private final ReplicaRepair repair;
  private final DiskSpace disk;
  private final MemoryBudget memory;

  private volatile long heardAtNanos = System.nanoTime();

  MemberHealth(
      NodeConfig config,
      NodeId self,
      ClusterView view,
      MetaGroup metaGroup,
      RaftHost metaHost,
      RaftHost shardHost,
      Replicas replicas,
      ReplicaRepair repair,
      DiskSpace disk,
      MemoryBudget memory) {
    this.config = config;
    this.self = self;
    this.view = view;
    this.metaGroup = metaGroup;
    this.metaHost = metaHost;
    this.shardHost = shardHost;
    this.replicas = replicas;
    this.repair = repair;
    this.disk = disk;
    this.memory = memory;
  }

  /** A member of the metadata group has just answered. */
  void heardFromCluster() {
    heardAtNanos = System.nanoTime();
  }

  @Override
  public Health get() {
    List<String> causes = new ArrayList<>();
    List<String> warnings = new ArrayList<>();
    metadata(causes);
    shards(causes, warnings);
    int used = disk.usedPercent();
    disk.refusal(0, false)
        .or(
            () ->
                used < config.disk().warnPercent()
                    ? Optional.empty()
                    : Optional.of("the disk is " + used + " % full"))
        .ifPresent(warnings::add);
    resident(warnings);
    return new Health(causes, warnings);
  }

  private void resident(List<String> warnings) {
    long displaced = memory.bytes(Part.DISPLACED);
    if (displaced > 0) {
      warnings.add(
          displaced
              + " bytes of vectors and graphs that belong in memory are read from files: there is"
              + " room for "
              + memory.residentBytesMax()
              + " bytes (memory.resident_bytes)");
    }
    Admission.residentRefusal(memory, 0)
        .ifPresent(why -> warnings.add("writes are refused: " + why));
  }

  private void metadata(List<String> causes) {
    Optional<GroupStatus> status = metaGroup.status();
    if (status.isPresent()) {
      status
          .flatMap(GroupStatus::failure)
          .ifPresent(failure -> causes.add("the metadata group's replica failed: " + failure));
      if (status.filter(this::isLed).isEmpty()) {
        causes.add("the metadata group has no leader");
      }
    } else if (System.nanoTime() - heardAtNanos > STATE_AGE_MAX.toNanos()) {
      causes.add("no member of the metadata group answers");
    }
    if (metaHost.metrics().groupsFailed() > 0 && causes.isEmpty()) {
      causes.add("the metadata group's replica failed");
    }
  }

  private void shards(List<String> causes, List<String> warnings) {
    ClusterState state = view.state();
    int leaderless = 0;
    int behind = 0;
    List<String> failed = new ArrayList<>();
    int full = 0;
    int lost = 0;
    for (CollectionEntry collection : state.collections().values()) {
      for (ShardEntry shard : collection.shards()) {
        boolean mine =
            collection.ready()
                && shard.replicas().stream().anyMatch(r -> r.created() && r.node().equals(self));
        if (!mine) {
          continue;
        }
        Optional<GroupStatus> status = shardHost.status(new GroupId(shard.id().value()));
        if (status.isEmpty()) {
          lost++;
        } else if (status.get().wantsSpace()) {
          full++;
        } else if (status.get().failure().isPresent()) {
          failed.add("shard " + shard.id() + ": " + repair.withNote(status.get()));
        } else if (!isLed(status.get())) {
          leaderless++;
        } else if (isBehind(shard.id(), status.get())) {
          behind++;
        }
      }
    }
    if (leaderless > 0) {
      causes.add(leaderless + " shards have no leader");
    }
    if (behind > 0) {
      causes.add(behind + " shards are catching up");
    }
    if (full > 0) {
      causes.add(
          "the disk is full: "
              + full
              + " shards cannot write their log; they start again by themselves once there is room");
    }
    failed.stream().limit(FAILURES_NAMED).forEach(causes::add);
    if (failed.size() > FAILURES_NAMED) {
      causes.add(failed.size() - FAILURES_NAMED + " more shards failed, see the log");
    }
    if (lost > 0) {
      warnings.add(lost + " shards are not on this disk any more");
    }
  }

  /** A new leader leads once it has applied an entry of its term. */
  private boolean isLed(GroupStatus status) {
    return status
        .leader()
        .filter(leader -> status.leaderReady() || !leader.equals(self.toString()))
        .isPresent();
  }

  private boolean isBehind(ShardId shard, GroupStatus status) {
    boolean begun = replicas.state(shard).map(ShardState::initialised).orElse(false);
    return !begun || status.commitIndex() - status.appliedIndex() > LAG_MAX;
  }
}
