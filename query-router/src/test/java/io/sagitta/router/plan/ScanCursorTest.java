// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.CollectionId;
import io.sagitta.model.CommitToken;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

@Seeded
class ScanCursorTest {
  private static final CollectionId COLLECTION = new CollectionId(new UUID(1, 2));

  @Test
  void aCursorReadsBackWhateverTheId() {
    for (PointId id :
        List.of(
            new PointId.Int64(Long.MIN_VALUE),
            new PointId.Utf8("\u00e9\0" + "x".repeat(500)),
            new PointId.Uuid(new UUID(-1, 5)))) {
      ScanCursor cursor =
          new ScanCursor(COLLECTION, id, new CommitToken(Map.of(new ShardId(new UUID(3, 4)), 99L)));
      assertThat(ScanCursor.parse(cursor.text(), COLLECTION)).isEqualTo(cursor);
      assertThatThrownBy(() -> ScanCursor.parse(cursor.text(), new CollectionId(new UUID(1, 3))))
          .isInstanceOf(SagittaException.class)
          .hasMessageContaining("another collection");
    }
  }

  @RepeatedTest(50)
  void whateverElseIsSentIsRefusedPlainly(Seed seed) {
    RandomGenerator random = seed.random();
    String good = new ScanCursor(COLLECTION, new PointId.Utf8("abc"), CommitToken.EMPTY).text();
    char[] text = good.toCharArray();
    text[random.nextInt(text.length)] = (char) random.nextInt(128);
    String bad = new String(text, 0, random.nextInt(text.length));
    assertThatThrownBy(() -> ScanCursor.parse(bad, COLLECTION))
        .isInstanceOf(SagittaException.class)
        .hasMessageContaining("cursor");
  }
}
