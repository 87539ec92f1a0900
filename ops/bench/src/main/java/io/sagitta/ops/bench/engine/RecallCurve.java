// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * Recall and cost at several efforts of one contender, ascending by effort. Figures at a recall
 * between two efforts are interpolated in the logarithm of the figure, linearly in recall: over the
 * small step between neighbours cost grows about exponentially with recall.
 */
record RecallCurve(List<Point> points) {

  /**
   * What was measured at one effort.
   *
   * @param qps queries per second, or 0 where it was not timed
   * @param visited nodes scored a query, or NaN where the contender does not say
   * @param bytes bytes of vectors or codes that those nodes and the rerank read, or NaN
   * @param allocated bytes a query left to the garbage collector, or NaN
   */
  record Point(int ef, double recall, double qps, double visited, double bytes, double allocated) {}

  /**
   * Figures at a recall.
   *
   * @param atLeast the recall was exceeded at the smallest effort: the figures are that effort's
   */
  record Figures(
      double recall,
      double ef,
      double qps,
      double visited,
      double bytes,
      double allocated,
      boolean atLeast) {}

  RecallCurve {
    points = points.stream().sorted(Comparator.comparingInt(Point::ef)).toList();
  }

  /** The two neighbouring points around a recall; one point twice where the first exceeds it. */
  Optional<Bracket> around(double recall) {
    if (points.isEmpty()) {
      return Optional.empty();
    }
    if (points.getFirst().recall >= recall) {
      return Optional.of(new Bracket(points.getFirst(), points.getFirst()));
    }
    for (int i = 1; i < points.size(); i++) {
      if (points.get(i).recall >= recall) {
        return Optional.of(new Bracket(points.get(i - 1), points.get(i)));
      }
    }
    return Optional.empty();
  }

  /** Neighbours on the curve. */
  record Bracket(Point below, Point above) {}

  /** The figures at a recall; empty where no effort reached it. */
  Optional<Figures> at(double recall) {
    return around(recall).map(bracket -> figures(bracket, recall));
  }

  private static Figures figures(Bracket bracket, double recall) {
    boolean atLeast = bracket.below.recall >= recall;
    double rise = bracket.above.recall - bracket.below.recall;
    double share = rise > 0 ? (recall - bracket.below.recall) / rise : 0;
    return new Figures(
        atLeast ? bracket.below.recall : recall,
        between(bracket, share, Point::ef),
        between(bracket, share, Point::qps),
        between(bracket, share, Point::visited),
        between(bracket, share, Point::bytes),
        between(bracket, share, Point::allocated),
        atLeast);
  }

  private static double between(Bracket bracket, double share, ToDoubleFunction<Point> figure) {
    double below = figure.applyAsDouble(bracket.below);
    double above = figure.applyAsDouble(bracket.above);
    if (below <= 0 || above <= 0) {
      // Nothing to take the logarithm of: no allocation, say.
      return below + share * (above - below);
    }
    return below * Math.pow(above / below, share);
  }
}
