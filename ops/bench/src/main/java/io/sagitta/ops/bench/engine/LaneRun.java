// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import io.sagitta.ops.bench.process.ClusterException;
import io.sagitta.ops.bench.report.Report;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/** All contenders on one lane, launch by launch. */
final class LaneRun {
  private final PreparedLane lane;
  private final List<Peer> peers;
  private final Workers workers;
  private final PrintStream log;
  private final Map<Peer, Contest> contests = new EnumMap<>(Peer.class);

  /** What is known of one contender so far. */
  private static final class Contest {
    final List<Sweep.Launch> launches = new ArrayList<>();
    final List<Double> buildSeconds = new ArrayList<>();
    int buildThreads;
    String version = "";
    String error = "";
  }

  LaneRun(PreparedLane lane, List<Peer> peers, Workers workers) {
    this.lane = lane;
    this.peers = peers;
    this.workers = workers;
    this.log = workers.log();
    peers.forEach(peer -> contests.put(peer, new Contest()));
  }

  /** Builds what is not in the cache. */
  void prepare() throws InterruptedException {
    for (Peer peer : peers) {
      attempt(
          peer,
          contest -> {
            contest.version = workers.version(peer);
            if (peer.keepsIndex()) {
              workers.index(peer, lane.data());
            }
          });
    }
  }

  /** Runs the launches, every contender once in each. */
  void measure(int launches) throws InterruptedException {
    for (int launch = 0; launch < launches; launch++) {
      for (int turn = 0; turn < peers.size(); turn++) {
        // Another order in every launch: nobody always follows the same neighbour.
        Peer peer = peers.get((turn + launch) % peers.size());
        int number = launch + 1;
        attempt(peer, contest -> launch(peer, contest, number));
      }
    }
  }

  /** Enters the figures. */
  void enter(Report report) {
    LaneFigures figures = new LaneFigures(lane.lane(), EngineCommand.RECALLS);
    for (Peer peer : peers) {
      Contest contest = contests.get(peer);
      if (contest.error.isEmpty()) {
        figures.add(
            peer, contest.version, contest.launches, contest.buildSeconds, contest.buildThreads);
      } else {
        figures.failed(peer, contest.version, contest.error);
      }
    }
    figures.enter(report);
  }

  /** Whether every contender could be measured. */
  boolean isComplete() {
    return contests.values().stream().allMatch(contest -> contest.error.isEmpty());
  }

  /** A step of one contender. */
  @FunctionalInterface
  private interface Step {
    void run(Contest contest) throws IOException, InterruptedException;
  }

  /** Runs a step unless the contender has failed before; its failure does not end the others. */
  private void attempt(Peer peer, Step step) throws InterruptedException {
    Contest contest = contests.get(peer);
    if (contest.error.isEmpty()) {
      try {
        step.run(contest);
      } catch (IOException | ClusterException e) {
        contest.error = e.getMessage();
        log.println(lane.lane() + ": " + peer + " failed: " + e.getMessage());
      }
    }
  }

  private void launch(Peer peer, Contest contest, int number)
      throws IOException, InterruptedException {
    SortedSet<Integer> hints =
        contest.launches.isEmpty() ? new TreeSet<>() : contest.launches.getLast().efforts();
    try (Workers.Opened opened = workers.openAnew(peer, lane.data())) {
      contest.buildThreads = opened.buildThreads();
      contest.buildSeconds.add(opened.buildSeconds());
      opened.worker().pin(Runtime.getRuntime().availableProcessors() - 1);
      Sweep sweep =
          new Sweep(
              new Passes(lane, opened.worker(), workers.folder())::pass,
              lane.queries().rows(),
              EngineCommand.RECALLS);
      Sweep.Launch launch = sweep.run(hints);
      contest.launches.add(launch);
      log.println(lane.lane() + ": " + peer + " launch " + number + ": " + words(launch));
    }
  }

  private static String words(Sweep.Launch launch) {
    List<String> words = new ArrayList<>();
    for (double recall : EngineCommand.RECALLS) {
      words.add(
          launch
              .timed()
              .at(recall)
              .map(figures -> String.format(Locale.ROOT, "%.0f QPS at %.2f", figures.qps(), recall))
              .orElseGet(
                  () ->
                      String.format(
                          Locale.ROOT, "%.2f not reached (%.3f)", recall, launch.bestRecall())));
    }
    return String.join(", ", words);
  }
}
