// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import io.sagitta.flight.internal.NotLeaderException;
import io.sagitta.flight.internal.ShardDoor.ShardAnswer;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.ReadMode;
import io.sagitta.model.RowBatch;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriteOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.util.Text;

/** Points (id, [id, 1], "t" + id) in and out of one shard, past the router. */
final class Points {
  static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.INT64,
          List.of(
              new VectorField(1, "v", VectorType.FLOAT32, 2, Metric.L2, false),
              new PayloadField(2, "tag", PayloadType.of(PayloadType.Kind.UTF8))));

  private Points() {}

  static RowBatch rows(long from, int count) {
    try (BufferAllocator allocator = new RootAllocator();
        VectorSchemaRoot root =
            VectorSchemaRoot.create(
                ArrowSchemas.batchSchema(SCHEMA, List.of(0, 1, 2)), allocator)) {
      BigIntVector ids = (BigIntVector) root.getVector(0);
      FixedSizeListVector vectors = (FixedSizeListVector) root.getVector(1);
      Float4Vector components = (Float4Vector) vectors.getDataVector();
      VarCharVector tags = (VarCharVector) root.getVector(2);
      for (int i = 0; i < count; i++) {
        ids.setSafe(i, from + i);
        vectors.setNotNull(i);
        components.setSafe(2 * i, (float) (from + i));
        components.setSafe(2 * i + 1, 1);
        tags.setSafe(i, new Text("t" + (from + i)));
      }
      vectors.setValueCount(count);
      root.setRowCount(count);
      return RowBatchCodec.encode(root, List.of(0, 1, 2));
    }
  }

  /** Puts on the shard's leader, whichever of the members that is; retries while there is none. */
  static WriteOutcome.Applied put(
      TestMembers members, int nodes, String name, long from, int count) {
    return put(members, IntStream.rangeClosed(1, nodes).toArray(), name, from, count);
  }

  /** The same among these members. */
  static WriteOutcome.Applied put(
      TestMembers members, int[] nodes, String name, long from, int count) {
    long end = System.nanoTime() + TestMembers.PATIENCE.toNanos();
    RuntimeException last = null;
    while (System.nanoTime() - end < 0) {
      for (int i : nodes) {
        try {
          Member member = members.member(i);
          ShardMap map = member.cluster().map();
          ShardMap.Shard shard = map.requireCollection(name).shards().getFirst();
          return (WriteOutcome.Applied)
              member
                  .shards()
                  .orElseThrow()
                  .write(
                      new ShardWrite.Rows(
                          shard.id(),
                          map.epoch(),
                          1,
                          Optional.empty(),
                          "test",
                          WriteMode.UPSERT,
                          rows(from, count)),
                      TestMembers.call())
                  .join();
        } catch (CompletionException | SagittaException e) {
          Throwable cause = e instanceof CompletionException ? e.getCause() : e;
          boolean retry =
              cause instanceof NotLeaderException
                  || cause instanceof SagittaException s
                      && switch (s.code()) {
                        // What may have been applied are upserts: once more is the same.
                        case UNAVAILABLE, NOT_FOUND, OUTCOME_UNKNOWN -> true;
                        default -> false;
                      };
          if (!retry) {
            throw e;
          }
          last = e;
        }
      }
    }
    throw new AssertionError("no member took the write", last);
  }

  /** Ids of the k nearest to [x, 1], as a member reads its own replica. */
  static List<Long> search(Member member, String name, float x, int k, ReadMode mode) {
    ShardMap.Shard shard = member.cluster().map().requireCollection(name).shards().getFirst();
    ShardRead.Search search =
        new ShardRead.Search(
            shard.id(),
            mode,
            "v",
            new ShardRead.QueryVectors(1, 2, new float[] {x, 1}),
            k,
            Optional.empty(),
            new ShardRead.Effort.Exact(),
            OptionalDouble.empty(),
            List.of("tag"),
            false,
            Optional.empty());
    try (ShardAnswer answer =
        member.shards().orElseThrow().read(search, TestMembers.call()).join()) {
      List<Long> ids = new ArrayList<>();
      BigIntVector column = (BigIntVector) answer.rows().getVector("id");
      for (int row = 0; row < answer.rows().getRowCount(); row++) {
        ids.add(column.get(row));
      }
      return ids;
    }
  }

  static long count(Member member, String name, ReadMode mode) {
    ShardMap.Shard shard = member.cluster().map().requireCollection(name).shards().getFirst();
    try (ShardAnswer answer =
        member
            .shards()
            .orElseThrow()
            .read(new ShardRead.Count(shard.id(), mode, Optional.empty()), TestMembers.call())
            .join()) {
      return ((BigIntVector) answer.rows().getVector("count")).get(0);
    }
  }
}
