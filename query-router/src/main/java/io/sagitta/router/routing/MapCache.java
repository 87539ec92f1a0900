// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.routing;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.router.ShardMaps;
import io.sagitta.router.fanout.ActiveCall;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The shard map and its refresh. At most one refresh runs and one waits: who asks meanwhile joins
 * the one that waits, since the answer of the running one may be from before they asked.
 */
public final class MapCache {
  private static final long FRESH_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ShardMaps maps;

  /** Guards the two below. */
  private final Object lock = new Object();

  private boolean running;
  private CompletableFuture<ShardMap> waiting;

  public MapCache(ShardMaps maps) {
    this.maps = maps;
  }

  public ShardMap current() {
    return maps.current();
  }

  /**
   * The named collection. One that this node does not know is looked for in the metadata group's
   * present state before it is NOT_FOUND, since it may have been created through another node a
   * moment ago.
   */
  public ShardMap.Collection require(String name, ActiveCall call) throws InterruptedException {
    Names.checkCollection("collection", name);
    ShardMap.Collection known = current().collections().get(name);
    return known != null ? known : refresh(0, call).requireCollection(name);
  }

  /**
   * The named collection as the metadata group has it now, or as this node knows it where the group
   * does not answer in a moment. For what cannot be done a second time when the collection turns
   * out to be another one.
   */
  public ShardMap.Collection requireFresh(String name, ActiveCall call)
      throws InterruptedException {
    Names.checkCollection("collection", name);
    try {
      refresh(0, call.atMost(FRESH_WAIT_NANOS));
    } catch (SagittaException e) {
      return require(name, call);
    }
    return current().requireCollection(name);
  }

  /** What is done with a collection. */
  public interface Use<T> {
    T of(ShardMap.Collection collection) throws InterruptedException;
  }

  /**
   * Does something with the named collection, which must be repeatable. If it is refused in a way
   * that an old map may be the reason of, and the metadata group has another collection of that
   * name or another schema by now, it is done once more with that.
   */
  public <T> T with(String name, ActiveCall call, Use<T> use) throws InterruptedException {
    ShardMap.Collection known = require(name, call);
    try {
      return use.of(known);
    } catch (SagittaException e) {
      if (e.code() != ErrorCode.NOT_FOUND && e.code() != ErrorCode.INVALID_ARGUMENT) {
        throw e;
      }
      ShardMap.Collection now = newer(known, call);
      if (now == null) {
        throw e;
      }
      return use.of(now);
    }
  }

  /** Another state of the named collection; null where there is none or nobody knows. */
  private ShardMap.Collection newer(ShardMap.Collection known, ActiveCall call)
      throws InterruptedException {
    try {
      ShardMap.Collection now =
          refresh(0, call.atMost(FRESH_WAIT_NANOS)).collections().get(known.name());
      return known.equals(now) ? null : now;
    } catch (SagittaException e) {
      return null;
    }
  }

  /** The collection of the same incarnation in a map. */
  public static Optional<ShardMap.Collection> sameIncarnation(
      ShardMap map, ShardMap.Collection collection) {
    return Optional.ofNullable(map.collections().get(collection.name()))
        .filter(found -> found.id().equals(collection.id()));
  }

  /** A refresh by the call's deadline; fails with UNAVAILABLE or DEADLINE_EXCEEDED. */
  public ShardMap refresh(long minEpoch, ActiveCall call) throws InterruptedException {
    if (minEpoch > 0 && current().epoch() >= minEpoch) {
      return current();
    }
    try {
      return call.start(context -> shared(), late -> {}).await();
    } catch (TimeoutException e) {
      throw call.ended("refreshing the shard map", e);
    } catch (SagittaException | InterruptedException e) {
      throw e;
    } catch (Exception e) {
      throw new SagittaException(ErrorCode.UNAVAILABLE, "the shard map cannot be refreshed", e);
    }
  }

  /** A refresh that has not begun yet, so that its answer is from after this call. */
  private CompletableFuture<ShardMap> shared() {
    CompletableFuture<ShardMap> joined;
    boolean begin;
    synchronized (lock) {
      if (waiting == null) {
        waiting = new CompletableFuture<>();
      }
      joined = waiting;
      begin = !running;
      running = true;
    }
    if (begin) {
      begin();
    }
    return joined;
  }

  private void begin() {
    CompletableFuture<ShardMap> mine;
    synchronized (lock) {
      mine = waiting;
      waiting = null;
    }
    CompletableFuture<ShardMap> refresh;
    try {
      refresh = maps.refresh(0);
    } catch (RuntimeException e) {
      refresh = CompletableFuture.failedFuture(e);
    }
    CompletableFuture<?> unused =
        refresh.whenComplete(
            (map, failure) -> {
              if (failure == null) {
                mine.complete(map);
              } else {
                mine.completeExceptionally(failure);
              }
              end();
            });
  }

  private void end() {
    boolean again;
    synchronized (lock) {
      again = waiting != null;
      running = again;
    }
    if (again) {
      begin();
    }
  }
}
