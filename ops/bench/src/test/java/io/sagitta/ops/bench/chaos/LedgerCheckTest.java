// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.ops.bench.chaos.LedgerCheck.Result;
import io.sagitta.ops.bench.chaos.Violation.Kind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A cluster of two shards (even ids, odd ids) stands behind each test; first it does right, then a
 * fault is planted that the check must name.
 */
class LedgerCheckTest {
  private static final long VERSION_BASE = 1_000;

  @TempDir Path folder;
  private Ledger ledger;
  private LedgerCheck check;

  private final Map<Long, StoredPoint> stored = new TreeMap<>();
  private long nextIndex = 1;

  @BeforeEach
  void open() {
    ledger = new Ledger(folder.resolve("ledger"), id -> (int) (id % 2));
    check = new LedgerCheck(ledger);
  }

  @AfterEach
  void close() {
    ledger.close();
  }

  private Write begin(Write.Kind kind, long... ids) {
    List<Write.Point> points = new ArrayList<>();
    for (long id : ids) {
      long edition = ledger.edition(id);
      points.add(new Write.Point(id, kind == Write.Kind.DELETE ? edition : edition + 1));
    }
    return ledger.begin(kind, 1, points);
  }

  /** The cluster applies the write for these ids, all at one log index. */
  private void apply(Write write, long... ids) {
    long index = nextIndex++;
    for (long id : ids) {
      Write.Point point =
          write.points().stream().filter(p -> p.id() == id).findFirst().orElseThrow();
      if (write.kind() == Write.Kind.DELETE) {
        stored.remove(id);
      } else {
        stored.put(id, new StoredPoint(id, point.edition(), VERSION_BASE + index, ""));
      }
    }
  }

  private void acknowledge(Write write) {
    long index = nextIndex - 1;
    ledger.settle(write, new Outcome.Acknowledged(Map.of(0, index, 1, index), Set.of()));
  }

  private void upserted(long... ids) {
    Write write = begin(Write.Kind.UPSERT, ids);
    apply(write, ids);
    acknowledge(write);
  }

  private void deleted(long... ids) {
    Write write = begin(Write.Kind.DELETE, ids);
    apply(write, ids);
    acknowledge(write);
  }

  private Write unknown(Write.Kind kind, long... ids) {
    Write write = begin(kind, ids);
    ledger.settle(write, new Outcome.Unknown("connection reset"));
    return write;
  }

  private Result check() {
    return check.check(stored);
  }

  private void assertFinds(Kind kind, String... words) {
    Result result = check();
    assertThat(result.violations()).extracting(Violation::kind).containsExactly(kind);
    assertThat(result.violations().getFirst().detail()).contains(words);
    assertThat(check().violations()).as("one fault is reported once").isEmpty();
  }

  // ---- a cluster that keeps its promises

  @Test
  void writesThatAreThereAreRight() {
    upserted(1, 2, 3);
    upserted(2, 3);
    deleted(3);
    upserted(3);
    Result result = check();
    assertThat(result.violations()).isEmpty();
    assertThat(result.checked()).isEqualTo(3);
  }

  @Test
  void anUnknownWriteMayBeThereOrNot() {
    upserted(1, 2);
    Write took = unknown(Write.Kind.UPSERT, 1);
    unknown(Write.Kind.DELETE, 2);
    apply(took, 1);
    Result result = check();
    assertThat(result.violations()).isEmpty();
    assertThat(result.tookEffect()).isEqualTo(1);
    assertThat(result.tookNone()).isEqualTo(1);
    assertThat(ledger.edition(1)).as("what was seen is settled").isEqualTo(2);
    assertThat(ledger.isThere(2)).isTrue();
  }

  @Test
  void anUnknownWriteMayBeThereInOneShardOnly() {
    Write write = unknown(Write.Kind.UPSERT, 1, 2, 3, 4);
    apply(write, 2, 4);
    Result result = check();
    assertThat(result.violations()).isEmpty();
    assertThat(result.inSomeShards()).isEqualTo(1);
  }

  @Test
  void aRefusedWriteIsNotThere() {
    Write write = begin(Write.Kind.UPSERT, 7);
    ledger.settle(write, new Outcome.Refused("UNAVAILABLE"));
    assertThat(check().violations()).isEmpty();
  }

  // ---- planted faults

  @Test
  void anAcknowledgedPointThatIsMissingIsLost() {
    upserted(1, 2);
    stored.remove(2L);
    assertFinds(Kind.LOST, "id 2", "expected edition 1 (write 1)", "found nothing");
  }

  @Test
  void anAcknowledgedOverwriteThatIsUndoneIsLost() {
    upserted(1);
    StoredPoint before = stored.get(1L);
    upserted(1);
    stored.put(1L, before);
    assertFinds(Kind.LOST, "id 1", "expected edition 2", "found edition 1");
  }

  @Test
  void aDeletedPointThatIsBackIsResurrected() {
    upserted(1);
    StoredPoint before = stored.get(1L);
    deleted(1);
    assertThat(check().violations()).isEmpty();
    stored.put(1L, before);
    assertFinds(Kind.RESURRECTED, "id 1", "deleted after edition 1 (write 2)");
  }

  @Test
  void anUnknownOutcomeDoesNotExcuseALoss() {
    upserted(1);
    unknown(Write.Kind.UPSERT, 1);
    stored.remove(1L);
    assertFinds(Kind.LOST, "or what write 2 leaves");
  }

  @Test
  void anUnknownWriteThatComesLaterThanItsCheckIsResurrectedOrInvented() {
    upserted(1);
    Write late = unknown(Write.Kind.UPSERT, 1);
    assertThat(check().tookNone()).isEqualTo(1);
    apply(late, 1);
    assertFinds(Kind.INVENTED, "id 1", "found edition 2");
  }

  @Test
  void aWriteThatTookEffectOnHalfOfAShardIsHalf() {
    Write write = unknown(Write.Kind.UPSERT, 2, 4, 6, 1);
    apply(write, 2, 4);
    assertFinds(Kind.HALF, "2 points of shard 0 and not on 1");
  }

  @Test
  void aRefusedWriteThatIsThereIsInvented() {
    Write write = begin(Write.Kind.UPSERT, 7);
    apply(write, 7);
    ledger.settle(write, new Outcome.Refused("UNAVAILABLE"));
    assertFinds(Kind.INVENTED, "id 7", "expected nothing");
  }

  @Test
  void aPointThatNobodyWroteIsInvented() {
    stored.put(99L, new StoredPoint(99, 1, VERSION_BASE + 5, ""));
    assertFinds(Kind.INVENTED, "id 99");
  }

  @Test
  void aReplayThatIsAppliedAgainIsTwice() {
    upserted(2);
    assertThat(check().violations()).isEmpty();
    Write write = begin(Write.Kind.UPSERT, 4);
    apply(write, 4);
    acknowledge(write);
    // The retry is applied too: the same content at a later index than the one acknowledged.
    apply(write, 4);
    assertFinds(Kind.TWICE, "id 4", "acknowledged at log index 2", "is that of index 3");
  }

  @Test
  void aVersionThatChangesWhileNobodyWritesIsTwice() {
    upserted(2);
    assertThat(check().violations()).isEmpty();
    stored.put(2L, new StoredPoint(2, 1, VERSION_BASE + 50, ""));
    assertFinds(Kind.TWICE, "nobody wrote it since");
  }

  @Test
  void aConditionThatFailsWithoutAnybodyElseIsTwice() {
    upserted(2);
    Write increment = begin(Write.Kind.INCREMENT, 2);
    apply(increment, 2);
    ledger.settle(increment, new Outcome.Acknowledged(Map.of(), Set.of(2L)));
    Result result = check();
    assertThat(result.violations())
        .extracting(Violation::kind)
        .containsExactlyInAnyOrder(Kind.TWICE, Kind.INVENTED);
  }

  @Test
  void aMixtureIsTorn() {
    upserted(1);
    stored.put(1L, new StoredPoint(1, 1, VERSION_BASE + 1, "its vector is not that of edition 1"));
    assertThat(check().violations())
        .singleElement()
        .satisfies(
            violation -> {
              assertThat(violation.kind()).isEqualTo(Kind.TORN);
              assertThat(violation.detail()).contains("its vector");
            });
  }

  @Test
  void anIdHasOneWriteUnderWayAtMost() {
    begin(Write.Kind.UPSERT, 1);
    assertThat(ledger.isFree(1)).isFalse();
    assertThatThrownBy(() -> begin(Write.Kind.UPSERT, 1)).hasMessageContaining("under way");
  }
}
