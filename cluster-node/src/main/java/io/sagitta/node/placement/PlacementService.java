// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import com.google.protobuf.ByteString;
import io.sagitta.model.CollectionId;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.SlotRange;
import io.sagitta.node.placement.proto.ChangeVoters;
import io.sagitta.node.placement.proto.CreateReplica;
import io.sagitta.node.placement.proto.GetDigest;
import io.sagitta.node.placement.proto.InitShard;
import io.sagitta.node.placement.proto.MetadataReply;
import io.sagitta.node.placement.proto.NodeReport;
import io.sagitta.node.placement.proto.PlacementReply;
import io.sagitta.node.placement.proto.PlacementRequest;
import io.sagitta.node.replica.FullDisks;
import io.sagitta.node.replica.LocalShards;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.Peer;
import io.sagitta.raft.RaftHost;
import io.sagitta.shard.FreezePolicy;
import io.sagitta.shard.ShardInit;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out the metadata leader's orders on this node. Every order may come twice and late; one
 * of a leader that has been replaced is refused. Blocking: call it on a virtual thread.
 */
public final class PlacementService {
  private static final Logger log = LoggerFactory.getLogger(PlacementService.class);

  /** An order to create or initialise; the leader stops waiting a little later. */
  private static final Duration ORDER_TIMEOUT = Duration.ofSeconds(10);

  private static final Duration VOTERS_TIMEOUT = Duration.ofMinutes(9);
  private static final long DISK_RETRY_AFTER_MS = 5_000;

  /** What an order removes besides the Raft group. */
  public interface ShardFiles {
    void delete(ShardId shard) throws IOException;
  }

  private final NodeId self;
  private final RaftHost shards;
  private final LocalShards local;
  private final MetaGroup metadata;
  private final ShardFiles files;
  private final FreezePolicy freeze;
  private final Supplier<Optional<String>> diskRefusal;
  private final FullDisks fullDisks;
  private final Supplier<NodeReport> report;
  private final AtomicLong highestTerm = new AtomicLong(-1);

  /**
   * The orders of a node.
   *
   * @param freeze what new shards are told to freeze by
   * @param diskRefusal why there is no room for another shard, if there is none
   * @param fullDisks is told whose disks are full
   * @param report says how this node is
   */
  public PlacementService(
      NodeId self,
      RaftHost shards,
      LocalShards local,
      MetaGroup metadata,
      ShardFiles files,
      FreezePolicy freeze,
      Supplier<Optional<String>> diskRefusal,
      FullDisks fullDisks,
      Supplier<NodeReport> report) {
    this.self = self;
    this.shards = shards;
    this.local = local;
    this.metadata = metadata;
    this.files = files;
    this.freeze = freeze;
    this.diskRefusal = diskRefusal;
    this.fullDisks = fullDisks;
    this.report = report;
  }

  /** Carries out an order; a failure is part of the answer. */
  public PlacementReply handle(PlacementRequest request) {
    try {
      check(request);
      return carryOut(request);
    } catch (SagittaException e) {
      return PlacementReply.newBuilder()
          .setFailure(MetadataService.failure(e).getFailure())
          .build();
    } catch (IOException | RuntimeException e) {
      log.warn("An order of the metadata leader failed: {}", request.getBodyCase(), e);
      return PlacementReply.newBuilder()
          .setFailure(
              MetadataService.failure(
                      new SagittaException(ErrorCode.INTERNAL, String.valueOf(e.getMessage()), e))
                  .getFailure())
          .build();
    }
  }

  /** A digest of this node's replica of a shard, at or after an index. */
  MetadataReply digest(GetDigest request) {
    LocalShards.Digest digest =
        local.digest(
            Wire.shard(request.getShard()),
            request.getMinIndex(),
            Duration.ofMillis(request.getTimeoutMs()));
    return MetadataReply.newBuilder()
        .setDigest(
            MetadataReply.Digest.newBuilder()
                .setIndex(digest.index())
                .setRows(digest.rows())
                .setDigest(ByteString.copyFrom(digest.bytes())))
        .build();
  }

  private void check(PlacementRequest request) {
    if (!Wire.node(request.getNode()).equals(self)) {
      throw new SagittaException(ErrorCode.NOT_FOUND, "another node listens here: " + self);
    }
    long highest = highestTerm.accumulateAndGet(request.getTerm(), Math::max);
    if (request.getTerm() < highest) {
      throw new SagittaException(
          ErrorCode.CONFLICT,
          "an order of metadata term " + request.getTerm() + " came after one of " + highest);
    }
  }

  private PlacementReply carryOut(PlacementRequest request) throws IOException {
    switch (request.getBodyCase()) {
      case GET_REPORT -> {
        fullDisks.heard(
            request.getGetReport().getFullDisksList().stream().map(Wire::node).toList());
        return PlacementReply.newBuilder().setReport(report.get()).build();
      }
      case CREATE_REPLICA -> create(request.getCreateReplica());
      case INIT_SHARD -> initialise(request.getInitShard());
      case CHANGE_VOTERS -> changeVoters(request.getChangeVoters());
      case REMOVE_REPLICA -> remove(Wire.shard(request.getRemoveReplica().getShard()));
      case MOVE_LEADER ->
          Calls.await(
              shards.transferLeadership(
                  new GroupId(Wire.uuid(request.getMoveLeader().getShard())), ORDER_TIMEOUT),
              ORDER_TIMEOUT);
      case JOIN_META_GROUP -> metadata.join(Wire.uuid(request.getJoinMetaGroup().getGroup()));
      case BODY_NOT_SET ->
          throw new SagittaException(
              ErrorCode.UNIMPLEMENTED, "this node does not know the order: it is older");
    }
    return PlacementReply.newBuilder().setDone(PlacementReply.Done.getDefaultInstance()).build();
  }

  private void create(CreateReplica order) {
    GroupId group = new GroupId(Wire.uuid(order.getShard()));
    Optional<String> full = diskRefusal.get();
    if (full.isPresent() && shards.status(group).isEmpty()) {
      throw SagittaException.unavailable(full.get(), DISK_RETRY_AFTER_MS);
    }
    shards.create(group, peers(order.getVotersList()));
  }

  private void initialise(InitShard order) {
    ShardInit init =
        new ShardInit(
            Wire.shard(order.getShard()),
            new CollectionId(Wire.uuid(order.getCollection())),
            order.getNumber(),
            order.getEpoch(),
            new SlotRange(order.getSlotsFrom(), order.getSlotsTo()),
            Wire.schema(order.getSchema()),
            0,
            freeze);
    Calls.await(local.initialise(init), ORDER_TIMEOUT);
  }

  private void changeVoters(ChangeVoters order) {
    List<Peer> voters =
        Calls.await(
            shards.changeVoters(
                new GroupId(Wire.uuid(order.getGroup())), peers(order.getTargetList())),
            VOTERS_TIMEOUT);
    log.info("Shard {} has {} voters", Wire.uuid(order.getGroup()), voters.size());
  }

  private void remove(ShardId shard) throws IOException {
    shards.remove(new GroupId(shard.value()));
    files.delete(shard);
    local.forget(shard);
  }

  private static List<Peer> peers(List<io.sagitta.node.placement.proto.Peer> peers) {
    return peers.stream()
        .map(peer -> new Peer(Wire.node(peer.getNode()).toString(), peer.getAddress()))
        .toList();
  }
}
