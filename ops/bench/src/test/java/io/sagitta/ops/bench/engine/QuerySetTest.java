// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.model.SagittaException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QuerySetTest {
  @TempDir private Path folder;

  private VectorFile pool() throws IOException {
    try (VectorFile.Writer pool = new VectorFile.Writer(folder.resolve("pool.f32"), 1)) {
      for (int i = 0; i < 50; i++) {
        pool.add(new float[] {i});
      }
      return pool.finish();
    }
  }

  private float[] draw(int count, long seed) throws IOException {
    return QuerySet.draw(pool(), count, seed, folder.resolve("queries.f32")).read();
  }

  @Test
  void queriesAreDifferentAndTheSeedSaysWhich() throws IOException {
    float[] drawn = draw(20, 1);
    assertThat(drawn).hasSize(20).doesNotHaveDuplicates();
    assertThat(draw(20, 1)).isEqualTo(drawn);
    assertThat(draw(20, 2)).isNotEqualTo(drawn);
  }

  @Test
  void allOfThePoolCanBeDrawn() throws IOException {
    float[] drawn = draw(50, 3);
    Arrays.sort(drawn);
    assertThat(drawn[0]).isZero();
    assertThat(drawn[49]).isEqualTo(49);
    assertThat(drawn).doesNotHaveDuplicates();
  }

  @Test
  void moreThanThePoolIsRefused() {
    assertThatThrownBy(() -> draw(51, 1))
        .isInstanceOf(SagittaException.class)
        .hasMessageContaining("only 50 vectors are held out");
  }
}
