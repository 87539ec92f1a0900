// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PointId;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.shard.log.ShardEntries;
import io.sagitta.shard.store.CrashableStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Readers and the background beside apply. */
class ShardReadersTest {
  private static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.INT64,
          List.of(new VectorField(1, "v", VectorType.FLOAT32, 4, Metric.L2, false)));

  @Test
  void manyTinyEntriesEndUpInFewChunks() throws IOException {
    try (TestShard shard = TestShard.start(new CrashableStore(), SCHEMA)) {
      for (int id = 0; id < 3_000; id++) {
        shard.upsert(List.of(row(id, id)));
      }
      long bytes = shard.shard().state().segments().getFirst().bytes();
      assertThat(shard.memory.bytes(MemoryBudget.Part.GROWING))
          .as("%s bytes of columns", bytes)
          .isLessThan(12 * bytes);
      assertThat(shard.count()).isEqualTo(3_000);
      assertThat(shard.get(List.of(new PointId.Int64(2_999)), "v").getFirst().get(2))
          .isEqualTo(PlainRows.floats(2_999, 0, 0, 0));
    }
  }

  /**
   * Every entry replaces all ten points by ones of its own number: a view must show ten points of
   * one entry, whatever freezes, flushes and joins go on.
   */
  @Test
  void aViewShowsWholeEntriesWhileApplyGoesOn() throws Exception {
    try (ExecutorService background = Executors.newSingleThreadExecutor();
        ExecutorService readers = Executors.newFixedThreadPool(2);
        TestShard shard = new TestShard(new CrashableStore(), background, 2)) {
      shard.apply(
          ShardEntries.init(TestShard.init(SCHEMA, new FreezePolicy(300, 1L << 20, 50)), 1));
      AtomicBoolean done = new AtomicBoolean();
      List<Future<Integer>> reads = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        reads.add(readers.submit(() -> readUntil(done, shard)));
      }
      for (int entry = 1; entry <= 600; entry++) {
        List<List<Object>> rows = new ArrayList<>();
        for (int id = 0; id < 10; id++) {
          rows.add(row(id, entry));
        }
        shard.upsert(rows);
      }
      done.set(true);
      for (Future<Integer> read : reads) {
        assertThat(read.get()).isPositive();
      }
    }
  }

  private static int readUntil(AtomicBoolean done, TestShard shard) {
    int views = 0;
    List<PointId> ids = new ArrayList<>();
    for (int id = 0; id < 10; id++) {
      ids.add(new PointId.Int64(id));
    }
    while (!done.get() || views == 0) {
      try (ShardView view = shard.shard().view()) {
        if (view.index() < 1) {
          continue;
        }
        Reads reads = new Reads(view, IdType.INT64, shard.allocator);
        String expected = PlainRows.floats((float) view.index(), 0, 0, 0);
        assertThat(reads.count(Optional.empty())).isEqualTo(10);
        assertThat(reads.scanIds(100, Optional.empty())).isEqualTo(ids);
        assertThat(reads.get(ids, "v"))
            .hasSize(10)
            .allSatisfy(row -> assertThat(row.get(2)).isEqualTo(expected));
        assertThat(reads.search("v", 20, Optional.empty(), (float) view.index(), 0, 0, 0))
            .hasSize(10)
            .allSatisfy(hit -> assertThat(hit.score()).isZero());
        views++;
      }
    }
    return views;
  }

  private static List<Object> row(long id, float value) {
    return List.of(PlainRows.int64(id), PlainRows.floats(value, 0, 0, 0));
  }
}
