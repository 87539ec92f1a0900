// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.raft.NotLeader;
import io.sagitta.raft.Overloaded;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

@Seeded
class AppliedWaitersTest {
  private final AppliedWaiters waiters = new AppliedWaiters(-1, 1000, Runnable::run);

  @Test
  void eachWaiterIsReleasedAtItsIndexAndNotBefore(Seed seed) {
    var random = seed.random();
    List<Long> indexes = new ArrayList<>();
    List<CompletableFuture<Long>> futures = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      indexes.add(random.nextLong(200));
      futures.add(waiters.await(indexes.getLast(), Duration.ofMinutes(1)));
    }
    for (long applied = 0; applied < 200; applied++) {
      waiters.advance(applied);
      for (int i = 0; i < 500; i++) {
        assertThat(futures.get(i).isDone()).isEqualTo(indexes.get(i) <= applied);
      }
    }
    assertThat(waiters.size()).isZero();
  }

  @Test
  void whatIsAppliedAlreadyNeedsNoWaiting() {
    waiters.advance(7);
    assertThat(waiters.await(7, Duration.ofMinutes(1))).isCompletedWithValue(7L);
    assertThat(waiters.size()).isZero();
  }

  @Test
  void tooManyWaitersAreRefused() {
    for (int i = 0; i < 1000; i++) {
      var _ = waiters.await(5, Duration.ofMinutes(1));
    }
    assertThat(waiters.await(5, Duration.ofMinutes(1)).exceptionNow())
        .isInstanceOf(Overloaded.class);
    waiters.advance(5);
    assertThat(waiters.await(6, Duration.ofMinutes(1))).isNotDone();
  }

  @Test
  void aWaiterThatTimedOutGivesItsPlaceBack() {
    CompletableFuture<Long> waiter = waiters.await(5, Duration.ofMillis(1));
    TestCluster.await("the timeout", waiter::isCompletedExceptionally);
    TestCluster.await("its place", () -> waiters.size() == 0);
    assertThat(waiter.exceptionNow()).isInstanceOf(TimeoutException.class);
  }

  @Test
  void aFailureReachesEveryone() {
    CompletableFuture<Long> waiter = waiters.await(5, Duration.ofMinutes(1));
    waiters.failAll(new NotLeader("stopped"));
    assertThat(waiter.exceptionNow()).isInstanceOf(NotLeader.class);
    assertThat(waiters.size()).isZero();
  }
}
