// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import io.sagitta.ops.bench.engine.RecallCurve.Bracket;
import io.sagitta.ops.bench.engine.RecallCurve.Point;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One launch of one contender: finds, by untimed passes over all queries, the neighbouring efforts
 * around each recall wanted, and then times those, several passes each, one effort after the other.
 * The untimed passes warm the process up too.
 */
final class Sweep {
  /** Efforts that are tried, about a factor of the square root of two apart. */
  static final List<Integer> EFFORTS =
      List.of(10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448, 640, 896, 1280, 1792);

  /** What the timed passes of a launch take together, if more than one pass each is possible. */
  private static final double TIMED_SECONDS = 8;

  private static final int PASSES_MAX = 7;

  /** Passes that are never timed; a launch with fewer is not warm. */
  private static final int WARM_UP_PASSES_MIN = 4;

  /**
   * Searching before anything is timed. A pass of a fast search is over in a tenth of a second, and
   * a process bound to one core compiles meanwhile, on that core: after four such passes the
   * compiler was still at work in the timed ones.
   */
  private static final double WARM_UP_SECONDS = 4;

  private final Asker asker;
  private final int queries;
  private final List<Double> recalls;
  private final TreeMap<Integer, Point> seen = new TreeMap<>();

  /** What a launch of a contender showed. */
  record Launch(RecallCurve timed, double bestRecall) {
    /** The efforts that were timed: where the next launch may look first. */
    SortedSet<Integer> efforts() {
      SortedSet<Integer> efforts = new TreeSet<>();
      timed.points().forEach(point -> efforts.add(point.ef()));
      return efforts;
    }
  }

  /** Runs all queries once at an effort. */
  @FunctionalInterface
  interface Asker {
    /** The measurement of one pass. */
    Point pass(int ef) throws IOException;
  }

  Sweep(Asker asker, int queries, List<Double> recalls) {
    this.asker = asker;
    this.queries = queries;
    this.recalls = recalls;
  }

  /**
   * Runs the launch.
   *
   * @param hints efforts that an earlier launch needed; empty at first
   */
  Launch run(SortedSet<Integer> hints) throws IOException {
    explore(hints);
    SortedSet<Integer> needed = needed();
    warmUp(needed);
    double passSeconds = needed.stream().mapToDouble(this::seconds).sum();
    int passes = Math.clamp(Math.round(TIMED_SECONDS / passSeconds), 1, PASSES_MAX);
    Map<Integer, List<Double>> rates = new HashMap<>();
    for (int pass = 0; pass < passes; pass++) {
      for (int ef : needed) {
        Point point = asker.pass(ef);
        seen.put(ef, point);
        rates.computeIfAbsent(ef, ignored -> new ArrayList<>()).add(point.qps());
      }
    }
    return new Launch(
        new RecallCurve(needed.stream().map(ef -> withRate(seen.get(ef), rates.get(ef))).toList()),
        seen.values().stream().mapToDouble(Point::recall).max().orElseThrow());
  }

  private void warmUp(SortedSet<Integer> needed) throws IOException {
    double spent = 0;
    for (int ef : seen.keySet()) {
      spent += seconds(ef);
    }
    for (int pass = seen.size(); pass < WARM_UP_PASSES_MIN || spent < WARM_UP_SECONDS; ) {
      for (int ef : needed) {
        Point point = asker.pass(ef);
        spent += queries / point.qps();
        pass++;
      }
    }
  }

  private double seconds(int ef) {
    return queries / seen.get(ef).qps();
  }

  private static Point withRate(Point point, List<Double> rates) {
    double median = Spread.of(rates.stream().mapToDouble(Double::doubleValue).toArray()).median();
    return new Point(
        point.ef(), point.recall(), median, point.visited(), point.bytes(), point.allocated());
  }

  private void explore(SortedSet<Integer> hints) throws IOException {
    for (int ef : hints) {
      seen.put(ef, asker.pass(ef));
    }
    if (!hints.isEmpty() && allReached() && bracketsAreNeighbours()) {
      return;
    }
    double wanted = recalls.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
    for (int ef : EFFORTS) {
      Point point = seen.containsKey(ef) ? seen.get(ef) : asker.pass(ef);
      seen.put(ef, point);
      if (point.recall() >= wanted) {
        return;
      }
    }
  }

  private RecallCurve curve() {
    return new RecallCurve(List.copyOf(seen.values()));
  }

  private boolean allReached() {
    return recalls.stream().allMatch(recall -> curve().around(recall).isPresent());
  }

  private boolean bracketsAreNeighbours() {
    return recalls.stream()
        .map(recall -> curve().around(recall).orElseThrow())
        .allMatch(
            bracket ->
                EFFORTS.indexOf(bracket.above().ef()) - EFFORTS.indexOf(bracket.below().ef()) <= 1
                    && (bracket.below().ef() != bracket.above().ef()
                        || bracket.below().ef() == EFFORTS.getFirst()));
  }

  /** Efforts around the recalls; the greatest effort where one is out of reach. */
  private SortedSet<Integer> needed() {
    SortedSet<Integer> needed = new TreeSet<>();
    for (double recall : recalls) {
      Optional<Bracket> bracket = curve().around(recall);
      if (bracket.isPresent()) {
        needed.add(bracket.get().below().ef());
        needed.add(bracket.get().above().ef());
      }
    }
    if (needed.isEmpty()) {
      needed.add(seen.lastKey());
    }
    return needed;
  }
}
