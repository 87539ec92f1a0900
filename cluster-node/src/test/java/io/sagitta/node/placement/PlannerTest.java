// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.node.placement.ClusterState.CollectionEntry;
import io.sagitta.node.placement.ClusterState.ShardEntry;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The planner's rules, one by one and against a world in which anything may fail. */
class PlannerTest {

  @ParameterizedTest
  @CsvSource({"1,1,1", "2,2,1", "3,3,3", "4,3,3", "5,5,3", "9,5,3"})
  void votersAndReplicasFollowTheNumberOfNodes(int nodes, int metaVoters, int autoReplicas) {
    assertThat(Planner.metaVoters(nodes)).isEqualTo(metaVoters);
    assertThat(Planner.autoReplicas(nodes)).isEqualTo(autoReplicas);
  }

  @Test
  @Seeded
  void aCollectionComesUpStepByStep(Seed seed) {
    World world = new World(seed.random(), 3);
    world.create("a", 1, 3);
    assertThat(world.stepKinds())
        .containsExactly(
            "JoinMetaGroup",
            "FoundShard",
            "ChangeMetaVoters",
            "InitShard",
            "JoinMetaGroup",
            "CreateReplica",
            "ChangeMetaVoters",
            "CreateReplica",
            "ChangeVoters",
            "ChangeVoters",
            "OpenCollection");
  }

  @Test
  @Seeded
  void theFeatureLevelRisesOnceEveryNodeAnswersAndSupportsMore(Seed seed) {
    World world = new World(seed.random(), 3);
    world.settle();
    world.goBackTo(1);
    world.upgrade(States.node(1));
    world.upgrade(States.node(2));
    assertThat(world.stepKinds()).isEmpty();
    world.stop(States.node(3));
    world.upgrade(States.node(3));
    assertThat(world.stepKinds()).isEmpty();
    assertThat(world.state().featureLevel()).isEqualTo(1);
    world.start(States.node(3));
    assertThat(world.stepKinds()).containsExactly("RaiseFeatureLevel");
    assertThat(world.state().featureLevel()).isEqualTo(ClusterState.FEATURE_LEVEL);
  }

  @Test
  @Seeded
  void leadersAreSpreadOverNodes(Seed seed) {
    World world = new World(seed.random(), 3);
    world.create("a", 6, 3);
    world.settle();
    assertThat(world.leaders()).hasSize(3).allSatisfy((node, led) -> assertThat(led).isEqualTo(2));
    world.makeLeaderOfEverything(States.node(2));
    world.settle();
    assertThat(world.leaders()).hasSize(3).allSatisfy((node, led) -> assertThat(led).isEqualTo(2));
  }

  @Test
  @Seeded
  void anAutoCollectionGrowsWhenTheThirdNodeJoins(Seed seed) {
    World world = new World(seed.random(), 1);
    world.create("a", 2, 0);
    world.create("fixed", 1, 1);
    world.settle();
    world.join();
    world.settle();
    assertThat(world.replicas("a")).containsExactly(1, 1);
    world.join();
    world.settle();
    assertThat(world.replicas("a")).containsExactly(3, 3);
    assertThat(world.replicas("fixed")).containsExactly(1);
    world.checkAgreement();
  }

  @Test
  @Seeded
  void aDroppedCollectionLeavesEveryDisk(Seed seed) {
    World world = new World(seed.random(), 3);
    world.create("a", 3, 3);
    world.settle();
    NodeId away = States.node(3);
    world.stop(away);
    world.drop("a");
    world.settle();
    assertThat(world.groupsOn(States.node(1))).isEmpty();
    assertThat(world.groupsOn(away)).hasSize(3);
    world.start(away);
    world.settle();
    assertThat(world.groupsOn(away)).isEmpty();
    assertThat(world.state().dropped()).isEmpty();
  }

  @Test
  @Seeded
  void aReplicaThatLostItsDiskIsNotMadeAgain(Seed seed) {
    World world = new World(seed.random(), 3);
    world.create("a", 1, 3);
    world.settle();
    ShardEntry shard = world.state().collections().get("a").shards().getFirst();
    world.loseReplica(shard.id(), States.node(2));
    assertThat(Planner.plan(world.state(), world.observe())).isEmpty();
  }

  @Test
  @Seeded
  void anOrphanIsRemoved(Seed seed) {
    World world = new World(seed.random(), 1);
    var orphan = world.addOrphan(States.node(1));
    assertThat(Planner.plan(world.state(), world.observe()))
        .contains(new Step.RemoveOrphan(orphan, States.node(1)));
  }

  @Test
  @Seeded
  void placementIsEvenAndWithinLimits(Seed seed) {
    RandomGenerator random = seed.random();
    World world = new World(random, 4);
    CollectionEntry planned = States.plan(world.state(), "a", 8, 3, States.ids(random));
    int[] replicas = new int[5];
    int[] founded = new int[5];
    for (ShardEntry shard : planned.shards()) {
      assertThat(shard.nodes()).doesNotHaveDuplicates().hasSize(3);
      founded[(int) shard.nodes().getFirst().value().getLeastSignificantBits()]++;
      shard.nodes().forEach(node -> replicas[(int) node.value().getLeastSignificantBits()]++);
    }
    assertThat(replicas).containsExactly(0, 6, 6, 6, 6);
    assertThat(founded).containsExactly(0, 2, 2, 2, 2);
    assertThatThrownBy(() -> States.plan(world.state(), "b", 80, 4, States.ids(random)))
        .isInstanceOfSatisfying(
            SagittaException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.LIMIT))
        .hasMessageContaining("'b' needs 320 shard replicas (80 shards on 4 nodes each)")
        .hasMessageContaining("there is room for 256: n1 hosts 0 of at most 64, n2 hosts");
    assertThatThrownBy(() -> States.plan(world.state(), "b", 1, 5, States.ids(random)))
        .isInstanceOfSatisfying(
            SagittaException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
        .hasMessageContaining("the cluster has 4 nodes");
  }

  /**
   * Joins, creations, drops, stops, restarts, lost answers and repeated orders, in any order; once
   * everything runs and nothing is asked for, what is agrees with what was agreed, and at no moment
   * was a replica made twice or did a group's voters change by more than one.
   */
  @Test
  @Seeded
  void whateverHappensTheClusterComesToRest(Seed seed) {
    RandomGenerator random = seed.random();
    for (int run = 0; run < 30; run++) {
      World world = new World(random, 1 + random.nextInt(3));
      world.setFaults(true);
      for (int event = 0; event < 60; event++) {
        switch (random.nextInt(7)) {
          case 0 -> {
            if (world.state().nodes().size() < 6) {
              world.join();
            }
          }
          case 1 -> world.create("c" + random.nextInt(4), 1 + random.nextInt(3), 0);
          case 2 -> world.drop("c" + random.nextInt(4));
          case 3 -> world.stop(States.node(1 + random.nextInt(world.state().nodes().size())));
          case 4 -> world.start(States.node(1 + random.nextInt(world.state().nodes().size())));
          default -> world.round();
        }
      }
      world.setFaults(false);
      world.startAll();
      world.settle();
      world.checkAgreement();
    }
  }

  @Test
  @Seeded
  void stateSurvivesItsWireForm(Seed seed) {
    World world = new World(seed.random(), 3);
    world.create("a", 2, 0);
    world.settle();
    world.create("b", 1, 1);
    world.drop("a");
    ClusterState state = world.state();
    assertThat(Wire.state(Wire.state(state))).isEqualTo(state);
    assertThat(List.of(state.collections().keySet())).isNotEmpty();
  }
}
