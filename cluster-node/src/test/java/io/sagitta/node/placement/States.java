// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import com.google.protobuf.ByteString;
import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.NodeId;
import io.sagitta.model.ShardMap;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.node.placement.ClusterState.CollectionEntry;
import io.sagitta.node.placement.proto.Command;
import io.sagitta.node.placement.proto.CreateCollection;
import io.sagitta.node.placement.proto.DropCollection;
import io.sagitta.node.placement.proto.Outcome;
import io.sagitta.node.placement.proto.RegisterNode;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** States and commands for tests, small and readable. */
final class States {
  static final UUID CLUSTER = new UUID(7, 7);

  static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.INT64,
          List.of(new VectorField(1, "v", VectorType.FLOAT32, 4, Metric.L2, false)));

  private States() {}

  static NodeId node(int i) {
    return new NodeId(new UUID(0, i));
  }

  static ShardMap.Node place(int i) {
    int base = 10_000 + 10 * i;
    return new ShardMap.Node(node(i), 0, "127.0.0.1", base, base + 1, base + 2, base + 4, base + 5);
  }

  static Command.Builder register(int i, long boot, UUID session, int groupsMax) {
    return Command.newBuilder()
        .setRegisterNode(
            RegisterNode.newBuilder()
                .setNode(
                    Wire.info(
                        place(i), 10_003 + 10 * i, groupsMax, ClusterState.FEATURE_LEVEL, "test"))
                .setBoot(boot)
                .setSession(Wire.bytes(session))
                .setCluster(i == 1 ? Wire.bytes(CLUSTER) : ByteString.EMPTY));
  }

  static Command.Builder create(CollectionEntry planned) {
    return Command.newBuilder()
        .setCreateCollection(CreateCollection.newBuilder().setCollection(Wire.collection(planned)));
  }

  static Command.Builder drop(String name) {
    return Command.newBuilder().setDropCollection(DropCollection.newBuilder().setName(name));
  }

  static Transition apply(ClusterState state, Command.Builder command) {
    try {
      return Transition.apply(state, command.setFormat(Transition.FORMAT).setTimeMs(1).build());
    } catch (Transition.UnknownCommand e) {
      throw new AssertionError(e);
    }
  }

  static ClusterState applied(ClusterState state, Command.Builder command) {
    Transition transition = apply(state, command);
    if (transition.outcome().getResultCase() == Outcome.ResultCase.REFUSED) {
      throw new AssertionError(transition.outcome().getRefused().getMessage());
    }
    return transition.state();
  }

  /** A cluster of nodes 1 to n, each hosting at most 64 groups. */
  static ClusterState cluster(int nodes) {
    ClusterState state = ClusterState.EMPTY;
    for (int i = 1; i <= nodes; i++) {
      state = applied(state, register(i, 1, new UUID(1, i), 64));
    }
    return state;
  }

  static Supplier<UUID> ids(RandomGenerator random) {
    return () -> new UUID(random.nextLong(), random.nextLong());
  }

  static CollectionEntry plan(
      ClusterState state, String name, int shards, int replicas, Supplier<UUID> ids) {
    return Placer.place(
        state,
        Set.copyOf(state.nodes().keySet()),
        new CollectionId(ids.get()),
        name,
        SCHEMA,
        shards,
        replicas,
        ids);
  }
}
