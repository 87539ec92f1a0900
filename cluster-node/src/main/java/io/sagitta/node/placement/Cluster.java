// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import com.google.protobuf.InvalidProtocolBufferException;
import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.node.NodeConfig.HostPort;
import io.sagitta.node.placement.ClusterState.NodeEntry;
import io.sagitta.node.placement.proto.CreateRequest;
import io.sagitta.node.placement.proto.DropRequest;
import io.sagitta.node.placement.proto.GetDigest;
import io.sagitta.node.placement.proto.GetReports;
import io.sagitta.node.placement.proto.GetState;
import io.sagitta.node.placement.proto.MetadataReply;
import io.sagitta.node.placement.proto.MetadataRequest;
import io.sagitta.node.placement.proto.PlacementReply;
import io.sagitta.node.placement.proto.PlacementRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * The package's door: this node's part in what the cluster agrees on. It serves other nodes ({@link
 * #metadata}, {@link #placement}) and asks them on this node's behalf, wherever the metadata leader
 * is. Methods that return no future block: call them on a virtual thread.
 */
public final class Cluster {
  private final NodeId self;
  private final ClusterView view;
  private final Reconciler reconciler;
  private final MetadataService service;
  private final Members members;
  private final Executor executor;
  private final Supplier<UUID> ids;

  private volatile PlacementService placement; // null until shards run

  /**
   * This node's part.
   *
   * @param peers calls to other nodes; one to this node's own address must come back to it
   * @param seeds members to ask before any is known
   * @param executor runs what blocks: one virtual thread each
   * @param ids new random ids
   * @param reconcilePause pause between two looks at the cluster
   */
  public Cluster(
      NodeId self,
      ClusterView view,
      MetaGroup group,
      PeerCalls peers,
      List<HostPort> seeds,
      Executor executor,
      Supplier<UUID> ids,
      Duration reconcilePause) {
    this.self = self;
    this.view = view;
    this.executor = executor;
    this.ids = ids;
    this.reconciler = new Reconciler(self, group, peers, executor, reconcilePause);
    this.service = new MetadataService(group, view, reconciler, peers, ids, this::localDigest);
    this.members = new Members(self, group, view, service, peers, seeds);
  }

  /** From now on this node takes orders. */
  public void attach(PlacementService running) {
    placement = running;
  }

  /** The metadata leader's loop; give it a thread. */
  public Reconciler reconciler() {
    return reconciler;
  }

  /** This node's dealings with the cluster as a member. */
  public Registration registration(
      ShardMap.Node node, io.sagitta.node.placement.proto.NodeInfo info, long boot, UUID session) {
    return new Registration(members, view, node, info, boot, session);
  }

  // ---- served --------------------------------------------------------------------------------

  /** Answers another node's {@code MetadataRequest}. */
  public CompletableFuture<byte[]> metadata(byte[] request) {
    return CompletableFuture.supplyAsync(
        () -> service.handle(parse(request)).toByteArray(), executor);
  }

  private MetadataReply localDigest(GetDigest request) {
    PlacementService running = placement;
    if (running == null) {
      throw SagittaException.unavailable("the node is starting", 500);
    }
    return running.digest(request);
  }

  private static MetadataRequest parse(byte[] request) {
    try {
      return MetadataRequest.parseFrom(request);
    } catch (InvalidProtocolBufferException e) {
      throw new SagittaException(ErrorCode.INVALID_ARGUMENT, "not a metadata request", e);
    }
  }

  /** Carries out the metadata leader's {@code PlacementRequest}. */
  public CompletableFuture<byte[]> placement(byte[] request) {
    PlacementService running = placement;
    if (running == null) {
      return CompletableFuture.completedFuture(
          PlacementReply.newBuilder()
              .setFailure(
                  MetadataService.failure(SagittaException.unavailable("the node is starting", 500))
                      .getFailure())
              .build()
              .toByteArray());
    }
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return running.handle(PlacementRequest.parseFrom(request)).toByteArray();
          } catch (InvalidProtocolBufferException e) {
            throw new SagittaException(ErrorCode.INVALID_ARGUMENT, "not an order", e);
          }
        },
        executor);
  }

  // ---- asked ---------------------------------------------------------------------------------

  public ClusterState state() {
    return view.state();
  }

  public ShardMap map() {
    return view.map();
  }

  /** The state as the leader has it now; it is this process's view from then on. */
  public ClusterState refresh(Duration timeout) {
    return adopt(
        members.ask(
            MetadataRequest.newBuilder()
                .setGetState(
                    GetState.newBuilder()
                        .setKnownEpoch(view.state().epoch())
                        .setFromLeader(true)
                        .setAsker(Wire.bytes(self.value())))
                .build(),
            timeout));
  }

  /**
   * Creates a collection and waits until it may be used; see {@link MetadataService}.
   *
   * @param shards 0: one a node, at most 16
   * @param replicas 0: auto
   */
  public ClusterState create(
      String name, CollectionSchema schema, int shards, int replicas, Duration timeout) {
    Names.checkCollection("collection", name);
    CollectionId id = new CollectionId(ids.get());
    // What a failure must still leave time for: taking the collection back, and the way here.
    long wait = Math.max(100, timeout.toMillis() - 2_000);
    return adopt(
        members.ask(
            MetadataRequest.newBuilder()
                .setCreate(
                    CreateRequest.newBuilder()
                        .setName(name)
                        .setId(Wire.bytes(id.value()))
                        .setSchema(Wire.schema(schema))
                        .setShards(shards)
                        .setReplicas(replicas)
                        .setTimeoutMs(wait))
                .build(),
            timeout));
  }

  /** Drops the collection that has this name now. */
  public ClusterState drop(String name, Duration timeout) {
    Names.checkCollection("collection", name);
    ShardMap.Collection collection = refresh(timeout).toMap().requireCollection(name);
    return adopt(
        members.ask(
            MetadataRequest.newBuilder()
                .setDrop(
                    DropRequest.newBuilder()
                        .setName(name)
                        .setId(Wire.bytes(collection.id().value()))
                        .setTimeoutMs(timeout.toMillis()))
                .build(),
            timeout));
  }

  /** What the metadata leader heard from all nodes last. */
  public Reports reports(Duration timeout) {
    MetadataReply.Reports reports =
        members
            .ask(
                MetadataRequest.newBuilder().setGetReports(GetReports.getDefaultInstance()).build(),
                timeout)
            .getReports();
    return Reports.of(reports);
  }

  /**
   * The digest of one replica's live rows, or what there is in its place.
   *
   * @param minIndex log index at which it is taken at the earliest
   */
  public ReplicaDigest digest(NodeId node, ShardId shard, long minIndex, Duration timeout) {
    Optional<NodeEntry> at = view.node(node);
    if (at.isEmpty()) {
      return new ReplicaDigest.Unreachable("node " + node + " is not known here");
    }
    // It waits a little less long for the index, so that it still says how far it has come.
    MetadataRequest request =
        MetadataRequest.newBuilder()
            .setGetDigest(
                GetDigest.newBuilder()
                    .setShard(Wire.bytes(shard.value()))
                    .setMinIndex(minIndex)
                    .setTimeoutMs(timeout.toMillis() * 3 / 4))
            .build();
    HostPort address = Members.address(at.get());
    try {
      return ReplicaDigest.of(members.askOne(address, request, timeout));
    } catch (Members.Unreached e) {
      return new ReplicaDigest.Unreachable(address + " does not answer: " + e.getMessage());
    }
  }

  private ClusterState adopt(MetadataReply reply) {
    if (reply.hasState()) {
      ClusterState state = Wire.state(reply.getState());
      view.adopt(state);
      return state;
    }
    return view.state();
  }
}
