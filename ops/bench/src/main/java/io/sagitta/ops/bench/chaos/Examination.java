// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * All that is looked at once writers have stopped: the ledger against a scan, then whether get,
 * count and search say the same as the scan, then whether the replicas hold the same.
 */
public final class Examination {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int SAMPLE = 200;
  private static final int SEARCHES = 10;

  private final PointStore store;
  private final LedgerCheck check;
  private final Duration rest;
  private final SplittableRandom random;

  /**
   * An examination.
   *
   * @param rest how long nothing must have changed; longer than a node pauses between two tries of
   *     a write whose client has gone
   */
  public Examination(PointStore store, LedgerCheck check, Duration rest, SplittableRandom random) {
    this.rest = rest;
    this.store = store;
    this.check = check;
    this.random = random;
  }

  /** Looks at everything. */
  public LedgerCheck.Result examine() throws InterruptedException {
    Map<Long, StoredPoint> stored = atRest();
    LedgerCheck.Result result = check.check(stored);
    List<Violation> violations = new ArrayList<>(result.violations());
    compareCount(stored, violations);
    compareGet(stored, violations);
    compareSearch(stored, violations);
    compareReplicas(violations);
    return new LedgerCheck.Result(
        violations,
        result.tookEffect(),
        result.tookNone(),
        result.inSomeShards(),
        result.checked());
  }

  /**
   * Everything that is stored, once nothing changes any more: a write whose client gave up may take
   * effect a moment later, which is what an unknown outcome means.
   */
  private Map<Long, StoredPoint> atRest() throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    Map<Long, StoredPoint> before = patiently(store::scan);
    while (true) {
      Thread.sleep(rest);
      Map<Long, StoredPoint> now = patiently(store::scan);
      if (now.equals(before) || System.nanoTime() > deadline) {
        return now;
      }
      before = now;
    }
  }

  private void compareCount(Map<Long, StoredPoint> stored, List<Violation> violations)
      throws InterruptedException {
    long count = patiently(store::count);
    if (count != stored.size()) {
      violations.add(
          disagreement("count says " + count + ", a scan returned " + stored.size() + " points"));
    }
  }

  private void compareGet(Map<Long, StoredPoint> stored, List<Violation> violations)
      throws InterruptedException {
    List<Long> ids = sample(stored, SAMPLE);
    if (ids.isEmpty()) {
      return;
    }
    Map<Long, StoredPoint> got = new HashMap<>();
    patiently(() -> store.get(ids)).forEach(point -> got.put(point.id(), point));
    for (long id : ids) {
      if (!Objects.equals(got.get(id), stored.get(id))) {
        violations.add(
            disagreement("id " + id + ": get says " + got.get(id) + ", scan " + stored.get(id)));
      }
    }
  }

  /** A point's own vector must find it: no other has the same. */
  private void compareSearch(Map<Long, StoredPoint> stored, List<Violation> violations)
      throws InterruptedException {
    for (long id : sample(stored, SEARCHES)) {
      float[] vector = new Described(id, stored.get(id).edition(), 0).vector();
      OptionalLong nearest = patiently(() -> store.nearest(vector));
      if (nearest.isEmpty() || nearest.getAsLong() != id) {
        violations.add(disagreement("a search for the vector of id " + id + " found " + nearest));
      }
    }
  }

  private void compareReplicas(List<Violation> violations) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      PointStore.Agreement agreement = patiently(store::compareReplicas);
      if (!agreement.different().isEmpty()) {
        agreement
            .different()
            .forEach(words -> violations.add(new Violation(Violation.Kind.DIVERGED, words)));
        return;
      }
      if (agreement.open().isEmpty()) {
        return;
      }
      if (System.nanoTime() > deadline) {
        violations.add(
            new Violation(
                Violation.Kind.DIVERGED,
                "replicas cannot be compared though nobody writes: " + agreement.open()));
        return;
      }
      Thread.sleep(100);
    }
  }

  private List<Long> sample(Map<Long, StoredPoint> stored, int n) {
    List<Long> ids = new ArrayList<>(stored.keySet());
    List<Long> sample = new ArrayList<>();
    for (int i = 0; i < n && !ids.isEmpty(); i++) {
      int last = ids.size() - 1;
      int pick = random.nextInt(ids.size());
      sample.add(ids.get(pick));
      ids.set(pick, ids.get(last));
      ids.removeLast();
    }
    return sample;
  }

  /** After a fault there may be no leader for a moment; that is not what is examined. */
  private static <T> T patiently(Supplier<T> read) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        return read.get();
      } catch (SagittaException e) {
        boolean passing =
            e.code() == ErrorCode.UNAVAILABLE || e.code() == ErrorCode.DEADLINE_EXCEEDED;
        if (!passing || System.nanoTime() > deadline) {
          throw e;
        }
        Thread.sleep(50);
      }
    }
  }

  private static Violation disagreement(String words) {
    return new Violation(Violation.Kind.DISAGREEMENT, words);
  }
}
