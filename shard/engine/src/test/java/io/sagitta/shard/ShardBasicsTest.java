// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PointId;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.model.WriteOutcome;
import io.sagitta.shard.store.FsStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShardBasicsTest {
  private static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.INT64,
          List.of(
              new VectorField(1, "v", VectorType.FLOAT32, 2, Metric.COSINE, false),
              new PayloadField(2, "tag", PayloadType.of(PayloadType.Kind.UTF8))));

  @TempDir Path directory;

  @Test
  void aRowIsFoundAfterItsPutAndAfterARestart() throws IOException {
    try (TestShard shard = TestShard.start(FsStore.open(directory), SCHEMA)) {
      WriteOutcome outcome =
          shard.upsert(List.of(row(1, "a", 1, 0), row(2, "b", 0, 1), row(3, null, 1, 1)));
      assertThat(outcome).isEqualTo(new WriteOutcome.Applied(1, 3, List.of(), false));
      for (int round = 0; round < 4; round++) {
        assertThat(shard.count()).isEqualTo(3);
        assertThat(shard.search("v", 2, Optional.empty(), 1, 0))
            .extracting(TestShard.Hit::id)
            .containsExactly(new PointId.Int64(1), new PointId.Int64(3));
        assertThat(shard.get(List.of(new PointId.Int64(3), new PointId.Int64(9)), "v", "tag"))
            .containsExactly(
                java.util.Arrays.asList(
                    PlainRows.int64(3), PlainRows.int64(1_001), PlainRows.floats(1, 1), null));
        if (round == 0) {
          shard.restart();
        } else if (round == 1) {
          shard.shard().requestCheckpoint();
          shard.restart();
          assertThat(shard.shard().recoveredIndex()).isEqualTo(1);
        } else if (round == 2) {
          shard.apply(io.sagitta.shard.log.ShardEntries.freeze(TestShard.ID, 1));
          shard.restart();
          assertThat(shard.shard().recoveredIndex()).isEqualTo(2);
        }
      }
    }
  }

  private static List<Object> row(long id, String tag, float... vector) {
    return java.util.Arrays.asList(
        PlainRows.int64(id), PlainRows.floats(vector), tag == null ? null : PlainRows.text(tag));
  }
}
