// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ResumptionTest {
  private static final long MS = 1_000_000;
  private final Resumption resumption = new Resumption();

  @Test
  void lastsUntilTheLastShardAcknowledgedAWriteThatWasSentAfterTheFault() {
    resumption.struck(100 * MS);
    resumption.acknowledged(List.of(0, 1), 101 * MS, 110 * MS);
    assertThat(resumption.servedAgainMs(3)).isEmpty();
    resumption.acknowledged(List.of(1, 2), 102 * MS, 150 * MS);
    assertThat(resumption.servedAgainMs(3)).hasValue(50);
  }

  @Test
  void aWriteSentBeforeTheFaultSaysNothing() {
    resumption.struck(100 * MS);
    resumption.acknowledged(List.of(0), 99 * MS, 110 * MS);
    assertThat(resumption.servedAgainMs(1)).isEmpty();
  }

  @Test
  void theNextFaultBeginsAnew() {
    resumption.struck(100 * MS);
    resumption.acknowledged(List.of(0), 101 * MS, 110 * MS);
    resumption.struck(200 * MS);
    assertThat(resumption.servedAgainMs(1)).isEmpty();
    resumption.acknowledged(List.of(0), 201 * MS, 203 * MS);
    resumption.acknowledged(List.of(0), 202 * MS, 290 * MS);
    assertThat(resumption.servedAgainMs(1)).hasValue(3);
  }
}
