// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.VectorType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

@Seeded
class StoredComponentsTest {

  private static float fromBrain(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  @Test
  void aBrainFloatIsTheNearestOneTiesToEven(Seed seed) {
    SplittableRandom random = new SplittableRandom(seed.value());
    for (int i = 0; i < 10_000; i++) {
      float value = (float) random.nextGaussian();
      short stored = StoredComponents.brain(value);
      float distance = Math.abs(fromBrain(stored) - value);
      assertThat(distance).isLessThanOrEqualTo(Math.abs(fromBrain((short) (stored + 1)) - value));
      assertThat(distance).isLessThanOrEqualTo(Math.abs(fromBrain((short) (stored - 1)) - value));
    }
    assertThat(StoredComponents.brain(Float.intBitsToFloat(0x3f808000))).isEqualTo((short) 0x3f80);
    assertThat(StoredComponents.brain(Float.intBitsToFloat(0x3f818000))).isEqualTo((short) 0x3f82);
  }

  @Test
  void theGreatestComponentOfAnInt8VectorIs127() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(3);
      StoredComponents.write(VectorType.INT8, new float[] {0.1f, -0.4f, 0.2f}, out);
      assertThat(out.toArray(ValueLayout.JAVA_BYTE))
          .containsExactly((byte) 32, (byte) -127, (byte) 64);
    }
  }
}
