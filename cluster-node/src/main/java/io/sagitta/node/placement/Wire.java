// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import com.google.protobuf.ByteString;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.model.SlotRange;
import io.sagitta.node.placement.ClusterState.CollectionEntry;
import io.sagitta.node.placement.ClusterState.Mark;
import io.sagitta.node.placement.ClusterState.NodeEntry;
import io.sagitta.node.placement.ClusterState.ReplicaEntry;
import io.sagitta.node.placement.ClusterState.ShardEntry;
import io.sagitta.node.placement.proto.Collection;
import io.sagitta.node.placement.proto.DroppedShard;
import io.sagitta.node.placement.proto.NodeInfo;
import io.sagitta.node.placement.proto.RegisteredNode;
import io.sagitta.node.placement.proto.Replica;
import io.sagitta.node.placement.proto.Shard;
import io.sagitta.node.placement.proto.State;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.arrow.vector.types.pojo.Schema;

/** {@link ClusterState} and its parts as {@code metadata.proto} spells them, both ways. */
final class Wire {
  private static final int UUID_BYTES = 16;

  private Wire() {}

  static ByteString bytes(UUID uuid) {
    return ByteString.copyFrom(
        ByteBuffer.allocate(UUID_BYTES)
            .putLong(uuid.getMostSignificantBits())
            .putLong(uuid.getLeastSignificantBits())
            .flip());
  }

  static UUID uuid(ByteString bytes) {
    if (bytes.size() != UUID_BYTES) {
      throw new IllegalArgumentException("a UUID of " + bytes.size() + " bytes, expected 16");
    }
    ByteBuffer buffer = bytes.asReadOnlyByteBuffer();
    return new UUID(buffer.getLong(), buffer.getLong());
  }

  static NodeId node(ByteString bytes) {
    return new NodeId(uuid(bytes));
  }

  static ShardId shard(ByteString bytes) {
    return new ShardId(uuid(bytes));
  }

  static ByteString schema(CollectionSchema schema) {
    return ByteString.copyFrom(ArrowSchemas.toArrow(schema).serializeAsMessage());
  }

  static CollectionSchema schema(ByteString bytes) {
    return ArrowSchemas.fromArrow(Schema.deserializeMessage(bytes.asReadOnlyByteBuffer()));
  }

  static State state(ClusterState state) {
    State.Builder out =
        State.newBuilder()
            .setCluster(bytes(state.cluster()))
            .setFeatureLevel(state.featureLevel())
            .setEpoch(state.epoch())
            .setTimeMs(state.timeMs())
            .setNextNode(state.nextNode());
    state.nodes().values().forEach(node -> out.addNodes(registered(node)));
    state.collections().values().forEach(collection -> out.addCollections(collection(collection)));
    state
        .dropped()
        .forEach(
            (shard, holders) -> {
              DroppedShard.Builder dropped = DroppedShard.newBuilder().setId(bytes(shard.value()));
              holders.forEach(holder -> dropped.addHolders(bytes(holder.value())));
              out.addDropped(dropped);
            });
    return out.build();
  }

  static ClusterState state(State in) {
    SortedMap<NodeId, NodeEntry> nodes = new TreeMap<>();
    for (RegisteredNode node : in.getNodesList()) {
      NodeEntry entry =
          nodeEntry(
              node.getNode(),
              node.getNumber(),
              node.getBoot(),
              uuid(node.getSession()),
              marks(node.getMarksList()));
      nodes.put(entry.node().id(), entry);
    }
    SortedMap<String, CollectionEntry> collections = new TreeMap<>();
    in.getCollectionsList().forEach(c -> collections.put(c.getName(), collection(c)));
    SortedMap<ShardId, SortedSet<NodeId>> dropped = new TreeMap<>();
    for (DroppedShard shard : in.getDroppedList()) {
      SortedSet<NodeId> holders = new TreeSet<>();
      shard.getHoldersList().forEach(holder -> holders.add(node(holder)));
      dropped.put(shard(shard.getId()), holders);
    }
    return new ClusterState(
        uuid(in.getCluster()),
        in.getFeatureLevel(),
        in.getEpoch(),
        in.getTimeMs(),
        in.getNextNode(),
        nodes,
        collections,
        dropped);
  }

  static NodeInfo info(
      ShardMap.Node node, int opsPort, int groupsMax, int featureLevel, String version) {
    return NodeInfo.newBuilder()
        .setId(bytes(node.id().value()))
        .setHost(node.host())
        .setFlightPort(node.flightPort())
        .setInternalPort(node.internalPort())
        .setHttpPort(node.httpPort())
        .setOpsPort(opsPort)
        .setMetaRaftPort(node.metaRaftPort())
        .setShardRaftPort(node.shardRaftPort())
        .setGroupsMax(groupsMax)
        .setFeatureLevel(featureLevel)
        .setVersion(version)
        .build();
  }

  static NodeEntry nodeEntry(
      NodeInfo info, int number, long boot, UUID session, SortedMap<UUID, Mark> marks) {
    return new NodeEntry(
        new ShardMap.Node(
            node(info.getId()),
            number,
            info.getHost(),
            info.getFlightPort(),
            info.getInternalPort(),
            info.getHttpPort(),
            info.getMetaRaftPort(),
            info.getShardRaftPort()),
        info.getOpsPort(),
        info.getGroupsMax(),
        info.getVersion(),
        boot,
        session,
        marks);
  }

  static SortedMap<UUID, Mark> marks(List<io.sagitta.node.placement.proto.Mark> in) {
    SortedMap<UUID, Mark> marks = new TreeMap<>();
    in.forEach(mark -> marks.put(uuid(mark.getGroup()), new Mark(mark.getTerm(), mark.getIndex())));
    return marks;
  }

  static List<io.sagitta.node.placement.proto.Mark> marks(SortedMap<UUID, Mark> marks) {
    List<io.sagitta.node.placement.proto.Mark> out = new ArrayList<>();
    marks.forEach(
        (group, mark) ->
            out.add(
                io.sagitta.node.placement.proto.Mark.newBuilder()
                    .setGroup(bytes(group))
                    .setTerm(mark.term())
                    .setIndex(mark.index())
                    .build()));
    return out;
  }

  static Collection collection(CollectionEntry entry) {
    Collection.Builder out =
        Collection.newBuilder()
            .setId(bytes(entry.id().value()))
            .setName(entry.name())
            .setSchema(schema(entry.schema()))
            .setReplicasWanted(entry.replicasWanted())
            .setCreatedAtMs(entry.createdAtMs())
            .setReady(entry.ready());
    for (ShardEntry shard : entry.shards()) {
      Shard.Builder s =
          Shard.newBuilder()
              .setId(bytes(shard.id().value()))
              .setNumber(shard.number())
              .setSlotsFrom(shard.slots().from())
              .setSlotsTo(shard.slots().to())
              .setEpoch(shard.epoch())
              .setInitialised(shard.initialised());
      shard
          .replicas()
          .forEach(
              r ->
                  s.addReplicas(
                      Replica.newBuilder()
                          .setNode(bytes(r.node().value()))
                          .setCreated(r.created())));
      out.addShards(s);
    }
    return out.build();
  }

  static CollectionEntry collection(Collection in) {
    List<ShardEntry> shards = new ArrayList<>();
    for (Shard shard : in.getShardsList()) {
      List<ReplicaEntry> replicas = new ArrayList<>();
      shard
          .getReplicasList()
          .forEach(r -> replicas.add(new ReplicaEntry(node(r.getNode()), r.getCreated())));
      shards.add(
          new ShardEntry(
              shard(shard.getId()),
              shard.getNumber(),
              new SlotRange(shard.getSlotsFrom(), shard.getSlotsTo()),
              shard.getEpoch(),
              shard.getInitialised(),
              replicas));
    }
    return new CollectionEntry(
        new CollectionId(uuid(in.getId())),
        in.getName(),
        schema(in.getSchema()),
        in.getReplicasWanted(),
        in.getCreatedAtMs(),
        in.getReady(),
        shards);
  }

  private static RegisteredNode registered(NodeEntry entry) {
    return RegisteredNode.newBuilder()
        .setNode(
            info(
                entry.node(),
                entry.opsPort(),
                entry.groupsMax(),
                ClusterState.FEATURE_LEVEL,
                entry.version()))
        .setNumber(entry.node().number())
        .setBoot(entry.boot())
        .setSession(bytes(entry.session()))
        .addAllMarks(marks(entry.marks()))
        .build();
  }
}
