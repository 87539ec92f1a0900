// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import static io.sagitta.node.placement.States.applied;
import static io.sagitta.node.placement.States.apply;
import static io.sagitta.node.placement.States.cluster;
import static io.sagitta.node.placement.States.node;
import static io.sagitta.node.placement.States.register;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.node.placement.ClusterState.CollectionEntry;
import io.sagitta.node.placement.proto.CollectionReady;
import io.sagitta.node.placement.proto.Command;
import io.sagitta.node.placement.proto.Mark;
import io.sagitta.node.placement.proto.Outcome;
import io.sagitta.node.placement.proto.RaiseFeatureLevel;
import io.sagitta.node.placement.proto.RecordMarks;
import io.sagitta.node.placement.proto.ReplicaRemoved;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class TransitionTest {
  private static final UUID SESSION = new UUID(1, 1);

  private static String refusal(Transition transition) {
    return transition.outcome().getRefused().getMessage();
  }

  @Test
  void nodesAreNumberedAsTheyJoin() {
    ClusterState state = cluster(3);
    assertThat(state.nodesByNumber())
        .extracting(n -> n.node().name())
        .containsExactly("n1", "n2", "n3");
    assertThat(state.cluster()).isEqualTo(States.CLUSTER);
    assertThat(state.epoch()).isEqualTo(3);
  }

  @Test
  void registeringAgainWithTheSameSessionChangesNothing() {
    ClusterState state = cluster(1);
    Transition again = apply(state, register(1, 1, SESSION, 64));
    assertThat(again.outcome().getRegistered().getNumber()).isEqualTo(1);
    assertThat(again.state()).isEqualTo(state);
  }

  @Test
  void aLaterStartIsAccepted() {
    ClusterState state = applied(cluster(1), register(1, 2, new UUID(9, 9), 64));
    assertThat(state.nodes().get(node(1)).boot()).isEqualTo(2);
  }

  @Test
  void aFolderThatHasGoneBackIsRefused() {
    ClusterState state = applied(cluster(1), register(1, 5, new UUID(9, 9), 64));
    Transition back = apply(state, register(1, 4, new UUID(8, 8), 64));
    assertThat(back.outcome().getRefused().getCode()).isEqualTo("CORRUPT");
    assertThat(refusal(back)).contains("n1").contains("start counter is 4").contains("seen 5");
    assertThat(back.state()).isEqualTo(state);
  }

  @Test
  void aCopiedFolderIsRefused() {
    Transition copy = apply(cluster(1), register(1, 1, new UUID(8, 8), 64));
    assertThat(copy.outcome().getRefused().getCode()).isEqualTo("CORRUPT");
    assertThat(refusal(copy)).contains("is in use twice");
  }

  @Test
  void aLogThatHasGoneBackIsRefused() {
    Mark mark =
        Mark.newBuilder().setGroup(Wire.bytes(States.CLUSTER)).setTerm(3).setIndex(100).build();
    ClusterState state =
        applied(
            cluster(1),
            Command.newBuilder()
                .setRecordMarks(
                    RecordMarks.newBuilder().setNode(Wire.bytes(node(1).value())).addMarks(mark)));
    Command.Builder later = register(1, 2, new UUID(9, 9), 64);
    later.getRegisterNodeBuilder().addMarks(mark.toBuilder().setIndex(99));
    assertThat(refusal(apply(state, later))).contains("term 3, index 99").contains("index 100");
    later.getRegisterNodeBuilder().clearMarks().addMarks(mark);
    assertThat(apply(state, later).outcome().hasRegistered()).isTrue();
  }

  @Test
  void aWipedDiskAtAKnownAddressIsRefused() {
    Command.Builder wiped = register(1, 1, SESSION, 64);
    wiped.getRegisterNodeBuilder().getNodeBuilder().setId(Wire.bytes(new UUID(5, 5)));
    Transition refused = apply(cluster(2), wiped);
    assertThat(refused.outcome().getRefused().getCode()).isEqualTo("ALREADY_EXISTS");
    assertThat(refusal(refused)).contains("that of n1").contains("wiped");
  }

  @Test
  void aFolderOfAnotherClusterIsRefused() {
    Command.Builder stranger = register(4, 1, SESSION, 64);
    stranger.getRegisterNodeBuilder().setCluster(Wire.bytes(new UUID(6, 6)));
    assertThat(refusal(apply(cluster(1), stranger))).contains("belongs to cluster");
  }

  @Test
  void anOlderSoftwareIsRefused() {
    Command.Builder old = register(2, 1, SESSION, 64);
    old.getRegisterNodeBuilder().getNodeBuilder().setFeatureLevel(0);
    assertThat(refusal(apply(cluster(1), old))).contains("feature level 0");
  }

  @Test
  void theFounderSettlesTheFeatureLevelAndItOnlyRises() {
    Command.Builder founder = register(1, 1, SESSION, 64);
    founder.getRegisterNodeBuilder().getNodeBuilder().setFeatureLevel(1);
    ClusterState state = applied(ClusterState.EMPTY, founder);
    assertThat(state.featureLevel()).isEqualTo(1);
    state = applied(state, register(2, 1, SESSION, 64));
    assertThat(state.featureLevel()).isEqualTo(1);
    state = applied(state, raise(ClusterState.FEATURE_LEVEL));
    assertThat(state.featureLevel()).isEqualTo(ClusterState.FEATURE_LEVEL);
    assertThat(applied(state, raise(1))).isEqualTo(state);
    Command.Builder old = register(3, 1, SESSION, 64);
    old.getRegisterNodeBuilder().getNodeBuilder().setFeatureLevel(1);
    assertThat(refusal(apply(state, old))).contains("feature level 1");
  }

  @Test
  void aFeatureLevelBeyondThisSoftwareStopsTheReplica() {
    Command.Builder beyond = raise(ClusterState.FEATURE_LEVEL + 1).setFormat(Transition.FORMAT);
    assertThatThrownBy(() -> Transition.apply(cluster(1), beyond.build()))
        .isInstanceOf(Transition.UnknownCommand.class)
        .hasMessageContaining("older than the cluster");
  }

  private static Command.Builder raise(int level) {
    return Command.newBuilder()
        .setRaiseFeatureLevel(RaiseFeatureLevel.newBuilder().setLevel(level));
  }

  @Test
  void anUnknownCommandStopsTheReplica() {
    assertThatThrownBy(
            () ->
                Transition.apply(
                    ClusterState.EMPTY, Command.newBuilder().setFormat(Transition.FORMAT).build()))
        .isInstanceOf(Transition.UnknownCommand.class);
    assertThatThrownBy(
            () -> Transition.apply(ClusterState.EMPTY, Command.newBuilder().setFormat(2).build()))
        .isInstanceOf(Transition.UnknownCommand.class)
        .hasMessageContaining("older than the cluster");
  }

  @Test
  @Seeded
  void aNameIsTakenUntilItIsDropped(Seed seed) {
    var ids = States.ids(seed.random());
    ClusterState state = cluster(1);
    CollectionEntry first = States.plan(state, "a", 2, 0, ids);
    state = applied(state, States.create(first));
    assertThat(applied(state, States.create(first))).isEqualTo(state);
    Transition second = apply(state, States.create(States.plan(state, "a", 1, 0, ids)));
    assertThat(second.outcome().getRefused().getCode()).isEqualTo("ALREADY_EXISTS");
    state = applied(state, States.drop("a"));
    assertThat(state.collections()).isEmpty();
    assertThat(state.dropped()).hasSize(2);
    state = applied(state, States.create(States.plan(state, "a", 1, 0, ids)));
    assertThat(state.groupsByNode().get(node(1))).isEqualTo(3);
    for (var shard : first.shards()) {
      state =
          applied(
              state,
              Command.newBuilder()
                  .setReplicaRemoved(
                      ReplicaRemoved.newBuilder()
                          .setShard(Wire.bytes(shard.id().value()))
                          .setNode(Wire.bytes(node(1).value()))));
    }
    assertThat(state.dropped()).isEmpty();
    assertThat(state.groupsByNode().get(node(1))).isEqualTo(1);
  }

  @Test
  @Seeded
  void theGroupLimitHolds(Seed seed) {
    var ids = States.ids(seed.random());
    ClusterState state = applied(ClusterState.EMPTY, register(1, 1, SESSION, 3));
    CollectionEntry two = States.plan(state, "a", 2, 0, ids);
    CollectionEntry alsoTwo = States.plan(state, "b", 2, 0, ids);
    state = applied(state, States.create(two));
    Transition over = apply(state, States.create(alsoTwo));
    assertThat(over.outcome().getRefused().getCode()).isEqualTo("LIMIT");
    assertThat(refusal(over))
        .contains("needs 2 shard replicas (2 shards on 1 nodes each), and there is room for 1")
        .contains("n1 hosts 2 of at most 3");
  }

  @Test
  @Seeded
  void aCollectionBelongsToTheMapOnceItIsReady(Seed seed) {
    var ids = States.ids(seed.random());
    ClusterState state = cluster(1);
    CollectionEntry planned = States.plan(state, "a", 1, 0, ids);
    state = applied(state, States.create(planned));
    assertThat(state.toMap().collections()).isEmpty();
    long epoch = state.epoch();
    state =
        applied(
            state,
            Command.newBuilder()
                .setCollectionReady(
                    CollectionReady.newBuilder().setId(Wire.bytes(planned.id().value()))));
    assertThat(state.toMap().requireCollection("a").shards()).hasSize(1);
    assertThat(state.epoch()).isGreaterThan(epoch);
    assertThat(state.toMap().requireCollection("a").shards().getFirst().epoch()).isEqualTo(epoch);
  }

  @Test
  void refusalsAreOutcomesNotExceptions() {
    assertThat(apply(cluster(1), States.drop("none")).outcome().getResultCase())
        .isEqualTo(Outcome.ResultCase.REFUSED);
  }

  @Test
  @Seeded
  void aCollectionThatOpenedIsNotTakenBack(Seed seed) {
    var ids = States.ids(seed.random());
    CollectionEntry planned = States.plan(cluster(1), "a", 1, 0, ids);
    ClusterState creating = applied(cluster(1), States.create(planned));
    Command.Builder takeBack = States.drop("a");
    takeBack.getDropCollectionBuilder().setUnlessReady(true);
    assertThat(apply(creating, takeBack).outcome().hasDone()).isTrue();
    ClusterState open =
        applied(
            creating,
            Command.newBuilder()
                .setCollectionReady(
                    CollectionReady.newBuilder().setId(Wire.bytes(planned.id().value()))));
    Transition refused = apply(open, takeBack);
    assertThat(refused.outcome().getRefused().getCode()).isEqualTo("CONFLICT");
    assertThat(refused.state()).isEqualTo(open);
  }
}
