// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import io.sagitta.model.SagittaException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * A cluster of two shards in memory that can be struck: writes in its queue then get an unknown
 * outcome, whether or not they take effect. It keeps every promise but the one it was told to
 * break.
 */
final class MemoryStore implements PointStore, FaultRounds.Fault {
  /** Promises to break when it is struck. */
  enum Plant {
    NOTHING,
    LOSE_AN_ACKNOWLEDGED_WRITE,
    UNDO_A_DELETE,
    APPLY_HALF,
    APPLY_TWICE,
    MIX_CONTENT,
    MISCOUNT,
    LET_A_REPLICA_DIFFER
  }

  private record Queued(Write write, OptionalLong version, CompletableFuture<Outcome> outcome) {}

  private final Plant plant;
  private final SplittableRandom random;
  private final Map<Long, StoredPoint> points = new TreeMap<>();
  private final Map<Long, StoredPoint> deleted = new HashMap<>();
  private final Deque<Queued> queue = new ArrayDeque<>();
  private final long[] index = {1, 1};

  /** Writes that stay in the queue until the next strike. */
  private int heldBack;

  private boolean down;
  private boolean planted;
  private boolean closed;

  MemoryStore(Plant plant, SplittableRandom random) {
    this.plant = plant;
    this.random = random;
    Thread.ofPlatform().daemon().start(this::applyAll);
  }

  private void applyAll() {
    while (true) {
      Queued next;
      Outcome outcome;
      synchronized (this) {
        while (!closed && (down || queue.size() <= heldBack)) {
          try {
            wait();
          } catch (InterruptedException e) {
            return;
          }
        }
        if (closed) {
          return;
        }
        next = queue.poll();
        outcome = apply(next, Set.of(0, 1));
      }
      // By this thread: a write without an outcome is then one that the fault can strike.
      next.outcome().complete(outcome);
    }
  }

  /** However the machine is loaded, there is something to strike. */
  @Override
  public synchronized void prepare(int round) {
    heldBack = FaultRounds.UNDER_WAY_MIN;
  }

  private Outcome apply(Queued queued, Set<Integer> shards) {
    Map<Integer, Long> indexes = new HashMap<>();
    Set<Long> rejected = new HashSet<>();
    for (int shard : shards) {
      long at = ++index[shard];
      indexes.put(shard, at);
      for (Write.Point point : queued.write().points()) {
        if (shardOf(point.id()) == shard && !applyPoint(queued, point, at)) {
          rejected.add(point.id());
        }
      }
    }
    return new Outcome.Acknowledged(indexes, rejected);
  }

  private boolean applyPoint(Queued queued, Write.Point point, long at) {
    StoredPoint before = points.get(point.id());
    if (queued.version().isPresent()
        && queued.version().getAsLong() != (before == null ? 0 : before.version())) {
      return false;
    }
    if (queued.write().kind() == Write.Kind.DELETE) {
      deleted.put(point.id(), points.remove(point.id()));
    } else {
      points.put(point.id(), new StoredPoint(point.id(), point.edition(), 5_000 + at, ""));
    }
    return true;
  }

  @Override
  public synchronized String strike() {
    down = true;
    heldBack = 0;
    for (Queued queued : queue) {
      // Each shard's part took effect or did not.
      Set<Integer> took = new HashSet<>();
      for (int shard = 0; shard < 2; shard++) {
        if (random.nextBoolean()) {
          took.add(shard);
        }
      }
      if (plant == Plant.APPLY_HALF && !planted && spared(queued).size() > 1) {
        applyHalf(queued);
      } else {
        apply(queued, took);
      }
      queued.outcome().completeAsync(() -> new Outcome.Unknown("struck"));
    }
    plantFault();
    queue.clear();
    return "everything";
  }

  private void plantFault() {
    if (planted || points.size() < 20) {
      return;
    }
    // A point that no write under way or to come concerns.
    Set<Long> busy = new HashSet<>();
    queue.forEach(queued -> queued.write().points().forEach(point -> busy.add(point.id())));
    List<Long> quiet =
        points.keySet().stream()
            .filter(id -> !busy.contains(id))
            .filter(Workload::isSpared)
            .toList();
    if (quiet.isEmpty()) {
      return;
    }
    StoredPoint victim = points.get(quiet.get(random.nextInt(quiet.size())));
    switch (plant) {
      case NOTHING, MISCOUNT, LET_A_REPLICA_DIFFER -> planted = true;
      case APPLY_HALF -> {} // as writes take effect
      case LOSE_AN_ACKNOWLEDGED_WRITE -> {
        points.remove(victim.id());
        planted = true;
      }
      case UNDO_A_DELETE ->
          deleted.values().stream()
              .filter(point -> point != null && !points.containsKey(point.id()))
              .filter(point -> !busy.contains(point.id()) && Workload.isSpared(point.id()))
              .findFirst()
              .ifPresent(
                  point -> {
                    points.put(point.id(), point);
                    planted = true;
                  });
      case APPLY_TWICE -> {
        points.put(
            victim.id(),
            new StoredPoint(victim.id(), victim.edition(), victim.version() + 10_000, ""));
        planted = true;
      }
      case MIX_CONTENT -> {
        points.put(
            victim.id(),
            new StoredPoint(victim.id(), victim.edition(), victim.version(), "its vector"));
        planted = true;
      }
    }
  }

  /** Shard 0 takes all of the write but one point. */
  private void applyHalf(Queued queued) {
    long left = spared(queued).getFirst().id();
    StoredPoint before = points.get(left);
    apply(queued, Set.of(0));
    points.remove(left);
    if (before != null) {
      points.put(left, before);
    }
    planted = true;
  }

  /** Points of an upsert in shard 0 that nobody writes again before the check. */
  private List<Write.Point> spared(Queued queued) {
    return queued.write().kind() != Write.Kind.UPSERT
        ? List.of()
        : queued.write().points().stream()
            .filter(point -> shardOf(point.id()) == 0 && Workload.isSpared(point.id()))
            .toList();
  }

  boolean isPlanted() {
    return planted;
  }

  @Override
  public synchronized void recover() {
    down = false;
    notifyAll();
  }

  @Override
  public Lane lane(int writer, Duration deadline) {
    return new Lane() {
      @Override
      public CompletableFuture<Outcome> send(Write write, OptionalLong version) {
        CompletableFuture<Outcome> outcome = new CompletableFuture<>();
        synchronized (MemoryStore.this) {
          if (down) {
            outcome.completeAsync(() -> new Outcome.Refused("down"));
          } else {
            queue.add(new Queued(write, version, outcome));
            MemoryStore.this.notifyAll();
          }
        }
        return outcome;
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void create(int shards, int replicas) {}

  @Override
  public int shards() {
    return 2;
  }

  @Override
  public int shardOf(long id) {
    return (int) (id % 2);
  }

  @Override
  public synchronized Map<Long, StoredPoint> scan() {
    return new TreeMap<>(points);
  }

  @Override
  public synchronized List<StoredPoint> get(List<Long> ids) {
    if (down) {
      throw SagittaException.unavailable("down", 10);
    }
    List<StoredPoint> found = new ArrayList<>();
    for (long id : ids) {
      if (points.containsKey(id)) {
        found.add(points.get(id));
      }
    }
    return found;
  }

  @Override
  public synchronized long count() {
    return plant == Plant.MISCOUNT && planted ? points.size() + 1L : points.size();
  }

  @Override
  public synchronized OptionalLong nearest(float[] vector) {
    for (StoredPoint point : points.values()) {
      float[] own = new Described(point.id(), point.edition(), 0).vector();
      if (java.util.Arrays.equals(own, vector)) {
        return OptionalLong.of(point.id());
      }
    }
    return OptionalLong.empty();
  }

  @Override
  public Optional<String> leader(int shard) {
    return Optional.of("n1");
  }

  @Override
  public Agreement compareReplicas() {
    return plant == Plant.LET_A_REPLICA_DIFFER && planted
        ? new Agreement(List.of("shard 0: n1 ab, n2 cd"), List.of())
        : new Agreement(List.of(), List.of());
  }

  @Override
  public synchronized void close() {
    closed = true;
    notifyAll();
  }
}
