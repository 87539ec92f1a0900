// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.verify;

import io.sagitta.node.placement.ReplicaDigest;
import io.sagitta.node.placement.ReplicaDigest.Damaged;
import io.sagitta.node.placement.ReplicaDigest.Taken;
import io.sagitta.node.placement.ReplicaDigest.Unavailable;
import io.sagitta.node.placement.ReplicaDigest.Unreachable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * What follows from the answers of a shard's replicas.
 *
 * <p>Each replica that was read is compared with the others read at its log index, and with no
 * other. A majority is one of all the shard's replicas, not only of those that answered: of three
 * replicas with one damaged, two that differ are left undecided, though two that agree settle it.
 *
 * @param judged by name, in the order of the answers
 * @param equal whether all replicas hold the same. True: each was read, all at one log index, and
 *     none differs. False: some differ, or one is damaged. Empty: neither, since not every replica
 *     could be compared, or there is only one
 */
record ReplicaComparison(SequencedMap<String, Judged> judged, Optional<Boolean> equal) {

  /** What is said of a replica. */
  enum Verdict {
    /** Holds what a majority holds. */
    EQUAL,
    /** Holds something else than a majority. */
    DIFFERENT,
    /** Was compared, but no majority holds the same. */
    UNDECIDED,
    /** Was read, but no other one at the same log index. */
    NOT_COMPARED,
    /** Was read, and the shard has no other. */
    ONLY_REPLICA,
    DAMAGED,
    UNREACHABLE,
    UNAVAILABLE;

    /** The word for it in answers. */
    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * A verdict with its reason.
   *
   * @param cause a sentence without its end; empty where the replica is equal
   */
  record Judged(Verdict verdict, Optional<String> cause) {
    private static Judged of(Verdict verdict, String cause) {
      return new Judged(verdict, Optional.of(cause));
    }
  }

  /**
   * Judges a shard's replicas.
   *
   * @param answers every replica's, by the name of its node
   */
  static ReplicaComparison of(SequencedMap<String, ReplicaDigest> answers) {
    SequencedMap<String, Taken> taken = new LinkedHashMap<>();
    answers.forEach(
        (replica, answer) -> {
          if (answer instanceof Taken read) {
            taken.put(replica, read);
          }
        });
    SequencedMap<String, Judged> judged = new LinkedHashMap<>();
    answers.forEach(
        (replica, answer) ->
            judged.put(
                replica,
                switch (answer) {
                  case Damaged(String cause) -> Judged.of(Verdict.DAMAGED, cause);
                  case Unreachable(String cause) -> Judged.of(Verdict.UNREACHABLE, cause);
                  case Unavailable(var _, String cause) -> Judged.of(Verdict.UNAVAILABLE, cause);
                  case Taken own -> judge(replica, own, taken, answers.size());
                }));
    return new ReplicaComparison(judged, equal(answers.values(), taken.values()));
  }

  private static Optional<Boolean> equal(
      Collection<ReplicaDigest> answers, Collection<Taken> taken) {
    long indexes = taken.stream().map(Taken::index).distinct().count();
    long contents = taken.stream().map(Content::of).distinct().count();
    if (contents > indexes || answers.stream().anyMatch(Damaged.class::isInstance)) {
      return Optional.of(false);
    }
    boolean all = taken.size() == answers.size() && taken.size() > 1;
    return all && indexes == 1 ? Optional.of(true) : Optional.empty();
  }

  /** What a replica holds at a log index. */
  private record Content(long index, String digest) {
    static Content of(Taken taken) {
      return new Content(taken.index(), taken.digest());
    }
  }

  private static Judged judge(
      String replica, Taken own, SequencedMap<String, Taken> taken, int replicas) {
    if (replicas == 1) {
      return Judged.of(Verdict.ONLY_REPLICA, "the shard has no other replica");
    }
    Map<String, List<String>> byDigest = new LinkedHashMap<>();
    List<String> compared = new ArrayList<>();
    taken.forEach(
        (name, other) -> {
          if (other.index() == own.index()) {
            compared.add(name);
            byDigest.computeIfAbsent(other.digest(), digest -> new ArrayList<>()).add(name);
          }
        });
    if (compared.size() == 1) {
      return notCompared(replica, own, taken);
    }
    for (Map.Entry<String, List<String>> same : byDigest.entrySet()) {
      if (2 * same.getValue().size() > replicas) {
        return same.getKey().equals(own.digest())
            ? new Judged(Verdict.EQUAL, Optional.empty())
            : Judged.of(
                Verdict.DIFFERENT,
                "differs" + at(own) + " from " + words(same.getValue()) + ", a majority");
      }
    }
    String said =
        byDigest.size() == 1
            ? "%s hold the same%s, but are no majority of the %d replicas"
            : "%s differ%s, and no majority of the %d replicas holds the same";
    return Judged.of(Verdict.UNDECIDED, said.formatted(words(compared), at(own), replicas));
  }

  private static Judged notCompared(String replica, Taken own, SequencedMap<String, Taken> taken) {
    for (Map.Entry<String, Taken> other : taken.entrySet()) {
      if (!other.getKey().equals(replica)) {
        return Judged.of(
            Verdict.NOT_COMPARED,
            "was read"
                + at(own)
                + ", and "
                + other.getKey()
                + at(other.getValue())
                + ": writes went on");
      }
    }
    return Judged.of(Verdict.NOT_COMPARED, "no other replica could be read");
  }

  private static String at(Taken taken) {
    return " at log index " + taken.index();
  }

  private static String words(List<String> names) {
    return String.join(" and ", names);
  }
}
