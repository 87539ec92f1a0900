// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.WriteKey;
import io.sagitta.model.WriteOutcome;
import io.sagitta.model.WriteOutcome.Applied;
import io.sagitta.model.WriterId;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class SessionsTest {
  private final Sessions sessions = new Sessions();

  @Test
  void aKeyThatWasAppliedGivesItsFirstOutcome() {
    WriteKey key = key(1, 10, 3, 0, 0);
    sessions.remember(key, applied(7), 100);

    assertThat(sessions.replay(key)).contains(applied(7));
    assertThat(sessions.replay(key(1, 10, 3, 0, 1))).as("another piece").isEmpty();
    assertThat(sessions.replay(key(1, 10, 4, 0, 0))).as("another batch").isEmpty();
    assertThat(sessions.replay(key(2, 10, 3, 0, 0))).as("another writer").isEmpty();
  }

  @Test
  void keysBelowAckedBelowAreForgottenAndNeverAppliedAgain() {
    sessions.remember(key(1, 10, 3, 0, 0), applied(7), 100);
    sessions.remember(key(1, 10, 4, 4, 0), applied(8), 100);

    assertThat(sessions.replay(key(1, 10, 3, 0, 0))).isEmpty();
    assertThat(sessions.admits(key(1, 10, 3, 0, 0))).isFalse();
    assertThat(sessions.admits(key(1, 10, 2, 0, 0))).as("never seen, but given up").isFalse();
    assertThat(sessions.admits(key(1, 10, 4, 0, 1))).as("another piece of 4").isTrue();
    assertThat(sessions.replay(key(1, 10, 4, 0, 0))).contains(applied(8));
  }

  @Test
  void anEarlierBatchThatArrivesLateIsAdmittedWhileItsWriterWaitsForIt() {
    sessions.remember(key(1, 10, 5, 0, 0), applied(7), 100);

    assertThat(sessions.admits(key(1, 10, 3, 0, 0))).isTrue();
  }

  @Test
  void outcomesBeyondTheBoundAreForgottenAndRefused() {
    for (int seq = 0; seq <= Sessions.OUTCOMES_MAX; seq++) {
      sessions.remember(key(1, 10, seq, 0, 0), applied(seq), 100);
    }

    assertThat(sessions.replay(key(1, 10, 0, 0, 0))).isEmpty();
    assertThat(sessions.admits(key(1, 10, 0, 0, 0))).isFalse();
    assertThat(sessions.replay(key(1, 10, 1, 0, 0))).contains(applied(1));
    assertThat(sessions.admits(key(1, 10, Sessions.OUTCOMES_MAX + 1, 0, 0))).isTrue();
  }

  @Test
  void longRejectsAreBoundedByBytes() {
    WriteOutcome.RowReject reject =
        new WriteOutcome.RowReject(0, ErrorCode.CONFLICT, "x".repeat(1_000));
    for (int seq = 0; seq < 1_000; seq++) {
      sessions.remember(key(1, 10, seq, 0, 0), new Applied(seq, 0, List.of(reject), false), 100);
    }

    assertThat(sessions.replay(key(1, 10, 999, 0, 0))).isPresent();
    assertThat(sessions.admits(key(1, 10, 0, 0, 0))).isFalse();
    assertThat(sessions.admits(key(1, 10, 480, 0, 0))).as("2,096 bytes each").isFalse();
    assertThat(sessions.replay(key(1, 10, 520, 0, 0)).isPresent()).isTrue();
  }

  @Test
  void theLeastRecentlyActiveWriterGoesAndLeavesTheHorizon() {
    for (int writer = 0; writer < Sessions.WRITERS_MAX; writer++) {
      sessions.remember(key(writer, 10, 0, 0, 0), applied(1), 1_000 + writer);
    }
    sessions.remember(key(0, 10, 1, 0, 0), applied(2), 50_000);
    assertThat(sessions.horizonMs()).isEqualTo(Sessions.NO_HORIZON);

    sessions.remember(key(20_000, 10, 0, 0, 0), applied(3), 60_000);

    assertThat(sessions.writers()).isEqualTo(Sessions.WRITERS_MAX);
    assertThat(sessions.horizonMs()).isEqualTo(1_001);
    assertThat(sessions.replay(key(0, 10, 1, 0, 0))).as("active later").contains(applied(2));
    assertThat(sessions.admits(key(1, 10, 1, 0, 0))).as("forgotten").isFalse();
    assertThat(sessions.admits(key(30_000, 1_001, 0, 0, 0))).as("not after").isFalse();
    assertThat(sessions.admits(key(30_000, 1_002, 0, 0, 0))).as("opened after").isTrue();
  }

  @Test
  void aWriterOpenedInTheFutureCountsAsActiveThen() {
    sessions.remember(key(0, 90_000, 0, 0, 0), applied(1), 1_000);
    for (int writer = 1; writer <= Sessions.WRITERS_MAX; writer++) {
      sessions.remember(key(writer, 10, 0, 0, 0), applied(1), 2_000);
    }

    assertThat(sessions.replay(key(0, 90_000, 0, 0, 0))).isPresent();
    assertThat(sessions.horizonMs()).isEqualTo(2_000);
  }

  @Test
  void aCheckpointHoldsThemAll() throws IOException {
    WriteOutcome.RowReject reject = new WriteOutcome.RowReject(3, ErrorCode.CONFLICT, "why");
    sessions.remember(key(1, 10, 3, 2, 0), new Applied(7, 2, List.of(reject), false), 100);
    sessions.remember(key(1, 10, 3, 2, 1), applied(8), 100);
    sessions.remember(key(2, 400, 0, 0, 0), applied(9), 200);

    byte[] bytes = SessionsCodec.encode(sessions);
    Sessions restored = SessionsCodec.decode(bytes, 55);

    assertThat(restored.horizonMs()).isEqualTo(55);
    assertThat(restored.replay(key(1, 10, 3, 0, 0)))
        .contains(new Applied(7, 2, List.of(reject), false));
    assertThat(restored.admits(key(1, 10, 1, 0, 0))).isFalse();
    assertThat(SessionsCodec.encode(restored)).isEqualTo(bytes);
  }

  private static WriteKey key(int writer, long openedAtMs, long seq, long ackedBelow, int piece) {
    return new WriteKey(new WriterId(new UUID(0, writer), openedAtMs), seq, ackedBelow, piece);
  }

  private static Applied applied(long index) {
    return new Applied(index, 1, List.of(), false);
  }
}
