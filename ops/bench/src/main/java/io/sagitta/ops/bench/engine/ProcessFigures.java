// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.ops.bench.engine.RecallCurve.Point;
import io.sagitta.ops.bench.process.ClusterException;
import io.sagitta.ops.bench.report.Report;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a process does besides searching fast on one core: its first queries, all cores at once, its
 * memory. All at the least effort with a recall of 0.95; nothing is pinned here.
 */
final class ProcessFigures {
  private static final double RECALL = 0.95;
  private static final int FIRST_QUERIES = 1_000;
  private static final int WARM_UP_PASSES = 3;
  private static final int TIMED_PASSES = 5;

  /** Queries of the memory figure: enough to touch nearly every page that a search may. */
  static final int MEMORY_QUERIES = 10_000;

  /** Rows of the index of a process that shows what everything but the index costs. */
  private static final int BASE_ROWS = 1_000;

  private static final double MIB = 1 << 20;

  private final PreparedLane lane;
  private final int launches;
  private final Workers workers;
  private final Report report;
  private double hnswlibMib = Double.NaN;

  ProcessFigures(PreparedLane lane, int launches, Workers workers, Report report) {
    this.lane = lane;
    this.launches = launches;
    this.workers = workers;
    this.report = report;
  }

  /** Enters one figure of all peers; whether all could be measured. */
  boolean enter(Figure figure, List<Peer> peers) throws InterruptedException {
    boolean complete = true;
    for (Peer peer : peers) {
      ObjectNode line =
          report.line(figure.id()).put("lane", lane.lane().id()).put("peer", peer.id());
      workers.log().println(lane.lane() + ": " + figure + " of " + peer);
      try {
        switch (figure) {
          case FIRST -> first(peer, line);
          case CORES -> cores(peer, line);
          case MEMORY -> memory(peer, line);
          case SEARCH -> throw new IllegalArgumentException("a lane's run measures it");
        }
      } catch (IOException | ClusterException e) {
        line.put("error", e.getMessage());
        complete = false;
      }
    }
    return complete;
  }

  private Passes passes(Workers.Opened opened) {
    return new Passes(lane, opened.worker(), workers.folder());
  }

  private void first(Peer peer, ObjectNode line) throws IOException, InterruptedException {
    int ef;
    try (Workers.Opened scout = workers.open(peer, lane.data())) {
      ef = passes(scout).leastEffort(RECALL);
    }
    int count = Math.min(FIRST_QUERIES, lane.queries().rows());
    List<long[]> all = new ArrayList<>();
    double recall = 1;
    for (int launch = 0; launch < launches; launch++) {
      try (Workers.Opened opened = workers.open(peer, lane.data())) {
        Passes.Timed timed = passes(opened).singly(ef, count);
        Arrays.sort(timed.nanos());
        all.add(timed.nanos());
        recall = Math.min(recall, timed.recall());
      }
    }
    line.put("ef", ef)
        .put("recall", rounded(recall))
        .put("queries", count)
        .put("launches", launches)
        .put("p50_us", micros(all, 0.50).median())
        .put("p99_us", micros(all, 0.99).median())
        .put("p99_us_max", micros(all, 0.99).max())
        .put("slowest_us", micros(all, 1).max());
  }

  /** A percentile of sorted times, over launches. */
  private static Spread micros(List<long[]> sorted, double share) {
    return Spread.of(
        sorted.stream()
            .mapToDouble(
                nanos -> {
                  int at = (int) Math.ceil(share * nanos.length) - 1;
                  return Report.rounded(nanos[Math.max(0, at)] / 1e3);
                })
            .toArray());
  }

  private void cores(Peer peer, ObjectNode line) throws IOException, InterruptedException {
    int threads = Runtime.getRuntime().availableProcessors();
    try (Workers.Opened opened = workers.open(peer, lane.data())) {
      Passes passes = passes(opened);
      int ef = passes.leastEffort(RECALL);
      for (int pass = 0; pass < WARM_UP_PASSES; pass++) {
        passes.pass(ef, 1);
        passes.pass(ef, threads);
      }
      double[] one = new double[TIMED_PASSES];
      double[] all = new double[TIMED_PASSES];
      double recall = 1;
      for (int pass = 0; pass < TIMED_PASSES; pass++) {
        Point alone = passes.pass(ef, 1);
        Point together = passes.pass(ef, threads);
        one[pass] = alone.qps();
        all[pass] = together.qps();
        recall = Math.min(recall, Math.min(alone.recall(), together.recall()));
      }
      double oneMedian = Spread.of(one).median();
      double allMedian = Spread.of(all).median();
      line.put("ef", ef)
          .put("recall", rounded(recall))
          .put("threads", threads)
          .put("qps_one_thread", Report.rounded(oneMedian))
          .put("qps_all_threads", Report.rounded(allMedian))
          .put("share_of_linear", rounded(allMedian / oneMedian / threads));
    }
  }

  private void memory(Peer peer, ObjectNode line) throws IOException, InterruptedException {
    int ef;
    long whole;
    double recall;
    try (Workers.Opened scout = workers.open(peer, lane.data())) {
      ef = passes(scout).leastEffort(RECALL);
    }
    // A fresh process: the scout's has run every effort.
    try (Workers.Opened opened = workers.open(peer, lane.data())) {
      recall = passes(opened).pass(ef).recall();
      whole = pss(opened);
    }
    long base;
    PreparedLane small = lane.shrunkTo(BASE_ROWS, workers);
    try (Workers.Opened opened = workers.open(peer, small.data())) {
      new Passes(small, opened.worker(), workers.folder()).pass(ef);
      base = pss(opened);
    }
    double index = (whole - base) / MIB;
    if (peer == Peer.HNSWLIB) {
      hnswlibMib = index;
    }
    line.put("ef", ef)
        .put("recall", rounded(recall))
        .put("queries", lane.queries().rows())
        .put("pss_mib", Report.rounded(whole / MIB))
        .put("base_mib", Report.rounded(base / MIB))
        .put("index_mib", Report.rounded(index));
    if (!Double.isNaN(hnswlibMib)) {
      line.put("ratio_hnswlib", rounded(index / hnswlibMib));
    }
  }

  /** Without garbage: a JVM makes much of it until its code is compiled, more or less by chance. */
  private static long pss(Workers.Opened opened) throws IOException {
    opened.worker().ask(Worker.request("collect"));
    return opened.worker().pssBytes();
  }

  private static double rounded(double value) {
    return Math.round(value * 1e3) / 1e3;
  }
}
