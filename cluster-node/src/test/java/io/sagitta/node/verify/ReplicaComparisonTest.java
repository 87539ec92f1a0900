// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.verify;

import static io.sagitta.node.verify.ReplicaComparison.Verdict.DAMAGED;
import static io.sagitta.node.verify.ReplicaComparison.Verdict.DIFFERENT;
import static io.sagitta.node.verify.ReplicaComparison.Verdict.EQUAL;
import static io.sagitta.node.verify.ReplicaComparison.Verdict.NOT_COMPARED;
import static io.sagitta.node.verify.ReplicaComparison.Verdict.ONLY_REPLICA;
import static io.sagitta.node.verify.ReplicaComparison.Verdict.UNAVAILABLE;
import static io.sagitta.node.verify.ReplicaComparison.Verdict.UNDECIDED;
import static io.sagitta.node.verify.ReplicaComparison.Verdict.UNREACHABLE;
import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.ErrorCode;
import io.sagitta.node.placement.ReplicaDigest;
import io.sagitta.node.placement.ReplicaDigest.Damaged;
import io.sagitta.node.placement.ReplicaDigest.Taken;
import io.sagitta.node.placement.ReplicaDigest.Unavailable;
import io.sagitta.node.placement.ReplicaDigest.Unreachable;
import io.sagitta.node.verify.ReplicaComparison.Judged;
import io.sagitta.node.verify.ReplicaComparison.Verdict;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

/** Replicas n1, n2, ... by what they answered: A and B are contents at log index 7. */
class ReplicaComparisonTest {
  private static final ReplicaDigest A = new Taken(7, 3, "aa");
  private static final ReplicaDigest B = new Taken(7, 2, "bb");
  private static final ReplicaDigest C = new Taken(7, 4, "cc");

  /** What a replica that holds A holds a write later. */
  private static final ReplicaDigest LATER = new Taken(8, 4, "dd");

  private static final ReplicaDigest BAD = new Damaged("segment 3 is bad");
  private static final ReplicaDigest DOWN = new Unreachable("connection refused");
  private static final ReplicaDigest BEHIND = new Unavailable(ErrorCode.UNAVAILABLE, "has 5 of 7");

  private static ReplicaComparison of(List<ReplicaDigest> answers) {
    SequencedMap<String, ReplicaDigest> byName = new LinkedHashMap<>();
    answers.forEach(answer -> byName.put("n" + (byName.size() + 1), answer));
    return ReplicaComparison.of(byName);
  }

  private static ReplicaComparison of(ReplicaDigest... answers) {
    return of(List.of(answers));
  }

  private static List<Verdict> verdicts(ReplicaComparison comparison) {
    return comparison.judged().values().stream().map(Judged::verdict).toList();
  }

  private static Optional<String> cause(ReplicaComparison comparison, String replica) {
    return comparison.judged().get(replica).cause();
  }

  @Test
  void replicasThatHoldTheSameAreEqual() {
    ReplicaComparison three = of(A, A, A);
    assertThat(three.equal()).contains(true);
    assertThat(verdicts(three)).containsExactly(EQUAL, EQUAL, EQUAL);
    assertThat(cause(three, "n1")).isEmpty();

    ReplicaComparison two = of(A, A);
    assertThat(two.equal()).contains(true);
    assertThat(verdicts(two)).containsExactly(EQUAL, EQUAL);
  }

  @Test
  void ofThreeTheOneThatDiffersIsTheOddOneWhereverItStands() {
    ReplicaComparison last = of(A, A, B);
    assertThat(last.equal()).contains(false);
    assertThat(verdicts(last)).containsExactly(EQUAL, EQUAL, DIFFERENT);
    assertThat(cause(last, "n3")).contains("differs at log index 7 from n1 and n2, a majority");
    assertThat(cause(last, "n1")).isEmpty();

    assertThat(verdicts(of(B, A, A))).containsExactly(DIFFERENT, EQUAL, EQUAL);
    assertThat(verdicts(of(A, B, A))).containsExactly(EQUAL, DIFFERENT, EQUAL);
  }

  @Test
  void ofTwoThatDifferNobodyKnowsWhichIsRight() {
    ReplicaComparison two = of(A, B);
    assertThat(two.equal()).contains(false);
    assertThat(verdicts(two)).containsExactly(UNDECIDED, UNDECIDED);
    assertThat(cause(two, "n1"))
        .isEqualTo(cause(two, "n2"))
        .contains(
            "n1 and n2 differ at log index 7, and no majority of the 2 replicas holds the same");
  }

  @Test
  void threeThatDifferEachFromEachAreLeftUndecided() {
    ReplicaComparison three = of(A, B, C);
    assertThat(three.equal()).contains(false);
    assertThat(verdicts(three)).containsExactly(UNDECIDED, UNDECIDED, UNDECIDED);
  }

  @Test
  void halfIsNoMajority() {
    ReplicaComparison four = of(A, A, B, B);
    assertThat(four.equal()).contains(false);
    assertThat(verdicts(four)).containsExactly(UNDECIDED, UNDECIDED, UNDECIDED, UNDECIDED);
    assertThat(verdicts(of(A, A, B, A))).containsExactly(EQUAL, EQUAL, DIFFERENT, EQUAL);
  }

  @Test
  void aDamagedReplicaDoesNotKeepTheOthersFromBeingCompared() {
    ReplicaComparison agree = of(A, BAD, A);
    assertThat(agree.equal()).contains(false);
    assertThat(verdicts(agree)).containsExactly(EQUAL, DAMAGED, EQUAL);
    assertThat(cause(agree, "n2")).contains("segment 3 is bad");

    // Two of three: one of them is wrong, and the third cannot say which.
    ReplicaComparison differ = of(A, BAD, B);
    assertThat(differ.equal()).contains(false);
    assertThat(verdicts(differ)).containsExactly(UNDECIDED, DAMAGED, UNDECIDED);
  }

  @Test
  void aReplicaThatCannotBeReadLeavesItOpenWhetherAllAreEqual() {
    for (ReplicaDigest missing : List.of(DOWN, BEHIND)) {
      Verdict its = missing instanceof Unreachable ? UNREACHABLE : UNAVAILABLE;
      ReplicaComparison agree = of(A, A, missing);
      assertThat(agree.equal()).isEmpty();
      assertThat(verdicts(agree)).containsExactly(EQUAL, EQUAL, its);

      ReplicaComparison differ = of(A, B, missing);
      assertThat(differ.equal()).contains(false);
      assertThat(verdicts(differ)).containsExactly(UNDECIDED, UNDECIDED, its);
    }
    assertThat(cause(of(A, A, DOWN), "n3")).contains("connection refused");
    assertThat(cause(of(A, A, BEHIND), "n3")).contains("has 5 of 7");
  }

  @Test
  void whoeverAloneCouldBeReadIsNeverCalledEqual() {
    ReplicaComparison down = of(DOWN, A, BEHIND);
    assertThat(down.equal()).isEmpty();
    assertThat(verdicts(down)).containsExactly(UNREACHABLE, NOT_COMPARED, UNAVAILABLE);
    assertThat(cause(down, "n2")).contains("no other replica could be read");

    ReplicaComparison damaged = of(BAD, BAD, A);
    assertThat(damaged.equal()).contains(false);
    assertThat(verdicts(damaged)).containsExactly(DAMAGED, DAMAGED, NOT_COMPARED);

    ReplicaComparison only = of(A);
    assertThat(only.equal()).isEmpty();
    assertThat(verdicts(only)).containsExactly(ONLY_REPLICA);
    assertThat(cause(only, "n1")).contains("the shard has no other replica");
  }

  @Test
  void whereNoneCouldBeReadNothingIsSaidOfWhatTheyHold() {
    assertThat(of(DOWN, DOWN, BEHIND).equal()).isEmpty();
    assertThat(of(DOWN).equal()).isEmpty();
    assertThat(verdicts(of(DOWN))).containsExactly(UNREACHABLE);
    assertThat(of(BAD).equal()).contains(false);
    assertThat(verdicts(of(BAD))).containsExactly(DAMAGED);
  }

  @Test
  void aMinorityThatAgreesSettlesNothing() {
    ReplicaComparison two = of(A, A, DOWN, DOWN, DOWN);
    assertThat(two.equal()).isEmpty();
    assertThat(verdicts(two))
        .containsExactly(UNDECIDED, UNDECIDED, UNREACHABLE, UNREACHABLE, UNREACHABLE);
    assertThat(cause(two, "n1"))
        .contains("n1 and n2 hold the same at log index 7, but are no majority of the 5 replicas");
    assertThat(of(A, A, B, DOWN, DOWN).equal()).contains(false);
  }

  @Test
  void onlyDigestsOfOneLogIndexAreCompared() {
    ReplicaComparison later = of(A, LATER, A);
    assertThat(later.equal()).isEmpty();
    assertThat(verdicts(later)).containsExactly(EQUAL, NOT_COMPARED, EQUAL);
    assertThat(cause(later, "n2"))
        .contains("was read at log index 8, and n1 at log index 7: writes went on");

    ReplicaComparison two = of(A, LATER);
    assertThat(two.equal()).isEmpty();
    assertThat(verdicts(two)).containsExactly(NOT_COMPARED, NOT_COMPARED);

    // At either index on its own.
    ReplicaComparison five = of(A, LATER, A, new Taken(8, 4, "ee"), A);
    assertThat(five.equal()).contains(false);
    assertThat(verdicts(five)).containsExactly(EQUAL, UNDECIDED, EQUAL, UNDECIDED, EQUAL);
  }

  /** Every combination of up to four answers, against the definitions put down plainly. */
  @Test
  void everyCombinationIsJudgedByTheDefinitions() {
    List<ReplicaDigest> kinds = List.of(A, B, C, LATER, BAD, DOWN, BEHIND);
    for (int replicas = 1; replicas <= 4; replicas++) {
      for (int i = 0; i < Math.pow(kinds.size(), replicas); i++) {
        List<ReplicaDigest> answers = new ArrayList<>();
        for (int left = i; answers.size() < replicas; left /= kinds.size()) {
          answers.add(kinds.get(left % kinds.size()));
        }
        ReplicaComparison comparison = of(answers);
        assertThat(verdicts(comparison))
            .as(answers.toString())
            .isEqualTo(answers.stream().map(own -> expected(own, answers)).toList());
        assertThat(comparison.equal()).as(answers.toString()).isEqualTo(equal(answers));
        comparison
            .judged()
            .values()
            .forEach(its -> assertThat(its.cause().isEmpty()).isEqualTo(its.verdict() == EQUAL));
      }
    }
  }

  private static Verdict expected(ReplicaDigest own, List<ReplicaDigest> answers) {
    switch (own) {
      case Damaged _ -> {
        return DAMAGED;
      }
      case Unreachable _ -> {
        return UNREACHABLE;
      }
      case Unavailable _ -> {
        return UNAVAILABLE;
      }
      case Taken _ -> {}
    }
    if (answers.size() == 1) {
      return ONLY_REPLICA;
    }
    List<ReplicaDigest> sameIndex = own.equals(LATER) ? List.of(LATER) : List.of(A, B, C);
    List<ReplicaDigest> compared = answers.stream().filter(sameIndex::contains).toList();
    if (compared.size() == 1) {
      return NOT_COMPARED;
    }
    for (ReplicaDigest held : sameIndex) {
      if (2 * Collections.frequency(answers, held) > answers.size()) {
        return held.equals(own) ? EQUAL : DIFFERENT;
      }
    }
    return UNDECIDED;
  }

  private static Optional<Boolean> equal(List<ReplicaDigest> answers) {
    if (answers.contains(BAD)
        || answers.stream().filter(List.of(A, B, C)::contains).distinct().count() > 1) {
      return Optional.of(false);
    }
    boolean one = answers.stream().distinct().count() == 1;
    return one && answers.size() > 1 && answers.getFirst() instanceof Taken
        ? Optional.of(true)
        : Optional.empty();
  }
}
