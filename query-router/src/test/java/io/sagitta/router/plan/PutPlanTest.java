// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.flight.Command;
import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Field;
import io.sagitta.model.HashSlot;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PointId;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.model.SlotRange;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriterId;
import io.sagitta.router.plan.PutPlan.Piece;
import io.sagitta.router.rows.CanonicalRows;
import io.sagitta.router.rows.IdKeys;
import io.sagitta.router.rows.RowNormaliser;
import io.sagitta.router.rows.Sent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Seeded
class PutPlanTest {
  private final BufferAllocator allocator = new RootAllocator();

  @AfterEach
  void nothingLeaks() {
    allocator.close();
  }

  private static CollectionSchema schema(int version, Field... more) {
    List<Field> fields = new ArrayList<>();
    fields.add(new VectorField(1, "v", VectorType.FLOAT32, 2, Metric.L2, false));
    fields.add(new PayloadField(2, "tag", PayloadType.of(PayloadType.Kind.UTF8)));
    fields.addAll(List.of(more));
    return new CollectionSchema(version, IdType.INT64, fields);
  }

  private static ShardMap.Collection collection(CollectionSchema schema, int shards) {
    List<ShardMap.Shard> parts = new ArrayList<>();
    for (int i = 0; i < shards; i++) {
      parts.add(
          new ShardMap.Shard(
              new ShardId(new UUID(1, i)), i, SlotRange.part(i, shards), 1, List.of()));
    }
    return new ShardMap.Collection(new CollectionId(new UUID(2, 2)), "c", schema, parts, 0, 0);
  }

  private PutPlan plan(ShardMap.Collection collection, Long[] ids, String[] tags) {
    Command.Put put =
        new Command.Put(
            "c", WriteMode.UPSERT, Optional.of(new WriterId(new UUID(3, 3), 1)), Optional.empty());
    try (VectorSchemaRoot batch =
            Sent.root(
                Sent.int64(allocator, "id", ids),
                Sent.fixedList(allocator, "v", 2, new float[ids.length][2]),
                Sent.utf8(allocator, "tag", tags));
        CanonicalRows rows =
            RowNormaliser.compile(collection.schema(), put.mode(), batch.getSchema(), null)
                .normalise(batch, allocator)) {
      return PutPlan.of(collection, put, rows, OptionalLong.of(5), OptionalLong.of(2));
    }
  }

  @RepeatedTest(10)
  void everyLastRowIsInExactlyOnePieceOfItsShardInOrder(Seed seed) {
    RandomGenerator random = seed.random();
    int rows = random.nextInt(1, 400);
    Long[] ids = new Long[rows];
    String[] tags = new String[rows];
    TreeMap<Long, Integer> last = new TreeMap<>();
    for (int row = 0; row < rows; row++) {
      ids[row] = random.nextLong(300);
      tags[row] = "x".repeat(random.nextInt(20_000));
      last.put(ids[row], row);
    }
    ShardMap.Collection collection = collection(schema(1), random.nextInt(1, 5));
    PutPlan plan = plan(collection, ids, tags);
    List<Integer> found = new ArrayList<>();
    for (Piece piece : plan.pieces()) {
      assertThat(piece.rows().message().remaining())
          .isLessThanOrEqualTo(RowBatchCodec.PIECE_BYTES_MAX);
      assertThat(piece.sentRows()).isSorted().hasSize(piece.rows().rows());
      try (VectorSchemaRoot root =
          RowBatchCodec.decode(piece.rows(), collection.schema(), allocator)) {
        IdKeys keys = IdKeys.of(IdType.INT64, root.getVector(0));
        for (int row = 0; row < root.getRowCount(); row++) {
          PointId id = keys.id(row);
          int sent = piece.sentRows()[row];
          assertThat(id).isEqualTo(new PointId.Int64(ids[sent]));
          assertThat(piece.shard().slots().contains(HashSlot.of(id).value())).isTrue();
          assertThat(root.getVector("tag").getObject(row)).hasToString(tags[sent]);
          found.add(sent);
        }
      }
    }
    assertThat(found).containsExactlyInAnyOrderElementsOf(last.values());
    // Pieces of a shard are numbered from 0 and in row order.
    for (ShardMap.Shard shard : collection.shards()) {
      List<Piece> own = plan.pieces().stream().filter(p -> p.shard().equals(shard)).toList();
      for (int i = 0; i < own.size(); i++) {
        assertThat(own.get(i).key().orElseThrow().piece()).isEqualTo(i);
      }
      int[] order = own.stream().flatMapToInt(p -> Arrays.stream(p.sentRows())).toArray();
      assertThat(order).isSorted();
    }
  }

  @RepeatedTest(5)
  void theSameBatchIsCutTheSameWayAlsoUnderANewerSchema(Seed seed) {
    RandomGenerator random = seed.random();
    Long[] ids = new Long[300];
    String[] tags = new String[300];
    for (int row = 0; row < 300; row++) {
      ids[row] = random.nextLong(250);
      tags[row] = "y".repeat(random.nextInt(30_000));
    }
    PutPlan first = plan(collection(schema(1), 2), ids, tags);
    PutPlan again = plan(collection(schema(1), 2), ids, tags);
    PutPlan newer =
        plan(
            collection(
                schema(2, new PayloadField(3, "more", PayloadType.of(PayloadType.Kind.JSON))), 2),
            ids,
            tags);
    for (PutPlan other : List.of(again, newer)) {
      assertThat(other.pieces()).hasSameSizeAs(first.pieces());
      for (int i = 0; i < first.pieces().size(); i++) {
        assertThat(other.pieces().get(i).rows()).isEqualTo(first.pieces().get(i).rows());
        assertThat(other.pieces().get(i).key()).isEqualTo(first.pieces().get(i).key());
        assertThat(other.pieces().get(i).sentRows()).isEqualTo(first.pieces().get(i).sentRows());
      }
    }
  }

  @Test
  @Tag("B050")
  void aRowBeyondTheLimitIsRefusedByItsNumberInTheBatch() {
    assertThatThrownBy(
            () ->
                plan(
                    collection(schema(1), 1),
                    new Long[] {1L, 1L, 2L},
                    new String[] {"a", "b", "c".repeat(5 << 20)}))
        .isInstanceOfSatisfying(
            SagittaException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.LIMIT))
        .hasMessageContaining("row 2")
        .hasMessageContaining("983040");
  }
}
