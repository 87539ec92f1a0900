// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.flight.Command.IdText;
import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import java.util.List;
import org.junit.jupiter.api.Test;

class PointIdsTest {
  private static IdText number(String digits) {
    return new IdText(digits, false);
  }

  private static IdText text(String text) {
    return new IdText(text, true);
  }

  @Test
  void anInt64IsANumberOrItsDigitsAsText() {
    PointId large = new PointId.Int64(9_007_199_254_740_993L);
    assertThat(
            PointIds.of(
                IdType.INT64, List.of(number("9007199254740993"), text("9007199254740993"))))
        .containsExactly(large, large);
    assertThatThrownBy(() -> PointIds.of(IdType.INT64, List.of(number("1"), text("x"))))
        .hasMessageContaining("ids[1]: id 'x' is not an int64");
    assertThatThrownBy(() -> PointIds.of(IdType.INT64, text("9223372036854775808")))
        .hasMessageContaining("is not an int64");
  }

  @Test
  void textAndUuidsAreNeverNumbers() {
    assertThat(PointIds.of(IdType.UTF8, text("7"))).isEqualTo(new PointId.Utf8("7"));
    assertThatThrownBy(() -> PointIds.of(IdType.UTF8, number("7")))
        .hasMessage("id '7' is a number, expected a string");
    assertThatThrownBy(() -> PointIds.of(IdType.UUID, number("7")))
        .hasMessage("id '7' is a number, expected a string");
  }
}
