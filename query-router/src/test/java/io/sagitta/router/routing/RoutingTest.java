// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.model.NodeId;
import io.sagitta.model.ReadMode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.model.SlotRange;
import io.sagitta.router.Leaders;
import io.sagitta.router.ShardMaps;
import io.sagitta.router.fanout.ActiveCall;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class RoutingTest {
  private static final List<NodeId> NODES = List.of(id(1), id(2), id(3));
  private static final ShardMap.Shard SHARD =
      new ShardMap.Shard(new ShardId(new UUID(9, 9)), 0, SlotRange.ALL, 1, NODES);

  private static NodeId id(int number) {
    return new NodeId(new UUID(0, number));
  }

  private static ShardMap map(long epoch) {
    Map<NodeId, ShardMap.Node> nodes = new HashMap<>();
    for (int i = 0; i < NODES.size(); i++) {
      nodes.put(NODES.get(i), new ShardMap.Node(NODES.get(i), i + 1, "h", 1, 1, 1, 1, 1));
    }
    return new ShardMap(epoch, Map.of(), nodes);
  }

  private static List<Integer> numbers(List<ShardMap.Node> nodes) {
    return nodes.stream().map(ShardMap.Node::number).toList();
  }

  @Test
  void strongReadsAndWritesGoToTheLeaderOthersStayNear() {
    LeaderCache leaders = new LeaderCache(shard -> Optional.of(id(2)));
    ReplicaChoice choice = new ReplicaChoice(id(3), leaders, false);
    assertThat(numbers(choice.forWrite(map(1), SHARD, 0))).startsWith(2);
    assertThat(numbers(choice.forRead(map(1), SHARD, ReadMode.STRONG, 0))).startsWith(2);
    assertThat(numbers(choice.forRead(map(1), SHARD, ReadMode.ANY, 0))).startsWith(3);
    assertThat(numbers(choice.forRead(map(1), SHARD, new ReadMode.Session(4), 0))).startsWith(3);
    assertThat(
            numbers(
                new ReplicaChoice(id(3), leaders, true).forRead(map(1), SHARD, ReadMode.STRONG, 0)))
        .startsWith(3);
  }

  @Test
  void whatCallsTaughtHoldsUntilItProvesWrong() {
    LeaderCache leaders = new LeaderCache(Leaders.UNKNOWN);
    leaders.learn(SHARD.id(), id(2));
    assertThat(leaders.leaderOf(SHARD.id())).contains(id(2));
    leaders.forget(SHARD.id(), id(3));
    assertThat(leaders.leaderOf(SHARD.id())).contains(id(2));
    leaders.forget(SHARD.id(), id(2));
    assertThat(leaders.leaderOf(SHARD.id())).isEmpty();
  }

  @Test
  void theNodesOwnReplicaKnowsBetterThanEarlierCalls() {
    AtomicReference<Optional<NodeId>> hint = new AtomicReference<>(Optional.empty());
    LeaderCache leaders = new LeaderCache(shard -> hint.get());
    leaders.learn(SHARD.id(), id(2));
    assertThat(leaders.leaderOf(SHARD.id())).contains(id(2));
    // It has elected another: the one that calls were sent to may be paused and will never say so.
    hint.set(Optional.of(id(1)));
    assertThat(leaders.leaderOf(SHARD.id())).contains(id(1));
  }

  @Test
  void aNodeWithoutAReplicaTakesThemInTurns() {
    ReplicaChoice choice = new ReplicaChoice(id(7), new LeaderCache(Leaders.UNKNOWN), false);
    Set<Integer> first = new HashSet<>();
    for (int turn = -3; turn < 3; turn++) {
      List<Integer> order = numbers(choice.forRead(map(1), SHARD, ReadMode.ANY, turn));
      assertThat(order).containsExactlyInAnyOrder(1, 2, 3);
      first.add(order.getFirst());
    }
    assertThat(first).containsExactlyInAnyOrder(1, 2, 3);
  }

  @Test
  void aMapWithAHoleOrAnOverlapIsNotRoutedBy() {
    assertThatThrownBy(() -> new SlotTable(collection(new SlotRange(0, 4_000))))
        .hasMessageContaining("slot 4000");
    assertThatThrownBy(
            () -> new SlotTable(collection(new SlotRange(0, 2_000), new SlotRange(1_999, 4_096))))
        .hasMessageContaining("slot 1999");
  }

  private static ShardMap.Collection collection(SlotRange... slots) {
    List<ShardMap.Shard> shards = new ArrayList<>();
    for (int i = 0; i < slots.length; i++) {
      shards.add(new ShardMap.Shard(new ShardId(new UUID(0, i)), i, slots[i], 1, NODES));
    }
    return new ShardMap.Collection(null, "c", null, shards, 0, 0);
  }

  /** A metadata group whose answers a test lets out one by one. */
  private static final class Maps implements ShardMaps {
    private final List<CompletableFuture<ShardMap>> asked = new ArrayList<>();

    @Override
    public ShardMap current() {
      return ShardMap.EMPTY;
    }

    @Override
    public synchronized CompletableFuture<ShardMap> refresh(long minEpoch) {
      CompletableFuture<ShardMap> answer = new CompletableFuture<>();
      asked.add(answer);
      notifyAll();
      return answer;
    }

    private synchronized CompletableFuture<ShardMap> await(int number) throws InterruptedException {
      while (asked.size() <= number) {
        wait();
      }
      return asked.get(number);
    }

    private synchronized int count() {
      return asked.size();
    }
  }

  @Test
  void refreshesAreSharedButNeverAnsweredFromBeforeTheyWereAsked() throws Exception {
    Maps maps = new Maps();
    MapCache cache = new MapCache(maps);
    try (ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor()) {
      var first = workers.submit(() -> cache.refresh(0, call()).epoch());
      CompletableFuture<ShardMap> one = maps.await(0);
      // Both ask while the first is under way: they share a second one that begins after it.
      var second = workers.submit(() -> cache.refresh(0, call()).epoch());
      var third = workers.submit(() -> cache.refresh(0, call()).epoch());
      one.complete(map(1));
      assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo(1);
      CompletableFuture<ShardMap> two = maps.await(1);
      two.complete(map(2));
      for (int i = 2; !(second.isDone() && third.isDone()); i++) {
        // One of them may have asked only after the second had begun.
        if (maps.count() > i) {
          maps.await(i).complete(map(i + 1));
        } else {
          i--;
          Thread.onSpinWait();
        }
      }
      assertThat(second.get()).isGreaterThanOrEqualTo(2);
      assertThat(third.get()).isGreaterThanOrEqualTo(2);
    }
  }

  @Test
  void aFailedRefreshFailsThoseWhoWaitAndNotTheNext() throws Exception {
    Maps maps = new Maps();
    MapCache cache = new MapCache(maps);
    try (ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor()) {
      var first = workers.submit(() -> cache.refresh(0, call()));
      maps.await(0).completeExceptionally(SagittaException.unavailable("electing", 1));
      assertThatThrownBy(() -> first.get(20, TimeUnit.SECONDS)).hasMessageContaining("electing");
      var second = workers.submit(() -> cache.refresh(0, call()).epoch());
      maps.await(1).complete(map(5));
      assertThat(second.get(20, TimeUnit.SECONDS)).isEqualTo(5);
    }
  }

  private static ActiveCall call() {
    return new ActiveCall("t", System.nanoTime() + TimeUnit.SECONDS.toNanos(20), System::nanoTime);
  }
}
