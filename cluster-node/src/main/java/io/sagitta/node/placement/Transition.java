// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import io.sagitta.model.CollectionId;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.node.placement.ClusterState.CollectionEntry;
import io.sagitta.node.placement.ClusterState.Mark;
import io.sagitta.node.placement.ClusterState.NodeEntry;
import io.sagitta.node.placement.ClusterState.Placed;
import io.sagitta.node.placement.ClusterState.ReplicaEntry;
import io.sagitta.node.placement.ClusterState.ShardEntry;
import io.sagitta.node.placement.proto.Command;
import io.sagitta.node.placement.proto.DropCollection;
import io.sagitta.node.placement.proto.NodeInfo;
import io.sagitta.node.placement.proto.Outcome;
import io.sagitta.node.placement.proto.RegisterNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * One step of the metadata group: (state, command) to (state, outcome). A pure function, so every
 * replica and every replay comes to the same. A refusal changes nothing but the state's time; each
 * command may be repeated.
 *
 * @param state the state after the command
 * @param outcome what its proposer is told
 */
record Transition(ClusterState state, Outcome outcome) {
  static final int FORMAT = 1;

  /** Nodes that a message lists. */
  private static final int LISTED_NODES_MAX = 8;

  /** A command that this software does not know: the replica must stop, not guess. */
  static final class UnknownCommand extends Exception {
    private static final long serialVersionUID = 1L;

    UnknownCommand(String message) {
      super(message);
    }
  }

  static Transition apply(ClusterState before, Command command) throws UnknownCommand {
    if (command.getFormat() != FORMAT) {
      throw new UnknownCommand(
          "metadata command of format "
              + command.getFormat()
              + ", this software knows "
              + FORMAT
              + ": it is older than the cluster");
    }
    ClusterState state = before.atTime(command.getTimeMs());
    return switch (command.getBodyCase()) {
      case REGISTER_NODE -> register(state, command.getRegisterNode());
      case CREATE_COLLECTION ->
          create(state, Wire.collection(command.getCreateCollection().getCollection()));
      case DROP_COLLECTION -> drop(state, command.getDropCollection());
      case REPLICA_CREATED ->
          replicaCreated(
              state,
              Wire.shard(command.getReplicaCreated().getShard()),
              Wire.node(command.getReplicaCreated().getNode()));
      case SHARD_INITIALISED ->
          initialised(state, Wire.shard(command.getShardInitialised().getShard()));
      case COLLECTION_READY ->
          ready(state, new CollectionId(Wire.uuid(command.getCollectionReady().getId())));
      case ADD_REPLICA ->
          addReplica(
              state,
              Wire.shard(command.getAddReplica().getShard()),
              Wire.node(command.getAddReplica().getNode()));
      case REPLICA_REMOVED ->
          replicaRemoved(
              state,
              Wire.shard(command.getReplicaRemoved().getShard()),
              Wire.node(command.getReplicaRemoved().getNode()));
      case RECORD_MARKS ->
          recordMarks(
              state,
              Wire.node(command.getRecordMarks().getNode()),
              Wire.marks(command.getRecordMarks().getMarksList()));
      case RAISE_FEATURE_LEVEL -> raise(state, command.getRaiseFeatureLevel().getLevel());
      case BODY_NOT_SET ->
          throw new UnknownCommand(
              "metadata command of an unknown kind: this software is older than the cluster");
    };
  }

  private static Transition raise(ClusterState state, int level) throws UnknownCommand {
    if (level > ClusterState.FEATURE_LEVEL) {
      throw new UnknownCommand(
          "the cluster goes on at feature level "
              + level
              + ", this software supports "
              + ClusterState.FEATURE_LEVEL
              + ": it is older than the cluster");
    }
    return done(state.withFeatureLevel(Math.max(level, state.featureLevel())));
  }

  // ---- nodes ---------------------------------------------------------------------------------

  private static Transition register(ClusterState state, RegisterNode command) {
    NodeInfo info = command.getNode();
    NodeId id = Wire.node(info.getId());
    UUID session = Wire.uuid(command.getSession());
    SortedMap<UUID, Mark> marks = Wire.marks(command.getMarksList());
    if (!command.getCluster().isEmpty()) {
      UUID cluster = Wire.uuid(command.getCluster());
      if (state.cluster().equals(ClusterState.NO_CLUSTER)) {
        state = state.withCluster(cluster);
      } else if (!state.cluster().equals(cluster)) {
        return refused(
            state,
            ErrorCode.INVALID_ARGUMENT,
            "the data folder belongs to cluster "
                + cluster
                + ", this is cluster "
                + state.cluster()
                + "; join a member of its own cluster, or use an empty data folder");
      }
    }
    if (state.cluster().equals(ClusterState.NO_CLUSTER)) {
      return refused(
          state, ErrorCode.UNAVAILABLE, "the cluster's founder has not registered itself yet");
    }
    if (info.getFeatureLevel() < state.featureLevel()) {
      return refused(
          state,
          ErrorCode.INVALID_ARGUMENT,
          "the node supports feature level "
              + info.getFeatureLevel()
              + ", the cluster uses "
              + state.featureLevel()
              + "; install the cluster's version");
    }
    NodeEntry known = state.nodes().get(id);
    if (known == null) {
      return join(state, info, command.getBoot(), session, marks);
    }
    Optional<String> rolledBack = rolledBack(known, command.getBoot(), session, marks);
    if (rolledBack.isPresent()) {
      return refused(state, ErrorCode.CORRUPT, rolledBack.get());
    }
    NodeEntry entry =
        Wire.nodeEntry(
            info, known.node().number(), command.getBoot(), session, newest(known.marks(), marks));
    Optional<String> taken = addressTaken(state, entry.node());
    if (taken.isPresent()) {
      return refused(state, ErrorCode.ALREADY_EXISTS, taken.get());
    }
    ClusterState after = state.withNode(entry);
    boolean moved = !entry.node().equals(known.node());
    return registered(moved ? after.nextEpoch() : after, entry.node().number());
  }

  private static Transition join(
      ClusterState state, NodeInfo info, long boot, UUID session, SortedMap<UUID, Mark> marks) {
    NodeEntry entry = Wire.nodeEntry(info, state.nextNode(), boot, session, marks);
    Optional<String> taken = addressTaken(state, entry.node());
    if (taken.isPresent()) {
      return refused(state, ErrorCode.ALREADY_EXISTS, taken.get());
    }
    boolean founder = state.nodes().isEmpty();
    ClusterState after = founder ? state.withFeatureLevel(info.getFeatureLevel()) : state;
    return registered(
        after.withNode(entry).withNextNode(state.nextNode() + 1).nextEpoch(), state.nextNode());
  }

  /** Why a node that comes back is not what it was, if it is not. */
  static Optional<String> rolledBack(
      NodeEntry known, long boot, UUID session, SortedMap<UUID, Mark> marks) {
    String advice =
        ": it was restored from an older copy, or is in use twice. It may have voted or stored what"
            + " this copy has forgotten, so it must not take part. Stop the other process; or start"
            + " the node with an empty data folder and another address, as a new node";
    if (boot < known.boot() || (boot == known.boot() && !session.equals(known.session()))) {
      return Optional.of(
          "the data folder of "
              + known.node().name()
              + " has gone back: its start counter is "
              + boot
              + ", the cluster has seen "
              + known.boot()
              + advice);
    }
    for (Map.Entry<UUID, Mark> mark : known.marks().entrySet()) {
      Mark now = marks.get(mark.getKey());
      if (now != null && now.isBehind(mark.getValue())) {
        return Optional.of(
            "the data folder of "
                + known.node().name()
                + " has gone back: its log of group "
                + mark.getKey()
                + " is at term "
                + now.term()
                + ", index "
                + now.index()
                + ", the cluster has seen term "
                + mark.getValue().term()
                + ", index "
                + mark.getValue().index()
                + advice);
      }
    }
    return Optional.empty();
  }

  /** A wiped disk comes back as another node at the same address; that is noticed here. */
  private static Optional<String> addressTaken(ClusterState state, ShardMap.Node node) {
    for (NodeEntry other : state.nodes().values()) {
      ShardMap.Node at = other.node();
      if (!at.id().equals(node.id())
          && at.host().equals(node.host())
          && (at.internalPort() == node.internalPort()
              || at.metaRaftPort() == node.metaRaftPort()
              || at.shardRaftPort() == node.shardRaftPort())) {
        return Optional.of(
            "address "
                + node.host()
                + ":"
                + node.internalPort()
                + " is that of "
                + at.name()
                + ", whose data folder was another one (node "
                + at.id()
                + "): its disk was wiped or"
                + " replaced. Start it with its own data folder; or give the empty one another"
                + " address, and it joins as a new node");
      }
    }
    return Optional.empty();
  }

  private static Transition recordMarks(
      ClusterState state, NodeId node, SortedMap<UUID, Mark> marks) {
    NodeEntry known = state.nodes().get(node);
    if (known == null) {
      return refused(state, ErrorCode.NOT_FOUND, "no node " + node);
    }
    SortedMap<UUID, Mark> merged = newest(known.marks(), marks);
    merged.keySet().removeIf(group -> !hosts(state, node, group));
    return done(
        state.withNode(
            new NodeEntry(
                known.node(),
                known.opsPort(),
                known.groupsMax(),
                known.version(),
                known.boot(),
                known.session(),
                merged)));
  }

  private static boolean hosts(ClusterState state, NodeId node, UUID group) {
    return group.equals(state.cluster())
        || state.find(new ShardId(group)).flatMap(placed -> placed.shard().on(node)).isPresent();
  }

  private static SortedMap<UUID, Mark> newest(
      SortedMap<UUID, Mark> known, SortedMap<UUID, Mark> marks) {
    SortedMap<UUID, Mark> merged = new TreeMap<>(known);
    marks.forEach(
        (group, mark) ->
            merged.merge(
                group,
                mark,
                (a, b) -> new Mark(Math.max(a.term(), b.term()), Math.max(a.index(), b.index()))));
    return merged;
  }

  // ---- collections ---------------------------------------------------------------------------

  private static Transition create(ClusterState state, CollectionEntry planned) {
    try {
      Names.checkCollection("collection", planned.name());
    } catch (SagittaException e) {
      return refused(state, e.code(), e.getMessage());
    }
    CollectionEntry there = state.collections().get(planned.name());
    if (there != null) {
      if (there.id().equals(planned.id())) {
        return done(state);
      }
      return refused(state, ErrorCode.ALREADY_EXISTS, nameTaken(there));
    }
    Map<NodeId, Integer> groups = state.groupsByNode();
    List<ShardEntry> shards = new ArrayList<>();
    long epoch = state.epoch() + 1;
    for (ShardEntry shard : planned.shards()) {
      for (NodeId node : shard.nodes()) {
        NodeEntry entry = state.nodes().get(node);
        if (entry == null) {
          return refused(state, ErrorCode.UNAVAILABLE, "no node " + node + "; plan again");
        }
        if (groups.merge(node, 1, Integer::sum) > entry.groupsMax()) {
          return refused(
              state,
              ErrorCode.LIMIT,
              groupLimit(
                  state,
                  planned.name(),
                  planned.shards().size(),
                  planned.shards().getFirst().replicas().size()));
        }
      }
      shards.add(
          new ShardEntry(
              shard.id(),
              shard.number(),
              shard.slots(),
              epoch,
              false,
              shard.nodes().stream().map(node -> new ReplicaEntry(node, false)).toList()));
    }
    CollectionEntry entry =
        new CollectionEntry(
            planned.id(),
            planned.name(),
            planned.schema(),
            planned.replicasWanted(),
            state.timeMs(),
            false,
            shards);
    return done(state.withCollection(entry).nextEpoch());
  }

  static String nameTaken(CollectionEntry there) {
    return "collection "
        + Names.quote(there.name())
        + (there.ready() ? " exists" : " is being created");
  }

  /** Why a collection does not fit: what it needs, and the room there is, node by node. */
  static String groupLimit(ClusterState state, String collection, int shards, int replicas) {
    Map<NodeId, Integer> groups = state.groupsByNode();
    StringJoiner hosted = new StringJoiner(", ");
    int room = 0;
    int listed = 0;
    for (NodeEntry node : state.nodesByNumber()) {
      int has = groups.get(node.node().id());
      room += Math.max(0, node.groupsMax() - has);
      if (listed++ < LISTED_NODES_MAX) {
        hosted.add(
            "%s hosts %d of at most %d".formatted(node.node().name(), has, node.groupsMax()));
      }
    }
    if (listed > LISTED_NODES_MAX) {
      hosted.add((listed - LISTED_NODES_MAX) + " more nodes");
    }
    return ("collection %s needs %d shard replicas (%d shards on %d nodes each), and there is room"
            + " for %d: %s (limits.groups); drop a collection, ask for fewer shards or replicas, or"
            + " add nodes")
        .formatted(Names.quote(collection), shards * replicas, shards, replicas, room, hosted);
  }

  private static Transition drop(ClusterState state, DropCollection command) {
    CollectionEntry there = state.collections().get(command.getName());
    if (there == null
        || (!command.getId().isEmpty() && !there.id().value().equals(Wire.uuid(command.getId())))) {
      return refused(state, ErrorCode.NOT_FOUND, "no collection " + Names.quote(command.getName()));
    }
    if (command.getUnlessReady() && there.ready()) {
      return refused(state, ErrorCode.CONFLICT, nameTaken(there));
    }
    ClusterState after = state.withoutCollection(there.name());
    for (ShardEntry shard : there.shards()) {
      after = after.withDropped(shard.id(), shard.nodes());
    }
    return done(after.nextEpoch());
  }

  private static Transition ready(ClusterState state, CollectionId id) {
    for (CollectionEntry c : state.collections().values()) {
      if (c.id().equals(id)) {
        if (c.ready()) {
          return done(state);
        }
        return done(
            state
                .withCollection(
                    new CollectionEntry(
                        c.id(),
                        c.name(),
                        c.schema(),
                        c.replicasWanted(),
                        c.createdAtMs(),
                        true,
                        c.shards()))
                .nextEpoch());
      }
    }
    return refused(state, ErrorCode.NOT_FOUND, "no collection " + id);
  }

  // ---- shards --------------------------------------------------------------------------------

  private static Transition replicaCreated(ClusterState state, ShardId shard, NodeId node) {
    return change(
        state,
        shard,
        s -> {
          List<ReplicaEntry> replicas = new ArrayList<>();
          for (ReplicaEntry r : s.replicas()) {
            replicas.add(r.node().equals(node) ? new ReplicaEntry(node, true) : r);
          }
          return with(s, s.initialised(), replicas);
        });
  }

  private static Transition initialised(ClusterState state, ShardId shard) {
    return change(state, shard, s -> with(s, true, s.replicas()));
  }

  private static Transition addReplica(ClusterState state, ShardId shard, NodeId node) {
    NodeEntry entry = state.nodes().get(node);
    if (entry == null) {
      return refused(state, ErrorCode.NOT_FOUND, "no node " + node);
    }
    Optional<Placed> placed = state.find(shard);
    if (placed.isPresent()
        && placed.get().shard().on(node).isEmpty()
        && state.groupsByNode().get(node) >= entry.groupsMax()) {
      return refused(
          state,
          ErrorCode.LIMIT,
          "no room for one more shard replica on %s: it hosts %d of at most %d (limits.groups)"
              .formatted(entry.node().name(), state.groupsByNode().get(node), entry.groupsMax()));
    }
    return change(
        state,
        shard,
        s -> {
          if (s.on(node).isPresent()) {
            return s;
          }
          List<ReplicaEntry> replicas = new ArrayList<>(s.replicas());
          replicas.add(new ReplicaEntry(node, false));
          return with(s, s.initialised(), replicas);
        });
  }

  private static Transition replicaRemoved(ClusterState state, ShardId shard, NodeId node) {
    List<NodeId> left =
        new ArrayList<>(state.dropped().getOrDefault(shard, Collections.emptySortedSet()));
    left.remove(node);
    return done(state.withDropped(shard, left));
  }

  private static Transition change(ClusterState state, ShardId id, UnaryOperator<ShardEntry> how) {
    Optional<Placed> placed = state.find(id);
    if (placed.isEmpty()) {
      return refused(state, ErrorCode.NOT_FOUND, "no shard " + id);
    }
    ShardEntry changed = how.apply(placed.get().shard());
    if (changed.equals(placed.get().shard())) {
      return done(state);
    }
    ClusterState after = state.withShard(placed.get().collection(), changed);
    return done(placed.get().collection().ready() ? after.nextEpoch() : after);
  }

  private static ShardEntry with(ShardEntry s, boolean initialised, List<ReplicaEntry> replicas) {
    return new ShardEntry(s.id(), s.number(), s.slots(), s.epoch(), initialised, replicas);
  }

  // ---- outcomes ------------------------------------------------------------------------------

  private static Transition done(ClusterState state) {
    return new Transition(
        state,
        Outcome.newBuilder().setDone(Outcome.Done.newBuilder().setEpoch(state.epoch())).build());
  }

  private static Transition registered(ClusterState state, int number) {
    return new Transition(
        state,
        Outcome.newBuilder()
            .setRegistered(
                Outcome.Registered.newBuilder()
                    .setNumber(number)
                    .setCluster(Wire.bytes(state.cluster())))
            .build());
  }

  private static Transition refused(ClusterState state, ErrorCode code, String message) {
    return new Transition(
        state,
        Outcome.newBuilder()
            .setRefused(Outcome.Refused.newBuilder().setCode(code.name()).setMessage(message))
            .build());
  }
}
