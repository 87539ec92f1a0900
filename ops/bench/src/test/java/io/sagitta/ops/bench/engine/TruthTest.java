// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TruthTest {
  @TempDir private Path folder;
  private Truth truth;

  /** Rows on a quarter circle, the last one twice; one query along the first axis. */
  @BeforeEach
  void makeRows() throws IOException {
    truth = Truth.given(rows("base.f32"), new float[] {1, 0}, new int[] {2, 1, 3}, 3);
  }

  private VectorFile rows(String file) throws IOException {
    try (VectorFile.Writer rows = new VectorFile.Writer(folder.resolve(file), 2)) {
      for (double angle : new double[] {1.5, 0.2, 0.1, 0.3, 0.3}) {
        rows.add(new float[] {(float) Math.cos(angle), (float) Math.sin(angle)});
      }
      return rows.finish();
    }
  }

  private double recall(int... answers) throws IOException {
    return truth.recall(answers);
  }

  @Test
  void theTrueHitsInAnyOrderAreAllThereIs() throws IOException {
    assertThat(recall(2, 1, 3)).isEqualTo(1);
    assertThat(recall(3, 2, 1)).isEqualTo(1);
  }

  @Test
  void aRowAsGoodAsTheLastIsWorthAsMuch() throws IOException {
    assertThat(recall(2, 1, 4)).isEqualTo(1);
  }

  @Test
  void aWorseRowAMissingOneAndARepeatedOneCountNothing() throws IOException {
    assertThat(recall(2, 1, 0)).isEqualTo(2.0 / 3);
    assertThat(recall(2, 1, -1)).isEqualTo(2.0 / 3);
    assertThat(recall(2, 2, 2)).isEqualTo(1.0 / 3);
  }

  @Test
  void aPartOfTheQueriesMayBeAnsweredAlone() throws IOException {
    VectorFile rows = rows("other.f32");
    Truth two = Truth.given(rows, new float[] {1, 0, 0, 1}, new int[] {2, 1, 3, 0, 3, 4}, 3);
    assertThat(two.recalls(1, new int[] {0, 3, 4})).containsExactly(1);
    assertThat(two.recalls(1, new int[] {2, 1, 3})).containsExactly(1.0 / 3);
    assertThat(two.recalls(0, new int[] {2, 1, 3, 0, 3, 4})).containsExactly(1, 1);
    assertThatThrownBy(() -> two.recalls(1, new int[6])).isInstanceOf(IOException.class);
  }

  @Test
  void aRowThatDoesNotExistIsAnError() {
    assertThatThrownBy(() -> recall(2, 1, 5)).hasMessage("query 0 was answered with row 5");
  }

  @Test
  void anAnswerOfAnotherShapeIsAnError() {
    assertThatThrownBy(() -> recall(2, 1)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> recall(2, 1, 3, 2, 1, 3)).isInstanceOf(IOException.class);
  }
}
