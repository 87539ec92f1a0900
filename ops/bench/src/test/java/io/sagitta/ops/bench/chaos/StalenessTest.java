// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StalenessTest {
  private final Staleness staleness = new Staleness();

  @Test
  void aReadMayMissWhatWasAcknowledgedWhileItWasUnderWay() {
    staleness.acknowledged(1, 100);
    staleness.acknowledged(2, 200);
    assertThat(staleness.read("n1", 1, 150)).isEmpty();
    assertThat(staleness.read("n1", 1, 200)).as("at the same instant: concurrent").isEmpty();
    assertThat(staleness.read("n1", 0, 99)).isEmpty();
  }

  @Test
  void aReadMayShowWhatWasNotAcknowledgedYet() {
    staleness.acknowledged(1, 100);
    assertThat(staleness.read("n1", 5, 150)).isEmpty();
  }

  @Test
  void aReadThatMissesAnEarlierAcknowledgementIsStale() {
    staleness.acknowledged(1, 100);
    staleness.acknowledged(2, 2_000);
    assertThat(staleness.read("n3", 1, 5_000))
        .hasValueSatisfying(
            violation -> {
              assertThat(violation.kind()).isEqualTo(Violation.Kind.STALE);
              assertThat(violation.detail())
                  .contains("n3 returned edition 1, but 2 had been acknowledged 3 us before");
            });
    assertThat(staleness.read("n3", 0, 5_000)).isPresent();
  }

  @Test
  void acknowledgementsThatArriveOutOfOrderCountByTheNewest() {
    staleness.acknowledged(2, 100);
    staleness.acknowledged(1, 200);
    assertThat(staleness.read("n1", 1, 300)).isPresent();
    assertThat(staleness.newest()).isEqualTo(2);
  }

  @Test
  void whatIsForgottenStillJudgesLaterReads() {
    staleness.acknowledged(1, 100);
    staleness.acknowledged(2, 200);
    staleness.compact();
    assertThat(staleness.read("n1", 1, 300)).isPresent();
    assertThat(staleness.read("n1", 2, 300)).isEmpty();
  }
}
