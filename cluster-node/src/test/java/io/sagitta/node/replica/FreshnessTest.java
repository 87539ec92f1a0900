// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.ReadMode;
import io.sagitta.model.ShardId;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.VoterTerm;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Which reads ask for a barrier, and what a barrier says of later reads. */
class FreshnessTest {
  private static final ShardId SHARD = new ShardId(new UUID(1, 2));
  private static final Duration SOON = Duration.ofSeconds(5);

  private final List<Optional<?>> barriers = new ArrayList<>();
  private long applied = 7;
  private long now;
  private final Freshness freshness = new Freshness(host(), () -> now);

  private RaftHost host() {
    return (RaftHost)
        Proxy.newProxyInstance(
            RaftHost.class.getClassLoader(),
            new Class<?>[] {RaftHost.class},
            (proxy, method, arguments) -> {
              assertThat(arguments[0]).isEqualTo(new GroupId(SHARD.value()));
              if (method.getName().equals("awaitApplied")) {
                return (long) arguments[1] <= applied
                    ? CompletableFuture.completedFuture(applied)
                    : new CompletableFuture<Long>();
              }
              assertThat(method.getName()).isEqualTo("readBarrier");
              barriers.add((Optional<?>) arguments[1]);
              return CompletableFuture.completedFuture(7L);
            });
  }

  private void read(ReadMode mode, Optional<VoterTerm> told) {
    assertThat(freshness.await(SHARD, mode, told, SOON)).isCompleted();
  }

  @Test
  void aBoundedReadLeansOnABarrierOfThisNodeWhileThatIsRecent() {
    read(ReadMode.STRONG, Optional.empty());
    now += TimeUnit.MILLISECONDS.toNanos(10);
    read(new ReadMode.Bounded(10), Optional.empty());
    assertThat(barriers).hasSize(1);
    now += 1;
    read(new ReadMode.Bounded(10), Optional.empty());
    assertThat(barriers).hasSize(2);
  }

  /** The term may have been read long before it came here. */
  @Test
  void aBoundedReadDoesNotLeanOnABarrierThatATermFromElsewhereConfirmed() {
    read(ReadMode.STRONG, Optional.of(new VoterTerm("b", 3)));
    read(new ReadMode.Bounded(1_000), Optional.empty());
    assertThat(barriers).hasSize(2);
  }

  @Test
  void aBoundedReadOfAReplicaThatWasOpenedAgainWaitsForWhatTheBarrierConfirmed() {
    read(ReadMode.STRONG, Optional.empty());
    applied = 3; // its checkpoint; the rest is being replayed
    assertThat(freshness.await(SHARD, new ReadMode.Bounded(1_000), Optional.empty(), SOON))
        .isNotDone();
    assertThat(barriers).hasSize(1);
  }
}
