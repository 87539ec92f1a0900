// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StalenessTest {
  private final Staleness staleness = new Staleness();

  @Test
  void aReadMayMissWhatWasAcknowledgedWhileItWasUnderWay() {
    staleness.acknowledged(1, 100);
    assertThat(staleness.read("n1", 1, false, 99)).isEmpty();
    assertThat(staleness.read("n1", 1, false, 100)).as("the same instant").isEmpty();
  }

  @Test
  void aReadMayMissWhatWasNeverAcknowledged() {
    staleness.acknowledged(1, 100);
    assertThat(staleness.read("n1", 2, false, 200)).isEmpty();
  }

  @Test
  void aReadThatMissesAnEarlierAcknowledgementIsStale() {
    staleness.acknowledged(2, 2_000);
    assertThat(staleness.read("n3", 2, true, 5_000)).isEmpty();
    assertThat(staleness.read("n3", 2, false, 5_000))
        .hasValueSatisfying(
            violation -> {
              assertThat(violation.kind()).isEqualTo(Violation.Kind.STALE);
              assertThat(violation.detail())
                  .contains("n3 did not see edition 2, which had been acknowledged 3 us before");
            });
  }

  @Test
  void theNewestIsKeptAndCounted() {
    staleness.acknowledged(2, 100);
    staleness.acknowledged(1, 200);
    staleness.compact();
    assertThat(staleness.newest()).isEqualTo(2);
    assertThat(staleness.count()).isEqualTo(2);
    assertThat(staleness.read("n1", 2, false, 300)).isPresent();
    assertThat(staleness.read("n1", 1, false, 300)).isEmpty();
  }
}
