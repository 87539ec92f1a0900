// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.CollectionId;
import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import io.sagitta.model.SlotRange;
import io.sagitta.node.placement.ClusterState.CollectionEntry;
import io.sagitta.node.placement.ClusterState.ReplicaEntry;
import io.sagitta.node.placement.ClusterState.ShardEntry;
import io.sagitta.node.placement.proto.AddReplica;
import io.sagitta.node.placement.proto.CollectionReady;
import io.sagitta.node.placement.proto.Command;
import io.sagitta.node.placement.proto.Outcome;
import io.sagitta.node.placement.proto.ReplicaCreated;
import io.sagitta.node.placement.proto.ReplicaRemoved;
import io.sagitta.node.placement.proto.ShardInitialised;
import io.sagitta.raft.LogPosition;
import io.sagitta.raft.ReplicatedState.Checkpoint;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random commands against a model; checkpoints, restarts, replays and installs in between. */
class MetaStateTest {
  @TempDir Path root;

  @Test
  @Seeded
  void replicasAgreeThroughCheckpointsRestartsAndInstalls(Seed seed) throws IOException {
    RandomGenerator random = seed.random();
    List<byte[]> log = new ArrayList<>();
    Model model = new Model();
    MetaState state = MetaState.open(root.resolve("a"), s -> {});
    for (int step = 0; step < 600; step++) {
      byte[] entry = command(random, state.current());
      log.add(entry);
      Outcome outcome = Outcome.parseFrom(apply(state, log.size() - 1, entry));
      model.follow(Command.parseFrom(entry), outcome);
      model.check(state.current());
      if (random.nextInt(40) == 0) {
        state.requestCheckpoint();
      }
      if (random.nextInt(60) == 0) {
        ClusterState before = state.current();
        state = restart(log);
        assertThat(state.current()).isEqualTo(before);
      }
    }

    state.requestCheckpoint();
    Checkpoint checkpoint = state.checkpointed().orElseThrow();
    assertThat(checkpoint.position()).isEqualTo(new LogPosition(1, log.size() - 1));
    MetaState other = MetaState.open(root.resolve("b"), s -> {});
    assertThat(other.holds(checkpoint)).isTrue();
    other.install(checkpoint);
    assertThat(other.current()).isEqualTo(state.current());
    assertThat(MetaState.open(root.resolve("b"), s -> {}).current()).isEqualTo(state.current());
  }

  @Test
  void anEntryThatCannotBeReadStopsTheReplica() throws IOException {
    MetaState state = MetaState.open(root, s -> {});
    assertThatThrownBy(() -> apply(state, 0, new byte[] {1, 2, 3}))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot be read");
    assertThatThrownBy(
            () -> apply(state, 0, Command.newBuilder().setFormat(9).build().toByteArray()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("older than the cluster");
  }

  private MetaState restart(List<byte[]> log) throws IOException {
    MetaState again = MetaState.open(root.resolve("a"), s -> {});
    for (int i = (int) again.recovered().index() + 1; i < log.size(); i++) {
      apply(again, i, log.get(i));
    }
    return again;
  }

  private static byte[] apply(MetaState state, long index, byte[] entry) throws IOException {
    return state.apply(new LogPosition(1, index), ByteBuffer.wrap(entry));
  }

  private static byte[] command(RandomGenerator random, ClusterState state) {
    Command.Builder command =
        switch (random.nextInt(8)) {
          case 0 ->
              States.register(
                  1 + random.nextInt(4), 1 + random.nextInt(5), new UUID(1, random.nextInt(3)), 9);
          case 1, 2 -> create(random, state);
          case 3 -> States.drop("c" + random.nextInt(5));
          default -> aboutAShard(random, state);
        };
    return command
        .setFormat(Transition.FORMAT)
        .setTimeMs(random.nextInt(1_000))
        .build()
        .toByteArray();
  }

  private static Command.Builder create(RandomGenerator random, ClusterState state) {
    if (state.nodes().isEmpty()) {
      return States.register(1, 1, new UUID(1, 1), 9);
    }
    // Placed without a look at limits, as a leader with an old state might.
    List<ShardEntry> shards = new ArrayList<>();
    List<NodeId> nodes = List.copyOf(state.nodes().keySet());
    int count = 1 + random.nextInt(3);
    for (int i = 0; i < count; i++) {
      shards.add(
          new ShardEntry(
              new ShardId(States.ids(random).get()),
              i,
              SlotRange.part(i, count),
              0,
              false,
              List.of(new ReplicaEntry(nodes.get(random.nextInt(nodes.size())), false))));
    }
    return States.create(
        new CollectionEntry(
            new CollectionId(States.ids(random).get()),
            "c" + random.nextInt(5),
            States.SCHEMA,
            0,
            0,
            false,
            shards));
  }

  private static Command.Builder aboutAShard(RandomGenerator random, ClusterState state) {
    List<CollectionEntry> collections = List.copyOf(state.collections().values());
    var node = Wire.bytes(States.node(1 + random.nextInt(4)).value());
    if (collections.isEmpty() || random.nextInt(4) == 0) {
      var dropped = List.copyOf(state.dropped().keySet());
      UUID shard =
          dropped.isEmpty() ? new UUID(0, 0) : dropped.get(random.nextInt(dropped.size())).value();
      return Command.newBuilder()
          .setReplicaRemoved(ReplicaRemoved.newBuilder().setShard(Wire.bytes(shard)).setNode(node));
    }
    CollectionEntry collection = collections.get(random.nextInt(collections.size()));
    var shard =
        Wire.bytes(
            collection.shards().get(random.nextInt(collection.shards().size())).id().value());
    return switch (random.nextInt(4)) {
      case 0 ->
          Command.newBuilder()
              .setReplicaCreated(ReplicaCreated.newBuilder().setShard(shard).setNode(node));
      case 1 ->
          Command.newBuilder().setShardInitialised(ShardInitialised.newBuilder().setShard(shard));
      case 2 ->
          Command.newBuilder().setAddReplica(AddReplica.newBuilder().setShard(shard).setNode(node));
      default ->
          Command.newBuilder()
              .setCollectionReady(
                  CollectionReady.newBuilder().setId(Wire.bytes(collection.id().value())));
    };
  }

  /** What must be so after any history, told from the outcomes alone. */
  private static final class Model {
    private final Map<String, UUID> names = new HashMap<>();
    private final Set<UUID> ready = new HashSet<>();
    private final Set<Integer> numbers = new TreeSet<>();
    private long epoch;

    void follow(Command command, Outcome outcome) {
      if (outcome.hasRegistered()) {
        numbers.add(outcome.getRegistered().getNumber());
      }
      if (!outcome.hasDone()) {
        return;
      }
      switch (command.getBodyCase()) {
        case CREATE_COLLECTION ->
            names.put(
                command.getCreateCollection().getCollection().getName(),
                Wire.uuid(command.getCreateCollection().getCollection().getId()));
        case DROP_COLLECTION -> ready.remove(names.remove(command.getDropCollection().getName()));
        case COLLECTION_READY -> ready.add(Wire.uuid(command.getCollectionReady().getId()));
        default -> {}
      }
    }

    void check(ClusterState state) {
      assertThat(state.epoch()).isGreaterThanOrEqualTo(epoch);
      epoch = state.epoch();
      Map<String, UUID> held = new HashMap<>();
      state.collections().forEach((name, c) -> held.put(name, c.id().value()));
      assertThat(held).isEqualTo(names);
      assertThat(state.toMap().collections().values())
          .extracting(c -> c.id().value())
          .containsExactlyInAnyOrderElementsOf(ready);
      assertThat(state.nodesByNumber())
          .extracting(n -> n.node().number())
          .containsExactlyElementsOf(numbers);
      state
          .groupsByNode()
          .forEach(
              (node, groups) ->
                  assertThat(groups).isLessThanOrEqualTo(state.nodes().get(node).groupsMax()));
      for (CollectionEntry collection : state.collections().values()) {
        for (ShardEntry shard : collection.shards()) {
          assertThat(shard.nodes()).doesNotHaveDuplicates();
          assertThat(state.dropped()).doesNotContainKey(shard.id());
        }
      }
    }
  }
}
