// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class IndexSpeedTest {
  private static final long SECOND = 1_000_000_000L;

  private final IndexSpeed speed = new IndexSpeed();
  private long now;

  /** Steps of one second each, one after the other. */
  private void work(int seconds, long bytesPerSecond) {
    for (int i = 0; i < seconds; i++) {
      speed.begin(now);
      now += SECOND;
      speed.step(bytesPerSecond, now);
    }
  }

  @Test
  void itIsThatOfTheLastHalfMinute() {
    assertThat(speed.bytesPerSecond()).isZero();
    work(10, 1_000);
    assertThat(speed.bytesPerSecond()).isCloseTo(1_000, within(1e-6));
    work(120, 4_000);
    assertThat(speed.bytesPerSecond()).isCloseTo(4_000, within(100.0));
  }

  @Test
  void timeAtRestDoesNotCount() {
    work(5, 1_000);
    speed.rest();
    now += 3_600 * SECOND;
    work(5, 1_000);
    assertThat(speed.bytesPerSecond()).isCloseTo(1_000, within(1e-6));
  }

  @Test
  void turnsOfOtherShardsDo() {
    for (int i = 0; i < 20; i++) {
      speed.begin(now);
      now += SECOND;
      speed.step(1_000, now);
      now += SECOND; // another's
    }
    assertThat(speed.bytesPerSecond()).isCloseTo(500, within(30.0));
  }

  @Test
  void timeForMeasuringRecallDoes() {
    for (int i = 0; i < 20; i++) {
      work(1, 1_000);
      work(1, 0);
    }
    assertThat(speed.bytesPerSecond()).isCloseTo(500, within(30.0));
  }
}
