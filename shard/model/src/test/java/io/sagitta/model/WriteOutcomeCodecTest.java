// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WriteOutcomeCodecTest {
  private record Golden(WriteOutcome outcome, String hex) {}

  /** Bytes of version 1, which lie in logs and checkpoints: never to be changed. */
  static List<Golden> goldens() {
    return List.of(
        new Golden(
            new WriteOutcome.Applied(258, 3, List.of(), false),
            "010102010000000000000300000000" + "00000000"),
        new Golden(
            new WriteOutcome.Applied(
                1,
                0,
                List.of(
                    new WriteOutcome.RowReject(7, ErrorCode.CONFLICT, "n\u00e4h"),
                    new WriteOutcome.RowReject(8, ErrorCode.NOT_FOUND, "")),
                true),
            "010101000000000000000000000001"
                + "02000000"
                + ("07000000" + "08000000434f4e464c494354" + "040000006ec3a468")
                + ("08000000" + "090000004e4f545f464f554e44" + "00000000")),
        new Golden(new WriteOutcome.StaleShardMap(-1), "0102ffffffffffffffff"),
        new Golden(new WriteOutcome.StaleSchema(9), "010309000000"),
        new Golden(new WriteOutcome.SessionExpired(5), "01040500000000000000"),
        new Golden(
            new WriteOutcome.Refused(ErrorCode.LIMIT, "x"),
            "0105" + "050000004c494d4954" + "0100000078"));
  }

  @ParameterizedTest
  @MethodSource("goldens")
  void outcomesHaveTheBytesOfVersion1(Golden golden) {
    byte[] bytes = HexFormat.of().parseHex(golden.hex);
    assertThat(WriteOutcomeCodec.encode(golden.outcome)).isEqualTo(bytes);
    assertThat(WriteOutcomeCodec.decode(ByteBuffer.wrap(bytes))).isEqualTo(golden.outcome);
  }

  @ParameterizedTest
  @MethodSource("goldens")
  void cutOrLengthenedBytesAreCorrupt(Golden golden) {
    byte[] bytes = WriteOutcomeCodec.encode(golden.outcome);
    for (int length = 0; length <= bytes.length + 1; length++) {
      if (length != bytes.length) {
        ByteBuffer wrong = ByteBuffer.wrap(Arrays.copyOf(bytes, length));
        assertThatThrownBy(() -> WriteOutcomeCodec.decode(wrong))
            .isInstanceOf(SagittaException.class)
            .extracting(e -> ((SagittaException) e).code())
            .isEqualTo(ErrorCode.CORRUPT);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("goldens")
  void aFlippedBitGivesAnOutcomeOrCorruptButNothingElse(Golden golden) {
    byte[] bytes = WriteOutcomeCodec.encode(golden.outcome);
    for (int bit = 0; bit < bytes.length * 8; bit++) {
      byte[] wrong = bytes.clone();
      wrong[bit / 8] ^= (byte) (1 << bit % 8);
      try {
        WriteOutcomeCodec.decode(ByteBuffer.wrap(wrong));
      } catch (SagittaException e) {
        assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT);
      }
    }
  }
}
