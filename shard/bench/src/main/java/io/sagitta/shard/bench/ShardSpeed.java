// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.bench;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.ReadMode;
import io.sagitta.model.RowBatch;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.SlotRange;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriteOutcome;
import io.sagitta.shard.FreezePolicy;
import io.sagitta.shard.MemoryBudget;
import io.sagitta.shard.ReadResult;
import io.sagitta.shard.Shard;
import io.sagitta.shard.ShardInit;
import io.sagitta.shard.ShardOptions;
import io.sagitta.shard.ShardView;
import io.sagitta.shard.StopSignal;
import io.sagitta.shard.log.ShardEntries;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;

/**
 * How fast one shard applies and scans on this machine: {@code ShardSpeed FOLDER [rows [dimension
 * [rows-per-entry]]]}. Entries are made before the clock starts and applied as a replica would,
 * with flushes to the folder in the background; times of the apply thread are its CPU time, so that
 * other work on the machine does not count. Checks that what it put is found.
 */
public final class ShardSpeed {
  private static final ShardId SHARD = new ShardId(new UUID(1, 1));

  private final int rows;
  private final int dimension;
  private final int rowsPerEntry;
  private final CollectionSchema schema;
  private final SplittableRandom random = new SplittableRandom(42);

  private ShardSpeed(int rows, int dimension, int rowsPerEntry) {
    this.rows = rows;
    this.dimension = dimension;
    this.rowsPerEntry = rowsPerEntry;
    this.schema =
        new CollectionSchema(
            1,
            IdType.INT64,
            List.of(
                new VectorField(1, "v", VectorType.FLOAT32, dimension, Metric.COSINE, false),
                new PayloadField(2, "tag", PayloadType.of(PayloadType.Kind.UTF8)),
                new PayloadField(3, "n", PayloadType.of(PayloadType.Kind.INT64))));
  }

  /** Runs it. */
  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[0]);
    int rows = args.length > 1 ? Integer.parseInt(args[1]) : 100_000;
    int dimension = args.length > 2 ? Integer.parseInt(args[2]) : 384;
    int rowsPerEntry = args.length > 3 ? Integer.parseInt(args[3]) : 500;
    new ShardSpeed(rows, dimension, rowsPerEntry).run(folder);
  }

  private void run(Path folder) throws IOException {
    try (ExecutorService background = Executors.newSingleThreadExecutor();
        BufferAllocator allocator = new RootAllocator();
        Shard shard =
            Shard.open(
                folder, new ShardOptions(background, new MemoryBudget(4L << 30), 8), allocator)) {
      shard.apply(
          1,
          0,
          ShardEntries.init(
              new ShardInit(
                  SHARD,
                  new CollectionId(new UUID(2, 2)),
                  0,
                  1,
                  SlotRange.ALL,
                  schema,
                  0,
                  FreezePolicy.DEFAULT),
              0));
      long index = applyAll("first, cold", shard, 1, allocator);
      index = applyAll("replacing all", shard, index, allocator);
      applyAll("replacing all", shard, index, allocator);
      search(shard, 1, allocator);
      search(shard, 16, allocator);
    }
  }

  private long applyAll(String what, Shard shard, long firstIndex, BufferAllocator allocator)
      throws IOException {
    long cpuNs = 0;
    long wallNs = 0;
    long index = firstIndex;
    for (int from = 0; from < rows; ) {
      List<ByteBuffer> entries = new ArrayList<>();
      for (int i = 0; i < 64 && from < rows; i++) {
        int count = Math.min(rowsPerEntry, rows - from);
        entries.add(entry(from, count, allocator));
        from += count;
      }
      long cpu = cpuNs();
      long wall = System.nanoTime();
      for (ByteBuffer entry : entries) {
        if (!(shard.apply(1, index++, entry) instanceof WriteOutcome.Applied applied)
            || applied.rows() == 0) {
          throw new IllegalStateException("entry " + (index - 1) + " was not applied");
        }
      }
      cpuNs += cpuNs() - cpu;
      wallNs += System.nanoTime() - wall;
    }
    System.out.printf(
        "apply %s: %,.0f rows/s of CPU, %,.0f rows/s by the clock, %,.0f MB/s of vectors%n",
        what, rows * 1e9 / cpuNs, rows * 1e9 / wallNs, rows * 4e3 * dimension / cpuNs);
    return index;
  }

  private void search(Shard shard, int queries, BufferAllocator allocator) {
    float[] values = new float[queries * dimension];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    ShardRead.Search search =
        new ShardRead.Search(
            SHARD,
            ReadMode.ANY,
            "v",
            new ShardRead.QueryVectors(queries, dimension, values),
            10,
            Optional.empty(),
            new ShardRead.Effort.Exact(),
            OptionalDouble.empty(),
            List.of("tag"),
            false,
            Optional.empty());
    long best = Long.MAX_VALUE;
    for (int round = 0; round < 30; round++) {
      try (ShardView view = shard.view()) {
        long began = cpuNs();
        try (ReadResult result = view.search(search, allocator, StopSignal.NEVER)) {
          if (result.rows().getRowCount() != 10 * queries) {
            throw new IllegalStateException(result.rows().getRowCount() + " hits");
          }
        }
        best = Math.min(best, cpuNs() - began);
      }
    }
    System.out.printf(
        "exact search of %d vectors at once: %.2f ms, %,.0f rows/s for each, %.1f GB/s of vectors%n",
        queries, best / 1e6, rows * 1e9 / best, rows * 4.0 * dimension / best);
  }

  private ByteBuffer entry(int firstId, int count, BufferAllocator allocator) {
    List<Integer> columns = List.of(RowBatch.COLUMN_ID, 1, 2, 3);
    try (VectorSchemaRoot root =
        VectorSchemaRoot.create(ArrowSchemas.batchSchema(schema, columns), allocator)) {
      root.getFieldVectors().forEach(vector -> vector.setInitialCapacity(count));
      root.allocateNew();
      BigIntVector ids = (BigIntVector) root.getVector(0);
      FixedSizeListVector vectors = (FixedSizeListVector) root.getVector(1);
      Float4Vector items = (Float4Vector) vectors.getDataVector();
      VarCharVector tags = (VarCharVector) root.getVector(2);
      BigIntVector numbers = (BigIntVector) root.getVector(3);
      byte[] tag = "category".getBytes(java.nio.charset.StandardCharsets.UTF_8);
      for (int row = 0; row < count; row++) {
        ids.setSafe(row, firstId + row);
        vectors.startNewValue(row);
        for (int i = 0; i < dimension; i++) {
          items.setSafe(row * dimension + i, random.nextFloat() - 0.5f);
        }
        tags.setSafe(row, tag);
        numbers.setSafe(row, row);
      }
      root.setRowCount(count);
      RowBatch batch = RowBatchCodec.encode(root, columns);
      return ShardEntries.rows(
          new ShardWrite.Rows(SHARD, 1, 1, Optional.empty(), "bench", WriteMode.UPSERT, batch), 0);
    }
  }

  private static long cpuNs() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
