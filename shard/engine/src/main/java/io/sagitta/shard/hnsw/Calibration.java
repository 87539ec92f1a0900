// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import java.util.List;
import java.util.Optional;

/**
 * What recall an index gave for what effort, as {@link Calibrator} measured it. Searches ask it for
 * the least effort that gives the recall they want; where none does, they must scan.
 *
 * @param rows rows that were in the index when it was measured
 * @param queries queries measured
 * @param steps by k, within one k by growing ef
 * @param far what is measured in {@code steps} holds for queries whose nearest row is estimated to
 *     be no farther than this; infinite where it holds for all
 * @param farSteps the same for queries that are farther from every row than rows are from each
 *     other, as those are that are not like the rows: they take more effort. Empty where there is
 *     no telling
 */
public record Calibration(int rows, int queries, List<Step> steps, float far, List<Step> farSteps) {
  /** Values of k that are measured; others take the next larger one. */
  static final int[] MEASURED_K = {1, 10, 100};

  /** Recall on so few queries is known to about this much. */
  private static final double MARGIN = 0.005;

  /**
   * More ef for each doubling of the rows since the measurement. On word vectors 0.15 let the
   * recall of a growing segment fall by 0.02 between two measurements.
   */
  private static final double GROWTH = 0.45;

  /** A step over which the misses fall to less than a third is not smooth. */
  private static final double CLIFF = Math.log(3);

  /** Copies the steps. */
  public Calibration {
    steps = List.copyOf(steps);
    farSteps = List.copyOf(farSteps);
  }

  /** Of which all queries are one kind. */
  public Calibration(int rows, int queries, List<Step> steps) {
    this(rows, queries, steps, Float.POSITIVE_INFINITY, List.of());
  }

  /**
   * One measurement.
   *
   * @param k hits asked for
   * @param effort how hard the searches tried
   * @param recall mean share of the true k nearest that were found, ties counted as found
   * @param visited mean rows scored by their codes
   */
  public record Step(int k, Effort effort, double recall, double visited) {}

  /**
   * A choice for a search.
   *
   * @param effort how hard to try
   * @param recall what that gave when it was measured
   * @param visited rows it is expected to score
   * @param far where the nearest row is estimated to be farther than this, the query is not like
   *     the rows, and is searched for once more with {@code farEffort}
   */
  public record Choice(
      Effort effort, double recall, double visited, float far, Optional<Effort> farEffort) {
    /** The same for all queries. */
    public Choice(Effort effort, double recall, double visited) {
      this(effort, recall, visited, Float.POSITIVE_INFINITY, Optional.empty());
    }
  }

  /**
   * The least effort that gives a recall.
   *
   * @param k hits wanted
   * @param recall mean recall wanted, in (0, 1]
   * @param rowsNow rows in the index by now
   * @return empty where no effort that was measured gives it: only a scan does
   */
  public Optional<Choice> choose(int k, double recall, int rowsNow) {
    if (recall >= 1) {
      return Optional.empty();
    }
    Optional<Choice> near = choose(steps, k, recall, rowsNow);
    if (near.isEmpty() || farSteps.isEmpty()) {
      return near;
    }
    Choice choice = near.get();
    return choose(farSteps, k, recall, rowsNow)
        .or(() -> most(farSteps, k))
        .map(Choice::effort)
        .filter(effort -> effort.ef() > choice.effort.ef())
        .map(
            effort ->
                new Choice(choice.effort, choice.recall, choice.visited, far, Optional.of(effort)))
        .or(() -> near);
  }

  private Optional<Choice> choose(List<Step> steps, int k, double recall, int rowsNow) {
    int measured = measuredK(k);
    double wanted = recall + Math.min(MARGIN, (1 - recall) / 2);
    Step before = null;
    for (Step step : steps) {
      if (step.k != measured) {
        continue;
      }
      if (step.recall >= wanted) {
        return Optional.of(between(before, step, wanted, k, growth(rowsNow)));
      }
      before = step;
    }
    return Optional.empty();
  }

  /** The most that was measured; empty where nothing was. */
  public Optional<Choice> most(int k) {
    return most(steps, k);
  }

  private static Optional<Choice> most(List<Step> steps, int k) {
    Step most = null;
    for (Step step : steps) {
      most = step.k == measuredK(k) ? step : most;
    }
    return Optional.ofNullable(most).map(step -> between(null, step, step.recall, k, 1));
  }

  /**
   * The choice for an ef that the caller named; its recall is that of the next smaller step. Empty
   * where nothing was measured.
   */
  public Optional<Choice> withEf(int k, int ef) {
    int measured = measuredK(k);
    Step nearest = null;
    for (Step step : steps) {
      if (step.k == measured && (nearest == null || step.effort.ef() <= ef)) {
        nearest = step;
      }
    }
    if (nearest == null) {
      return Optional.empty();
    }
    double scale = (double) ef / nearest.effort.ef();
    int rerank = Math.max(k, (int) Math.min(ef, Math.ceil(nearest.effort.rerank() * scale)));
    return Optional.of(
        new Choice(
            new Effort(Math.max(ef, k), rerank, nearest.effort.traversal()),
            nearest.effort.ef() <= ef ? nearest.recall : 0,
            nearest.visited * Math.max(1, scale)));
  }

  private double growth(int rowsNow) {
    double doublings = Math.log((double) Math.max(rowsNow, rows) / Math.max(1, rows)) / Math.log(2);
    return 1 + GROWTH * doublings;
  }

  /**
   * Geometric between two neighbouring steps, in the logarithm of what is missed; the higher one
   * where that falls as a cliff does: an effort that just holds a cluster finds the next one, and
   * nothing says where between the two steps that begins.
   */
  private static Choice between(Step low, Step high, double wanted, int k, double growth) {
    double share = 1;
    if (low != null && high.recall > low.recall) {
      double lowMiss = Math.log(Math.max(1e-4, 1 - low.recall));
      double highMiss = Math.log(Math.max(1e-4, 1 - high.recall));
      boolean isCliff = lowMiss - highMiss > CLIFF;
      double wantedMiss = Math.log(Math.max(1e-4, 1 - wanted));
      share = isCliff ? 1 : Math.clamp((wantedMiss - lowMiss) / (highMiss - lowMiss), 0, 1);
    }
    // k above the largest measured one is searched as that many times the largest one's effort.
    double scale = growth * Math.max(1, (double) k / high.k);
    double ef = mix(low == null ? high.effort.ef() : low.effort.ef(), high.effort.ef(), share);
    double visited = mix(low == null ? high.visited : low.visited, high.visited, share);
    int rerank = (int) Math.ceil(high.effort.rerank() * Math.max(1, (double) k / high.k));
    int efNow = (int) Math.ceil(ef * scale);
    return new Choice(
        new Effort(
            Math.max(efNow, k), Math.max(k, Math.min(rerank, efNow)), high.effort.traversal()),
        Math.min(high.recall, wanted),
        visited * scale);
  }

  private static double mix(double low, double high, double share) {
    return low <= 0 ? high : low * Math.pow(high / low, share);
  }

  private static int measuredK(int k) {
    for (int measured : MEASURED_K) {
      if (k <= measured) {
        return measured;
      }
    }
    return MEASURED_K[MEASURED_K.length - 1];
  }
}
