// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sagitta.shard.index.IndexLag;
import org.junit.jupiter.api.Test;

/** Writers and an indexer on a clock of their own. */
class WritePaceTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long BYTES_PER_ROW = 1_536;
  private static final double INDEXED_PER_SECOND = 8_000;
  private static final int BATCH = 1_000;

  private final WritePace pace = new WritePace();

  private static IndexLag lag(double waitingRows) {
    return new IndexLag(
        (long) (waitingRows * BYTES_PER_ROW), BYTES_PER_ROW, INDEXED_PER_SECOND * BYTES_PER_ROW);
  }

  private static double rows(long bytes) {
    return (double) bytes / BYTES_PER_ROW;
  }

  @Test
  void nobodyWaitsWhileFewRowsWait() {
    for (int i = 0; i < 1_000; i++) {
      assertThat(pace.pauseNanos(BATCH, lag(170_000), i, SECOND)).isZero();
    }
  }

  @Test
  void aWriteNowAndThenNeverWaits() {
    for (int i = 0; i < 100; i++) {
      assertThat(pace.pauseNanos(BATCH, lag(5_000_000), i * SECOND, SECOND)).isZero();
    }
  }

  @Test
  void farBehindRowsComeAsFastAsTheyAreIndexed() {
    double rowsPerSecond = rowsPerSecond(rows(WritePace.FULL_BYTES) * 2);
    assertThat(rowsPerSecond).isCloseTo(INDEXED_PER_SECOND, within(INDEXED_PER_SECOND / 50));
  }

  @Test
  void halfWayTheyComeTwiceAsFast() {
    double middle = rows((WritePace.FROM_BYTES + WritePace.FULL_BYTES) / 2);
    assertThat(rowsPerSecond(middle))
        .isCloseTo(2 * INDEXED_PER_SECOND, within(INDEXED_PER_SECOND / 25));
  }

  /** Of one writer that sends the next batch when the last one has started. */
  private double rowsPerSecond(double waitingRows) {
    long now = 0;
    int batches = 1_000;
    for (int i = 0; i < batches; i++) {
      now += pace.pauseNanos(BATCH, lag(waitingRows), now, 10 * SECOND);
    }
    return batches * BATCH * 1e9 / now;
  }

  @Test
  void aLoadWithoutEndComesToRestAtTheFullMark() {
    double waiting = 0;
    long now = 0;
    for (int i = 0; i < 20_000; i++) {
      long pause = pace.pauseNanos(BATCH, lag(waiting), now, 10 * SECOND);
      long took = pause + SECOND / 50; // 50,000 rows a second at most
      now += took;
      waiting = Math.max(0, waiting + BATCH - took / 1e9 * INDEXED_PER_SECOND);
    }
    assertThat(waiting).isCloseTo(rows(WritePace.FULL_BYTES), within(2.0 * BATCH));
  }

  @Test
  void noWriteWaitsLongerThanItMayAndLaterOnesDoNotOvertake() {
    long lastStart = 0;
    for (int i = 0; i < 500; i++) {
      long pause = pace.pauseNanos(BATCH, lag(5_000_000), i, SECOND);
      assertThat(pause).isBetween(0L, SECOND);
      assertThat(i + pause).isGreaterThanOrEqualTo(lastStart);
      lastStart = i + pause;
    }
    // Also when the graphs have caught up meanwhile.
    assertThat(500 + pace.pauseNanos(BATCH, IndexLag.NONE, 500, SECOND))
        .isGreaterThanOrEqualTo(lastStart);
  }

  @Test
  void writersAreNotStoppedWhereNothingIsIndexed() {
    IndexLag stuck = new IndexLag(10L << 30, BYTES_PER_ROW, 0);
    long now = 0;
    for (int i = 0; i < 100; i++) {
      now += pace.pauseNanos(BATCH, stuck, now, 10 * SECOND);
    }
    assertThat(100.0 * BATCH * BYTES_PER_ROW / (now / 1e9))
        .isCloseTo(WritePace.BYTES_PER_SECOND_MIN, within(WritePace.BYTES_PER_SECOND_MIN / 50));
  }
}
