// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.HashSlot;
import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VarCharVector;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Seeded
class LastRowsTest {

  @Tag("B014")
  @RepeatedTest(20)
  void theLastRowOfEachIdCounts(Seed seed) {
    RandomGenerator random = seed.random();
    int rows = random.nextInt(1, 500);
    String[] ids = new String[rows];
    Map<String, Integer> last = new HashMap<>();
    for (int row = 0; row < rows; row++) {
      ids[row] = "id" + random.nextInt(200);
      last.put(ids[row], row);
    }
    try (BufferAllocator allocator = new RootAllocator();
        VarCharVector column = Sent.utf8(allocator, "id", ids)) {
      LastRows kept = LastRows.of(IdKeys.of(IdType.UTF8, column), rows);
      assertThat(kept.rows())
          .containsExactly(
              new TreeSet<>(last.values()).stream().mapToInt(Integer::intValue).toArray());
      assertThat(kept.superseded()).isEqualTo(rows - last.size());
      for (int row = 0; row < rows; row++) {
        assertThat(HashSlot.ofHash(kept.hash(row)))
            .isEqualTo(HashSlot.of(new PointId.Utf8(ids[row])).value());
      }
    }
  }

  @Test
  void batchesShareIdsOnlyWhereOneIsInBoth() {
    try (BufferAllocator allocator = new RootAllocator();
        VarCharVector a = Sent.utf8(allocator, "id", "a", "b", "c");
        VarCharVector b = Sent.utf8(allocator, "id", "c", "d");
        VarCharVector c = Sent.utf8(allocator, "id", "e")) {
      LastRows first = LastRows.of(IdKeys.of(IdType.UTF8, a), 3);
      LastRows second = LastRows.of(IdKeys.of(IdType.UTF8, b), 2);
      LastRows third = LastRows.of(IdKeys.of(IdType.UTF8, c), 1);
      assertThat(first.mayShareIds(second)).isTrue();
      assertThat(second.mayShareIds(first)).isTrue();
      assertThat(first.mayShareIds(third)).isFalse();
      assertThat(third.mayShareIds(second)).isFalse();
    }
  }
}
