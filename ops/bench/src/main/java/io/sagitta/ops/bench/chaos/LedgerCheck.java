// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import io.sagitta.ops.bench.chaos.Ledger.Entry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Compares what the cluster holds with what the ledger allows, while nothing is being written.
 *
 * <p>Each id must be in the state its last settled write left, or, where an outcome is unknown, in
 * that or the next. Writes of unknown outcome must have taken effect wholly or not at all within
 * each shard. A point's {@code _version} must lie as far above the log index of its acknowledgement
 * as every other point's of its shard (versions are base + index), and must not change while nobody
 * writes: either would betray a write that took effect a second time.
 *
 * <p>Afterwards the ledger takes what was found for settled: what was unknown is known, and one
 * fault is reported once.
 */
public final class LedgerCheck {
  private final Ledger ledger;

  /** {@code _version} minus log index, by shard; the same for a shard's whole life. */
  private final Map<Integer, Long> versionBases = new HashMap<>();

  public LedgerCheck(Ledger ledger) {
    this.ledger = ledger;
  }

  /**
   * What a check found.
   *
   * @param violations promises that were broken
   * @param tookEffect writes of unknown outcome that are there
   * @param tookNone writes of unknown outcome that are not there
   * @param inSomeShards writes of unknown outcome that are there in some of their shards: allowed
   * @param checked ids that were looked at
   */
  public record Result(
      List<Violation> violations, int tookEffect, int tookNone, int inSomeShards, int checked) {
    public Result {
      violations = List.copyOf(violations);
    }
  }

  /** Checks all ids against everything that is stored. */
  public Result check(Map<Long, StoredPoint> stored) {
    synchronized (ledger) {
      List<Violation> violations = new ArrayList<>(ledger.drainConflicts());
      Effects effects = new Effects();
      for (Map.Entry<Long, Entry> known : ledger.entries().entrySet()) {
        checkId(known.getKey(), known.getValue(), stored.get(known.getKey()), effects, violations);
      }
      for (StoredPoint point : stored.values()) {
        if (!ledger.entries().containsKey(point.id())) {
          violations.add(
              new Violation(
                  Violation.Kind.INVENTED,
                  "id " + point.id() + " (edition " + point.edition() + ") was never written"));
          ledger.accept(point.id(), point);
        }
      }
      return effects.result(ledger.drainUnknown(), violations, ledger.entries().size());
    }
  }

  private void checkId(
      long id, Entry entry, StoredPoint found, Effects effects, List<Violation> violations) {
    if (found != null && !found.flaw().isEmpty()) {
      violations.add(
          new Violation(Violation.Kind.TORN, "id " + id + ": " + found.flaw() + at(found)));
      ledger.accept(id, found);
      return;
    }
    Presence next = entry.open.map(write -> write.effect(point(write, id))).orElse(null);
    boolean asSettled = entry.settled.matches(found);
    boolean asNext = next != null && next.matches(found);
    if (!asSettled && !asNext) {
      violations.add(contradiction(id, entry, found));
      ledger.accept(id, found);
      return;
    }
    if (asSettled && found != null) {
      checkVersion(id, entry, found, violations);
    }
    if (next != null && asSettled != asNext) {
      effects.saw(entry.open.orElseThrow(), ledger.shardOf(id), asNext);
    }
    ledger.resolve(id, asNext && !asSettled, found == null ? -1 : found.version());
  }

  private static Write.Point point(Write write, long id) {
    return write.points().stream().filter(p -> p.id() == id).findFirst().orElseThrow();
  }

  private static Violation contradiction(long id, Entry entry, StoredPoint found) {
    Presence settled = entry.settled;
    String expected =
        "id "
            + id
            + ": expected "
            + settled
            + entry.open.map(write -> " or what write " + write.number() + " leaves").orElse("")
            + ", found "
            + (found == null ? "nothing" : "edition " + found.edition() + at(found));
    Violation.Kind kind;
    if (found == null) {
      kind = Violation.Kind.LOST;
    } else if (settled.there()) {
      kind = found.edition() < settled.edition() ? Violation.Kind.LOST : Violation.Kind.INVENTED;
    } else {
      kind =
          found.edition() <= settled.edition()
              ? Violation.Kind.RESURRECTED
              : Violation.Kind.INVENTED;
    }
    return new Violation(kind, expected);
  }

  private void checkVersion(long id, Entry entry, StoredPoint found, List<Violation> violations) {
    long index = entry.settledIndex;
    if (entry.seenVersion >= 0 && entry.seenVersion != found.version()) {
      entry.settledIndex = -1;
      violations.add(
          new Violation(
              Violation.Kind.TWICE,
              "id "
                  + id
                  + ": "
                  + entry.settled
                  + " had _version "
                  + entry.seenVersion
                  + " and nobody wrote it since, now it has "
                  + found.version()));
    } else if (index >= 0) {
      int shard = ledger.shardOf(id);
      long base = found.version() - index;
      Long known = versionBases.putIfAbsent(shard, base);
      if (known != null && known != base) {
        entry.settledIndex = -1;
        violations.add(
            new Violation(
                Violation.Kind.TWICE,
                "id "
                    + id
                    + ": "
                    + entry.settled
                    + " was acknowledged at log index "
                    + index
                    + " of shard "
                    + shard
                    + ", but its _version "
                    + found.version()
                    + " is that of index "
                    + (found.version() - known)));
      }
    }
  }

  private static String at(StoredPoint found) {
    return " at _version " + found.version();
  }

  /** What became of writes of unknown outcome, shard by shard. */
  private static final class Effects {
    private final Map<Long, Map<Integer, Seen>> byWrite = new TreeMap<>();

    private static final class Seen {
      private int took;
      private int tookNot;
    }

    void saw(Write write, int shard, boolean took) {
      Seen seen =
          byWrite
              .computeIfAbsent(write.number(), unused -> new TreeMap<>())
              .computeIfAbsent(shard, unused -> new Seen());
      if (took) {
        seen.took++;
      } else {
        seen.tookNot++;
      }
    }

    Result result(List<Write> unknown, List<Violation> violations, int checked) {
      int all = 0;
      int none = 0;
      int some = 0;
      for (Write write : unknown) {
        Map<Integer, Seen> shards = byWrite.getOrDefault(write.number(), Map.of());
        shards.forEach(
            (shard, seen) -> {
              if (seen.took > 0 && seen.tookNot > 0) {
                violations.add(
                    new Violation(
                        Violation.Kind.HALF,
                        "write "
                            + write.number()
                            + " of "
                            + write.points().size()
                            + " points took effect on "
                            + seen.took
                            + " points of shard "
                            + shard
                            + " and not on "
                            + seen.tookNot));
              }
            });
        boolean anyTook = shards.values().stream().anyMatch(seen -> seen.took > 0);
        boolean anyNot = shards.values().stream().anyMatch(seen -> seen.tookNot > 0);
        if (anyTook && anyNot) {
          some++;
        } else if (anyTook) {
          all++;
        } else {
          none++;
        }
      }
      return new Result(violations, all, none, some, checked);
    }
  }
}
