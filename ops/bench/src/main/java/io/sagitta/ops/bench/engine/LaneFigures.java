// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.ops.bench.engine.RecallCurve.Figures;
import io.sagitta.ops.bench.report.Report;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * The lines of one lane in the report: a line per contender and recall, medians over launches, and
 * the ratio to hnswlib's median of the same run.
 */
final class LaneFigures {
  private final Lane lane;
  private final List<Double> recalls;
  private final List<Line> lines = new ArrayList<>();

  private record Line(
      Peer peer,
      String version,
      List<Sweep.Launch> launches,
      List<Double> buildSeconds,
      int buildThreads,
      String error) {

    /** The figures of every launch at a recall; empty where a launch did not reach it. */
    List<Figures> at(double recall) {
      List<Figures> all = new ArrayList<>();
      for (Sweep.Launch launch : launches) {
        Optional<Figures> figures = launch.timed().at(recall);
        if (figures.isEmpty()) {
          return List.of();
        }
        all.add(figures.get());
      }
      return all;
    }
  }

  LaneFigures(Lane lane, List<Double> recalls) {
    this.lane = lane;
    this.recalls = recalls;
  }

  void add(
      Peer peer,
      String version,
      List<Sweep.Launch> launches,
      List<Double> buildSeconds,
      int buildThreads) {
    lines.add(
        new Line(
            peer, version, List.copyOf(launches), List.copyOf(buildSeconds), buildThreads, ""));
  }

  void failed(Peer peer, String version, String error) {
    lines.add(new Line(peer, version, List.of(), List.of(), 0, error));
  }

  /** Enters one line per contender and recall. */
  void enter(Report report) {
    for (Line line : lines) {
      if (!line.error.isEmpty()) {
        begin(report, line).put("error", line.error);
      } else if (!line.launches.isEmpty()) {
        for (double recall : recalls) {
          enter(report, line, recall);
        }
      }
    }
  }

  private ObjectNode begin(Report report, Line line) {
    return report.line("lanes").put("lane", lane.id()).put("peer", line.peer.id());
  }

  private void enter(Report report, Line line, double recall) {
    ObjectNode out = begin(report, line).put("recall", recall);
    List<Figures> figures = line.at(recall);
    if (figures.isEmpty()) {
      double best =
          line.launches.stream().mapToDouble(Sweep.Launch::bestRecall).min().orElseThrow();
      out.put("recall_best", round(best, 4));
    } else {
      Spread qps = spread(figures, Figures::qps);
      out.put("qps", Report.rounded(qps.median()))
          .put("qps_min", Report.rounded(qps.min()))
          .put("qps_max", Report.rounded(qps.max()));
      hnswlibQps(recall)
          .ifPresent(reference -> out.put("ratio_hnswlib", round(qps.median() / reference, 2)));
      out.put("ef", Math.round(spread(figures, Figures::ef).median()));
      double visited = spread(figures, Figures::visited).median();
      if (!Double.isNaN(visited)) {
        out.put("visited", Math.round(visited))
            .put("ns_per_visited", round(1e9 / qps.median() / visited, 1));
      }
      putIfKnown(out, "bytes_per_query", spread(figures, Figures::bytes).median());
      putIfKnown(out, "allocated_per_query", spread(figures, Figures::allocated).median());
      if (figures.stream().anyMatch(Figures::atLeast)) {
        // The least effort is already better than what was asked for: a ratio is a lower bound.
        out.put("recall_at_least", round(spread(figures, Figures::recall).min(), 4));
      }
    }
    double buildSeconds = median(line.buildSeconds);
    if (!Double.isNaN(buildSeconds)) {
      out.put("build_seconds", Report.rounded(buildSeconds))
          .put("build_threads", line.buildThreads);
    }
    out.put("version", line.version);
  }

  private static void putIfKnown(ObjectNode out, String key, double value) {
    if (!Double.isNaN(value)) {
      out.put(key, Math.round(value));
    }
  }

  private Optional<Double> hnswlibQps(double recall) {
    return lines.stream()
        .filter(line -> line.peer == Peer.HNSWLIB)
        .map(line -> line.at(recall))
        .filter(figures -> !figures.isEmpty())
        .map(figures -> spread(figures, Figures::qps).median())
        .findFirst();
  }

  private static Spread spread(List<Figures> figures, ToDoubleFunction<Figures> figure) {
    return Spread.of(figures.stream().mapToDouble(figure).toArray());
  }

  private static double median(List<Double> values) {
    return Spread.of(values.stream().mapToDouble(Double::doubleValue).toArray()).median();
  }

  private static double round(double value, int digits) {
    double unit = Math.pow(10, digits);
    return Math.round(value * unit) / unit;
  }
}
