// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.ops.bench.process.ClusterException;
import io.sagitta.ops.bench.report.Report;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Rounds of one kind of fault: write, strike while writes are under way, recover, write on, stop,
 * examine. Ends early once a promise was found broken.
 */
public final class FaultRounds {
  /** Writes of a round that must have been acknowledged when the fault strikes. */
  private static final int ACKNOWLEDGED_MIN = 40;

  /** Writes that must have no outcome when the fault strikes. */
  static final int UNDER_WAY_MIN = 8;

  private static final Duration BUSY = Duration.ofSeconds(120);

  /** For how long writing goes on at most after the recovery until every shard serves again. */
  private static final Duration SERVES_AGAIN = Duration.ofSeconds(20);

  private static final int VIOLATIONS_SHOWN = 20;

  /** What happens to the cluster. */
  public interface Fault {
    /** Prepares a round while nobody writes. */
    default void prepare(int round) throws InterruptedException {}

    /** Strikes at once; the answer says what was hit. */
    String strike() throws InterruptedException;

    /** Brings everything back and waits until it is ready. */
    void recover() throws InterruptedException;
  }

  /**
   * Longest times of a round's parts, in milliseconds; the shortest is a tenth.
   *
   * @param beforeMs writing before the fault
   * @param downMs until what was hit is brought back
   * @param afterMs writing once all is ready again
   * @param restMs how long nothing must change before the ledger is compared
   */
  public record Pace(int beforeMs, int downMs, int afterMs, int restMs) {
    static final Pace USUAL = new Pace(800, 1_500, 500, 1_500);
  }

  private final PointStore store;
  private final Fault fault;
  private final Pace pace;
  private final SplittableRandom random;
  private final PrintStream log;
  private final Ledger ledger;

  /**
   * Rounds of a fault.
   *
   * @param ledgerFile where the ledger is kept
   * @param log progress, a line a round
   */
  public FaultRounds(
      PointStore store,
      Fault fault,
      Pace pace,
      SplittableRandom random,
      Path ledgerFile,
      PrintStream log) {
    this.store = store;
    this.fault = fault;
    this.pace = pace;
    this.random = random;
    this.log = log;
    this.ledger = new Ledger(ledgerFile, store::shardOf);
  }

  /** Runs the rounds and enters their figures; sets the verdict. */
  public void run(int rounds, Report report) throws InterruptedException {
    Map<Violation.Kind, Integer> found = new EnumMap<>(Violation.Kind.class);
    int completed = 0;
    int fewest = Integer.MAX_VALUE;
    long slowestRecoveryMs = 0;
    long slowestServedAgainMs = 0;
    Examination examination =
        new Examination(
            store, new LedgerCheck(ledger), Duration.ofMillis(pace.restMs()), random.split());
    try (ledger;
        Workload workload = new Workload(ledger, store, random.split())) {
      for (int round = 1; round <= rounds && found.isEmpty(); round++) {
        Round done = round(round, workload, examination);
        completed++;
        fewest = Math.min(fewest, done.underWay());
        slowestRecoveryMs = Math.max(slowestRecoveryMs, done.recoveryMs());
        slowestServedAgainMs = Math.max(slowestServedAgainMs, done.servedAgainMs().orElse(0));
        done.result().violations().forEach(v -> found.merge(v.kind(), 1, Integer::sum));
        enter(report, round, done);
        log.println(describe(round, rounds, done));
      }
    }
    report
        .put("rounds", completed)
        .put("writes_acknowledged", ledger.acknowledgedWrites())
        .put("writes_refused", ledger.refusedWrites())
        .put("writes_unknown", ledger.unknownWrites())
        .put("ids", ledger.sizes().get("ids"))
        .put("points", ledger.sizes().get("there"))
        .put("under_way_at_fault_min", fewest)
        .put("slowest_served_again_ms", slowestServedAgainMs)
        .put("slowest_recovery_ms", slowestRecoveryMs);
    for (Violation.Kind kind : Violation.Kind.values()) {
      if (kind != Violation.Kind.STALE) {
        report.put(kind.name().toLowerCase(Locale.ROOT), found.getOrDefault(kind, 0));
      }
    }
    report.ok(found.isEmpty() && completed == rounds);
  }

  /**
   * What a round was like.
   *
   * @param hit what the fault hit
   * @param underWay writes without an outcome at that moment
   * @param unknown of these, the ones whose outcome stayed unknown
   * @param servedAgainMs from the strike until every shard had acknowledged a new write; empty
   *     where one had not when writing ended
   * @param recoveryMs from the strike until everything was ready again
   */
  private record Round(
      String hit,
      int underWay,
      int unknown,
      OptionalLong servedAgainMs,
      long recoveryMs,
      LedgerCheck.Result result) {}

  private Round round(int round, Workload workload, Examination examination)
      throws InterruptedException {
    ledger.remark("round " + round);
    fault.prepare(round);
    long unknownBefore = ledger.unknownWrites();
    long acknowledgedBefore = ledger.acknowledgedWrites();
    workload.resume();
    pass(pace.beforeMs());
    Set<Write> underWay = awaitBusy(workload, acknowledgedBefore + ACKNOWLEDGED_MIN);
    workload.spare();
    long struck = System.nanoTime();
    String hit = fault.strike();
    workload.struck();
    ledger.remark("struck " + hit + " with " + underWay.size() + " writes under way");
    pass(pace.downMs());
    fault.recover();
    long recoveryMs = (System.nanoTime() - struck) / 1_000_000;
    pass(pace.afterMs());
    awaitServedAgain(workload);
    workload.drain();
    LedgerCheck.Result result = examination.examine();
    result.violations().forEach(violation -> ledger.remark(violation.toString()));
    return new Round(
        hit,
        underWay.size(),
        Math.toIntExact(ledger.unknownWrites() - unknownBefore),
        workload.resumption().servedAgainMs(store.shards()),
        recoveryMs,
        result);
  }

  private void pass(int longestMs) throws InterruptedException {
    Thread.sleep(random.nextInt(longestMs / 10, longestMs));
  }

  /** Waits for a moment at which there is something to lose and enough writes have no outcome. */
  private Set<Write> awaitBusy(Workload workload, long acknowledged) throws InterruptedException {
    long deadline = System.nanoTime() + BUSY.toNanos();
    while (true) {
      Set<Write> underWay = workload.underWay();
      if (underWay.size() >= UNDER_WAY_MIN && ledger.acknowledgedWrites() >= acknowledged) {
        return underWay;
      }
      if (System.nanoTime() > deadline) {
        throw new ClusterException(
            "never "
                + UNDER_WAY_MIN
                + " writes under way at once within "
                + BUSY.toSeconds()
                + " s");
      }
      Thread.sleep(1);
    }
  }

  /** A shard that does not serve again in time is a figure of the round, not an error. */
  private void awaitServedAgain(Workload workload) throws InterruptedException {
    long deadline = System.nanoTime() + SERVES_AGAIN.toNanos();
    while (workload.resumption().servedAgainMs(store.shards()).isEmpty()
        && System.nanoTime() - deadline < 0) {
      Thread.sleep(1);
    }
  }

  private static void enter(Report report, int round, Round done) {
    ObjectNode line = report.line("by_round");
    line.put("round", round)
        .put("hit", done.hit())
        .put("under_way", done.underWay())
        .put("unknown", done.unknown())
        .put("unknown_there", done.result().tookEffect())
        .put("unknown_not_there", done.result().tookNone())
        .put("unknown_in_some_shards", done.result().inSomeShards())
        .put("served_again_ms", boxed(done.servedAgainMs()))
        .put("recovery_ms", done.recoveryMs())
        .put("checked", done.result().checked())
        .put("broken", done.result().violations().size());
    if (!done.result().violations().isEmpty()) {
      ArrayNode shown = report.figures().withArray("/violations");
      done.result().violations().stream()
          .limit(VIOLATIONS_SHOWN)
          .forEach(v -> shown.addObject().put("kind", v.kind().name()).put("detail", v.detail()));
    }
  }

  private static Long boxed(OptionalLong value) {
    return value.isPresent() ? value.getAsLong() : null;
  }

  private static String describe(int round, int rounds, Round done) {
    return "round %d/%d: %s with %d writes under way, %d unknown, %s, ready after %d ms, %s"
        .formatted(
            round,
            rounds,
            done.hit(),
            done.underWay(),
            done.unknown(),
            done.servedAgainMs().isPresent()
                ? "served again after " + done.servedAgainMs().getAsLong() + " ms"
                : "not served by every shard again while writing went on",
            done.recoveryMs(),
            done.result().violations().isEmpty()
                ? "nothing lost"
                : "BROKEN: " + done.result().violations().getFirst());
  }
}
