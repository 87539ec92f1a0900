// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.fanout;

import io.sagitta.flight.internal.NotLeaderException;
import io.sagitta.flight.internal.ShardDoor.ShardAnswer;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.model.ShardRead;
import io.sagitta.router.Doors;
import io.sagitta.router.RouterOptions;
import io.sagitta.router.routing.LeaderCache;
import io.sagitta.router.routing.MapCache;
import io.sagitta.router.routing.ReplicaChoice;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * Reads one shard from whichever replica answers. A replica that refuses, cannot be reached or lags
 * behind what is asked is passed over for the next; when all have refused, the shard map is
 * refreshed and they are asked again after a pause, for as long as an election may take. A read
 * that any replica may serve is also asked of a second one when the first is late, and any read of
 * another when whoever was asked proves to be gone. What would be refused everywhere ends the read
 * at once.
 */
public final class ShardReader {
  private final RouterOptions options;
  private final MapCache maps;
  private final LeaderCache leaders;
  private final ReplicaChoice choice;
  private final Doors doors;
  private final Vigil vigil;
  private final AtomicInteger turns = new AtomicInteger();

  public ShardReader(
      RouterOptions options,
      MapCache maps,
      LeaderCache leaders,
      ReplicaChoice choice,
      Doors doors) {
    this.options = options;
    this.maps = maps;
    this.leaders = leaders;
    this.choice = choice;
    this.doors = doors;
    this.vigil = new Vigil(doors, options.silence());
  }

  /**
   * Reads, waiting as long as the call does. The caller closes the answer.
   *
   * @param collection as the read was planned
   * @throws SagittaException what the shard refused with; NOT_FOUND when the collection was dropped
   *     meanwhile; UNAVAILABLE or DEADLINE_EXCEEDED when no replica answered
   */
  public ShardAnswer read(
      ShardMap.Collection collection, ShardMap.Shard shard, ShardRead read, ActiveCall call)
      throws InterruptedException {
    long givenUpBelow = call.remainingNanos() - options.readRetry().toNanos();
    long pause = options.retryPause().toNanos();
    ShardMap.Shard asked = shard;
    while (true) {
      Exception failure = null;
      int damaged = 0;
      List<ShardMap.Node> replicas =
          choice.forRead(maps.current(), asked, read.mode(), turns.getAndIncrement());
      for (int i = 0; i < replicas.size() && !call.isOver(); i++) {
        Optional<ShardMap.Node> second =
            choice.isSpread(read.mode()) && i + 1 < replicas.size()
                ? Optional.of(replicas.get(i + 1))
                : Optional.empty();
        try {
          return ask(asked, read, replicas.get(i), second, call);
        } catch (InterruptedException e) {
          throw e;
        } catch (Exception e) {
          failure = passedOver(asked, replicas.get(i), e, call);
          damaged += isDamage(failure) ? 1 : 0;
        }
      }
      if (damaged > 0 && damaged == replicas.size()) {
        // All there are; waiting does not mend a disk.
        throw (SagittaException) failure;
      }
      if (call.isOver()) {
        throw call.ended(what(collection, asked), failure);
      }
      if (call.remainingNanos() < givenUpBelow) {
        throw unavailable(collection, asked, failure);
      }
      call.pause(pause);
      pause = Math.min(2 * pause, options.retryPauseMax().toNanos());
      asked = reloaded(collection, asked, call);
    }
  }

  /** Asks one replica, and when it is late a second one too; the first answer counts. */
  private ShardAnswer ask(
      ShardMap.Shard shard,
      ShardRead read,
      ShardMap.Node first,
      Optional<ShardMap.Node> second,
      ActiveCall call)
      throws Exception {
    BooleanSupplier superseded =
        choice.isSpread(read.mode()) ? () -> false : leaders.succession(shard.id(), first.id());
    Attempt<ShardAnswer> near = start(read, first, call);
    if (second.isEmpty()) {
      return await(shard, near, first, superseded, call);
    }
    if (near.isDoneWithin(options.hedgeAfter().toNanos())) {
      return near.await();
    }
    Attempt<ShardAnswer> far = start(read, second.get(), call);
    CompletableFuture<?> either = CompletableFuture.anyOf(near.done(), far.done());
    if (!vigil.keep(either, List.of(first, second.get()), superseded, call)) {
      near.abandon();
      far.abandon();
      throw silent(shard, first);
    }
    boolean farFirst = far.done().isDone() && !near.done().isDone();
    Attempt<ShardAnswer> winner = farFirst ? far : near;
    Attempt<ShardAnswer> other = farFirst ? near : far;
    try {
      ShardAnswer answer = winner.await();
      other.abandon();
      return answer;
    } catch (InterruptedException | TimeoutException e) {
      other.abandon();
      throw e;
    } catch (Exception e) {
      return await(shard, other, farFirst ? first : second.get(), superseded, call);
    }
  }

  private ShardAnswer await(
      ShardMap.Shard shard,
      Attempt<ShardAnswer> attempt,
      ShardMap.Node node,
      BooleanSupplier superseded,
      ActiveCall call)
      throws Exception {
    if (!vigil.keep(attempt.done(), List.of(node), superseded, call)) {
      attempt.abandon();
      throw silent(shard, node);
    }
    return attempt.await();
  }

  private SagittaException silent(ShardMap.Shard shard, ShardMap.Node node) {
    leaders.forget(shard.id(), node.id());
    return SagittaException.unavailable(node.name() + " does not answer", 0);
  }

  private Attempt<ShardAnswer> start(ShardRead read, ShardMap.Node node, ActiveCall call) {
    return call.start(context -> doors.door(node).read(read, context), ShardAnswer::close);
  }

  /** The failure as it counts against a replica; what every replica would say is thrown. */
  private Exception passedOver(
      ShardMap.Shard shard, ShardMap.Node node, Exception failure, ActiveCall call) {
    switch (failure) {
      case NotLeaderException notLeader -> {
        leaders.forget(shard.id(), node.id());
        notLeader.leader().ifPresent(leader -> leaders.learn(shard.id(), leader));
      }
      case SagittaException refusal -> {
        if (!isReplicasOwn(refusal.code())) {
          throw refusal;
        }
      }
      case TimeoutException late -> {
        leaders.forget(shard.id(), node.id());
        throw call.ended("shard " + shard.number(), late);
      }
      default -> {}
    }
    return failure;
  }

  /** Whether another replica may well answer. Damage is a replica's own, too. */
  private static boolean isReplicasOwn(ErrorCode code) {
    return switch (code) {
      case UNAVAILABLE, OUTCOME_UNKNOWN, DEADLINE_EXCEEDED, CORRUPT -> true;
      case INVALID_ARGUMENT,
          NOT_FOUND,
          ALREADY_EXISTS,
          CONFLICT,
          LIMIT,
          UNAUTHENTICATED,
          PERMISSION_DENIED,
          SESSION_EXPIRED,
          UNIMPLEMENTED,
          INTERNAL ->
          false;
    };
  }

  private static boolean isDamage(Exception failure) {
    return failure instanceof SagittaException refusal && refusal.code() == ErrorCode.CORRUPT;
  }

  private ShardMap.Shard reloaded(
      ShardMap.Collection collection, ShardMap.Shard shard, ActiveCall call)
      throws InterruptedException {
    ShardMap map;
    try {
      map = maps.refresh(0, call.atMost(options.retryPauseMax().toNanos()));
    } catch (SagittaException e) {
      // The metadata group may be electing too; the map at hand may still be right.
      map = maps.current();
    }
    return MapCache.sameIncarnation(map, collection)
        .orElseThrow(
            () ->
                SagittaException.notFound(
                    "collection " + Names.quote(collection.name()) + " was dropped"))
        .shards()
        .stream()
        .filter(found -> found.id().equals(shard.id()))
        .findFirst()
        .orElseThrow(
            () ->
                SagittaException.unavailable(
                    what(collection, shard) + " was split or moved; ask again", 0));
  }

  private static SagittaException unavailable(
      ShardMap.Collection collection, ShardMap.Shard shard, Exception failure) {
    if (failure instanceof SagittaException refusal && refusal.code() != ErrorCode.UNAVAILABLE) {
      return refusal;
    }
    String why = failure == null ? "it has no replica" : failure.getMessage();
    return new SagittaException(
        ErrorCode.UNAVAILABLE,
        what(collection, shard) + ": no replica answers: " + why,
        100,
        failure);
  }

  private static String what(ShardMap.Collection collection, ShardMap.Shard shard) {
    return "shard " + shard.number() + " of " + Names.quote(collection.name());
  }
}
