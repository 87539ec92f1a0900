// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import com.google.protobuf.InvalidProtocolBufferException;
import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.NodeId;
import io.sagitta.model.Reason;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorStorage;
import io.sagitta.node.placement.ClusterState.CollectionEntry;
import io.sagitta.node.placement.ClusterState.NodeEntry;
import io.sagitta.node.placement.ClusterState.ShardEntry;
import io.sagitta.node.placement.proto.Command;
import io.sagitta.node.placement.proto.CreateCollection;
import io.sagitta.node.placement.proto.CreateRequest;
import io.sagitta.node.placement.proto.DropCollection;
import io.sagitta.node.placement.proto.DropRequest;
import io.sagitta.node.placement.proto.GetDigest;
import io.sagitta.node.placement.proto.GetMarks;
import io.sagitta.node.placement.proto.GetState;
import io.sagitta.node.placement.proto.MetadataReply;
import io.sagitta.node.placement.proto.MetadataRequest;
import io.sagitta.raft.NotLeader;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers what nodes ask of the metadata group. Runs on every member; what only the leader can
 * answer is passed on to it once. Blocking: call it on a virtual thread.
 */
final class MetadataService {
  private static final Logger log = LoggerFactory.getLogger(MetadataService.class);

  /** A command of the metadata group takes milliseconds; an election a few seconds. */
  static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(5);

  /** How long a drop waits for replicas to be gone before it answers all the same. */
  private static final Duration DROP_WAIT_MAX = Duration.ofSeconds(5);

  private final MetaGroup group;
  private final ClusterView view;
  private final Reconciler reconciler;
  private final PeerCalls peers;
  private final Supplier<UUID> ids;
  private final Function<GetDigest, MetadataReply> digests;

  /**
   * The answers of a node.
   *
   * @param ids new random ids
   * @param digests digests of this node's replicas
   */
  MetadataService(
      MetaGroup group,
      ClusterView view,
      Reconciler reconciler,
      PeerCalls peers,
      Supplier<UUID> ids,
      Function<GetDigest, MetadataReply> digests) {
    this.group = group;
    this.view = view;
    this.reconciler = reconciler;
    this.peers = peers;
    this.ids = ids;
    this.digests = digests;
  }

  /** Answers a request; a failure is part of the answer. */
  MetadataReply handle(MetadataRequest request) {
    try {
      return answer(request);
    } catch (NotLeader notLeader) {
      return passOn(request);
    } catch (SagittaException e) {
      return failure(e);
    } catch (RuntimeException e) {
      log.error("A metadata request failed", e);
      return failure(
          new SagittaException(
              ErrorCode.INTERNAL, "the metadata request failed: " + Reason.of(e), e));
    }
  }

  private MetadataReply answer(MetadataRequest request) {
    return switch (request.getBodyCase()) {
      case GET_STATE -> state(request.getGetState());
      case GET_MARKS -> marks(request.getGetMarks());
      case REGISTER ->
          MetadataReply.newBuilder()
              .setOutcome(
                  group.propose(
                      Command.newBuilder().setRegisterNode(request.getRegister()), COMMAND_TIMEOUT))
              .build();
      case RECORD_MARKS ->
          MetadataReply.newBuilder()
              .setOutcome(
                  group.propose(
                      Command.newBuilder().setRecordMarks(request.getRecordMarks()),
                      COMMAND_TIMEOUT))
              .build();
      case CREATE -> state(create(request.getCreate()));
      case DROP -> state(drop(request.getDrop()));
      case GET_REPORTS -> reports();
      case GET_DIGEST -> digests.apply(request.getGetDigest());
      case BODY_NOT_SET ->
          throw new SagittaException(
              ErrorCode.UNIMPLEMENTED, "this node does not know the metadata request");
    };
  }

  private MetadataReply passOn(MetadataRequest request) {
    Optional<NodeEntry> leader = group.leader().flatMap(view::node);
    if (request.getPassedOn() || leader.isEmpty()) {
      return noLeader();
    }
    byte[] again = request.toBuilder().setPassedOn(true).build().toByteArray();
    try {
      return MetadataReply.parseFrom(
          Calls.await(
              peers.metadata(Members.address(leader.get()), again, timeout(request)),
              timeout(request)));
    } catch (SagittaException e) {
      return e.code() == ErrorCode.UNAVAILABLE ? noLeader() : failure(e);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException(e);
    }
  }

  private static MetadataReply noLeader() {
    MetadataReply.Builder reply =
        failure(SagittaException.unavailable("the metadata group has no leader yet", 200))
            .toBuilder();
    reply.getFailureBuilder().setNoLeader(true);
    return reply.build();
  }

  /**
   * What the state is must be told soon or by somebody else: everything of a node waits for it, and
   * a leader that is paused or cut off says nothing at all.
   */
  static final Duration STATE_TIMEOUT = Duration.ofSeconds(1);

  /** How long a request may take at the leader, before another member is asked. */
  static Duration timeout(MetadataRequest request) {
    if (request.hasGetState()) {
      return STATE_TIMEOUT;
    }
    long extra =
        request.hasCreate()
            ? request.getCreate().getTimeoutMs()
            : request.hasDrop() ? request.getDrop().getTimeoutMs() : 0;
    return COMMAND_TIMEOUT.multipliedBy(2).plusMillis(extra);
  }

  // ---- reading -------------------------------------------------------------------------------

  private MetadataReply state(GetState request) {
    ClusterState state = request.getFromLeader() ? group.read(COMMAND_TIMEOUT) : view.state();
    if (state.cluster().equals(ClusterState.NO_CLUSTER)) {
      throw SagittaException.unavailable("this node belongs to no cluster yet", 500);
    }
    if (state.epoch() == request.getKnownEpoch()) {
      return MetadataReply.newBuilder()
          .setUnchanged(MetadataReply.Unchanged.getDefaultInstance())
          .build();
    }
    return state(state);
  }

  private static MetadataReply state(ClusterState state) {
    return MetadataReply.newBuilder().setState(Wire.state(state)).build();
  }

  private MetadataReply marks(GetMarks request) {
    MetadataReply.Known.Builder known = MetadataReply.Known.newBuilder();
    ClusterState state = view.state();
    NodeEntry node = state.nodes().get(Wire.node(request.getNode()));
    if (node != null) {
      known
          .setFound(true)
          .setBoot(node.boot())
          .addAllMarks(Wire.marks(node.marks()))
          .setCluster(Wire.bytes(state.cluster()));
    }
    return MetadataReply.newBuilder().setKnown(known).build();
  }

  private MetadataReply reports() {
    if (!group.leads()) {
      throw new NotLeader("this node does not lead the metadata group");
    }
    MetadataReply.Reports.Builder reports = MetadataReply.Reports.newBuilder();
    reports.addAllReports(reconciler.reports().values());
    group.leader().ifPresent(leader -> reports.setLeader(Wire.bytes(leader.value())));
    group.voters().forEach(voter -> reports.addVoters(Wire.bytes(voter.value())));
    return MetadataReply.newBuilder().setReports(reports).build();
  }

  // ---- collections ---------------------------------------------------------------------------

  /**
   * Creates a collection and waits until it may be used. When that takes too long it is taken back
   * and the answer is UNAVAILABLE: nothing was created. Only where even taking it back fails is the
   * outcome unknown: the next leader then either completes it or finds it taken back.
   */
  private ClusterState create(CreateRequest request) {
    Names.checkCollection("collection", request.getName());
    CollectionId id = new CollectionId(Wire.uuid(request.getId()));
    ClusterState now = group.read(COMMAND_TIMEOUT);
    CollectionEntry there = now.collections().get(request.getName());
    CollectionEntry planned = there;
    if (there != null && !there.id().equals(id)) {
      throw new SagittaException(ErrorCode.ALREADY_EXISTS, Transition.nameTaken(there));
    }
    if (there == null) {
      Set<NodeId> able = reconciler.reachable();
      Map<NodeId, String> full = reconciler.full();
      able.removeAll(full.keySet());
      if (able.isEmpty()) {
        throw new SagittaException(
            ErrorCode.LIMIT,
            "collection "
                + Names.quote(request.getName())
                + " was not created: no node has room for it: "
                + full.values().iterator().next());
      }
      CollectionSchema schema = Wire.schema(request.getSchema());
      checkFeatureLevel(schema, now.featureLevel());
      planned =
          Placer.place(
              now,
              able,
              id,
              request.getName(),
              schema,
              request.getShards(),
              request.getReplicas(),
              ids);
      group.propose(
          Command.newBuilder()
              .setCreateCollection(
                  CreateCollection.newBuilder().setCollection(Wire.collection(planned))),
          COMMAND_TIMEOUT);
      reconciler.wake();
    }
    return awaitOpen(planned, request.getTimeoutMs());
  }

  /** Nodes with older software would take a field's storage for the default. */
  private static void checkFeatureLevel(CollectionSchema schema, int level) {
    for (VectorField field : schema.vectorFields()) {
      if (field.storage() != VectorStorage.MAPPED && level < ClusterState.STORAGE_LEVEL) {
        throw new SagittaException(
            ErrorCode.UNIMPLEMENTED,
            "field "
                + Names.quote(field.name())
                + ": 'storage' needs feature level "
                + ClusterState.STORAGE_LEVEL
                + ", the cluster is at "
                + level
                + " until every node answers and runs software that supports it");
      }
    }
  }

  private ClusterState awaitOpen(CollectionEntry planned, long timeoutMs) {
    try {
      Optional<ClusterState> ready =
          view.await(
              state -> {
                CollectionEntry entry = state.collections().get(planned.name());
                return entry == null || !entry.id().equals(planned.id()) || entry.ready();
              },
              Duration.ofMillis(timeoutMs));
      if (ready.isPresent()) {
        return opened(ready.get(), planned);
      }
      return takeBack(planned, timeoutMs);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SagittaException(ErrorCode.OUTCOME_UNKNOWN, "the node is stopping", e);
    } catch (NotLeader e) {
      throw new SagittaException(
          ErrorCode.OUTCOME_UNKNOWN,
          "the metadata leader changed while collection "
              + Names.quote(planned.name())
              + " was created",
          e);
    }
  }

  private static ClusterState opened(ClusterState state, CollectionEntry planned) {
    CollectionEntry entry = state.collections().get(planned.name());
    if (entry == null || !entry.id().equals(planned.id())) {
      throw SagittaException.notFound(
          "collection " + Names.quote(planned.name()) + " was dropped while it was created");
    }
    return state;
  }

  private ClusterState takeBack(CollectionEntry planned, long timeoutMs) {
    String waitedFor = reconciler.missing(planned);
    try {
      group.propose(
          Command.newBuilder()
              .setDropCollection(
                  DropCollection.newBuilder()
                      .setName(planned.name())
                      .setId(Wire.bytes(planned.id().value()))
                      .setUnlessReady(true)),
          COMMAND_TIMEOUT);
    } catch (SagittaException e) {
      if (e.code() == ErrorCode.CONFLICT) {
        return opened(view.state(), planned); // it opened at the last moment
      }
      if (e.code() != ErrorCode.NOT_FOUND) {
        throw new SagittaException(ErrorCode.OUTCOME_UNKNOWN, e.getMessage(), e);
      }
    }
    reconciler.wake();
    throw SagittaException.unavailable(
        "collection "
            + Names.quote(planned.name())
            + " was not created: within "
            + timeoutMs
            + " ms "
            + waitedFor,
        1_000);
  }

  /**
   * Drops a collection. Answers when no shard of it can accept a write any more (a majority of its
   * replicas is gone), or after some seconds where their nodes do not answer.
   */
  private ClusterState drop(DropRequest request) {
    Names.checkCollection("collection", request.getName());
    ClusterState now = group.read(COMMAND_TIMEOUT);
    CollectionEntry entry = now.collections().get(request.getName());
    if (entry == null || !entry.id().value().equals(Wire.uuid(request.getId()))) {
      return now;
    }
    group.propose(
        Command.newBuilder()
            .setDropCollection(
                DropCollection.newBuilder()
                    .setName(entry.name())
                    .setId(Wire.bytes(entry.id().value()))),
        COMMAND_TIMEOUT);
    reconciler.wake();
    Duration wait = Duration.ofMillis(Math.min(request.getTimeoutMs(), DROP_WAIT_MAX.toMillis()));
    try {
      return view.await(state -> isSilent(state, entry), wait).orElseGet(view::state);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return view.state();
    }
  }

  private static boolean isSilent(ClusterState state, CollectionEntry dropped) {
    for (ShardEntry shard : dropped.shards()) {
      SortedSet<NodeId> holders = state.dropped().get(shard.id());
      if (holders != null && holders.size() > (shard.replicas().size() - 1) / 2) {
        return false;
      }
    }
    return true;
  }

  static MetadataReply failure(SagittaException e) {
    return MetadataReply.newBuilder()
        .setFailure(
            MetadataReply.Failure.newBuilder()
                .setCode(e.code().name())
                .setMessage(e.getMessage())
                .setRetryAfterMs(e.retryAfterMs().orElse(-1)))
        .build();
  }
}
