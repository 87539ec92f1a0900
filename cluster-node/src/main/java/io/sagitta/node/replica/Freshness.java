// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import io.sagitta.model.ReadMode;
import io.sagitta.model.ShardId;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.VoterTerm;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Makes a read wait until this replica is as fresh as was asked (docs/contract.md, section 4).
 *
 * <p>Bounded reads lean on the last read barrier: one that began at time t confirmed an index that
 * holds every write acknowledged before t. While t is recent enough, a read needs no word from
 * anyone but must find that index applied, which the barrier itself waited for. Time is this
 * process's own monotonic clock.
 */
final class Freshness {
  private final RaftHost host;
  private final LongSupplier nanoClock;
  private final Map<ShardId, Confirmed> confirmed = new ConcurrentHashMap<>();

  /** At that time a leader's commit index was this one, or less. */
  private record Confirmed(long atNanos, long index) {}

  Freshness(RaftHost host, LongSupplier nanoClock) {
    this.host = host;
    this.nanoClock = nanoClock;
  }

  /**
   * Completes when a view taken from then on is fresh enough.
   *
   * @param told another voter's term, read after the read had been asked for
   */
  CompletableFuture<Void> await(
      ShardId shard, ReadMode mode, Optional<VoterTerm> told, Duration timeout) {
    return switch (mode) {
      case ReadMode.Strong() -> barrier(shard, told, timeout);
      case ReadMode.Session(long minIndex) ->
          host.awaitApplied(new GroupId(shard.value()), minIndex, timeout).thenAccept(i -> {});
      case ReadMode.Bounded(long maxStalenessMs) -> {
        Confirmed last = confirmed.get(shard);
        boolean fresh =
            last != null
                && nanoClock.getAsLong() - last.atNanos
                    <= Duration.ofMillis(maxStalenessMs).toNanos();
        // A replica that was opened again since replays what it had applied.
        yield fresh
            ? host.awaitApplied(new GroupId(shard.value()), last.index, timeout).thenAccept(i -> {})
            : barrier(shard, told, timeout);
      }
      case ReadMode.Any() -> CompletableFuture.completedFuture(null);
    };
  }

  /** Forgets a shard that is gone. */
  void forget(ShardId shard) {
    confirmed.remove(shard);
  }

  private CompletableFuture<Void> barrier(
      ShardId shard, Optional<VoterTerm> told, Duration timeout) {
    long began = nanoClock.getAsLong();
    CompletableFuture<Long> barrier = host.readBarrier(new GroupId(shard.value()), told, timeout);
    return told.isPresent()
        // It holds what was acknowledged before that term was read, elsewhere and earlier.
        ? barrier.thenAccept(index -> {})
        : barrier.thenAccept(
            index ->
                confirmed.merge(
                    shard,
                    new Confirmed(began, index),
                    (a, b) -> b.atNanos - a.atNanos > 0 ? b : a));
  }
}
