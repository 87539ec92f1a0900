// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.model.PayloadType;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VarCharVector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ValueCheckTest {
  private static void check(PayloadType.Kind kind, byte[] text) throws BadValueException {
    try (BufferAllocator allocator = new RootAllocator();
        VarCharVector vector = new VarCharVector("v", allocator)) {
      vector.allocateNew(text.length, 1);
      vector.set(0, text);
      vector.setValueCount(1);
      ValueCheck.of(kind).orElseThrow().check(vector, 0);
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "NaN | is not JSON: Non-standard token 'NaN' at line 1, column",
        "[1, 2 | is not JSON: it ends in the middle of a value",
        "{\"a\":1} 2 | is not one JSON document",
        "nul | is not JSON: Unrecognized token 'nul'",
      })
  void whatIsNoJsonIsRefusedInPlainWords(String json, String message) {
    assertPlain(json, message);
  }

  @Test
  void whatGoesBeyondALimitOfJsonIsRefusedInPlainWords() {
    assertPlain("[".repeat(1_001) + "]".repeat(1_001), "the depth of nesting (1001) exceeds");
    assertPlain("1" + "0".repeat(1_000), "1001");
  }

  private static void assertPlain(String json, String message) {
    assertThatThrownBy(() -> check(PayloadType.Kind.JSON, utf8(json)))
        .isInstanceOf(BadValueException.class)
        .hasMessageContaining(message)
        .message()
        .doesNotContain("Stream", "Feature", "Constraints", "Source", "`");
  }

  @Test
  void bytesThatAreNoUtf8AreRefusedAndHalfACharacterMayBeEscaped() {
    byte[] broken = utf8("\"a?\"");
    broken[2] = (byte) 0xff;
    assertThatThrownBy(() -> check(PayloadType.Kind.JSON, broken))
        .hasMessageContaining("not valid UTF-8 at byte 2");
    assertThatThrownBy(() -> check(PayloadType.Kind.UTF8, broken))
        .hasMessageContaining("not valid UTF-8 at byte 2");
    assertThatCode(() -> check(PayloadType.Kind.JSON, utf8("\"\\ud800\"")))
        .doesNotThrowAnyException();
  }
}
