// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Field;
import io.sagitta.model.FilterText;
import io.sagitta.model.PointId;
import io.sagitta.model.RowBatch;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.SlotRange;
import io.sagitta.model.WriteKey;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriteOutcome;
import io.sagitta.shard.index.IndexingOptions;
import io.sagitta.shard.log.ShardEntries;
import io.sagitta.shard.store.DiskRoom;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executor;
import org.apache.arrow.memory.RootAllocator;

/**
 * A shard with a log of its own to replay, for tests. Background work runs at once on the calling
 * thread unless another executor is given. Closing it fails when memory has leaked.
 */
final class TestShard implements AutoCloseable {
  static final ShardId ID = new ShardId(new UUID(7, 7));
  static final CollectionId COLLECTION = new CollectionId(new UUID(9, 9));

  final RootAllocator allocator = new RootAllocator();
  final MemoryBudget memory = new MemoryBudget(1L << 30, 1L << 30);
  final List<ByteBuffer> log = new ArrayList<>();
  private final FileStore store;
  private final ShardOptions options;

  /** Whether there is room for checkpoints and for graphs. */
  boolean roomForCheckpoints = true;

  boolean roomForGraphs = true;
  private final DiskRoom room =
      new DiskRoom() {
        @Override
        public boolean forCheckpoint(long bytes) {
          return roomForCheckpoints;
        }

        @Override
        public boolean forDerived(long bytes) {
          return roomForGraphs;
        }
      };

  private Shard shard;
  private long timeMs = 1_000;

  TestShard(FileStore store, Executor background, int frozenWaitingMax) throws IOException {
    this(store, background, frozenWaitingMax, Optional.empty());
  }

  TestShard(
      FileStore store,
      Executor background,
      int frozenWaitingMax,
      Optional<IndexingOptions> indexing)
      throws IOException {
    this.store = store;
    this.options = new ShardOptions(background, memory, frozenWaitingMax, indexing, room);
    this.shard = Shard.open(store, options, allocator);
  }

  /** A shard of all slots that has been initialised. */
  static TestShard start(FileStore store, CollectionSchema schema) throws IOException {
    return start(store, schema, FreezePolicy.DEFAULT);
  }

  static TestShard start(FileStore store, CollectionSchema schema, FreezePolicy freeze)
      throws IOException {
    TestShard started = new TestShard(store, Runnable::run, 2);
    started.apply(ShardEntries.init(init(schema, freeze), started.timeMs));
    return started;
  }

  static ShardInit init(CollectionSchema schema, FreezePolicy freeze) {
    return new ShardInit(ID, COLLECTION, 0, 1, SlotRange.ALL, schema, 1_000, freeze);
  }

  Shard shard() {
    return shard;
  }

  CollectionSchema schema() {
    return shard.state().schema();
  }

  long timeMs() {
    return timeMs;
  }

  /** Index of the last entry. */
  long index() {
    return log.size() - 1L;
  }

  /** Appends to the log and applies. */
  WriteOutcome apply(ByteBuffer entry) throws IOException {
    timeMs++;
    log.add(entry);
    return shard.apply(1, index(), entry.duplicate());
  }

  WriteOutcome put(WriteMode mode, List<Integer> columns, List<List<Object>> rows)
      throws IOException {
    return put(mode, columns, rows, Optional.empty());
  }

  WriteOutcome put(
      WriteMode mode, List<Integer> columns, List<List<Object>> rows, Optional<WriteKey> key)
      throws IOException {
    return apply(rows(mode, columns, rows, key));
  }

  /** Upserts whole rows: the id and every field. */
  WriteOutcome upsert(List<List<Object>> rows) throws IOException {
    return put(WriteMode.UPSERT, allColumns(schema()), rows);
  }

  WriteOutcome delete(PointId... ids) throws IOException {
    List<List<Object>> rows = new ArrayList<>();
    for (PointId id : ids) {
      rows.add(List.of(PlainRows.id(id)));
    }
    return put(WriteMode.DELETE, List.of(RowBatch.COLUMN_ID), rows);
  }

  ByteBuffer rows(
      WriteMode mode, List<Integer> columns, List<List<Object>> rows, Optional<WriteKey> key) {
    RowBatch batch = PlainRows.batch(schema(), columns, rows, allocator);
    return ShardEntries.rows(
        new ShardWrite.Rows(ID, 1, schema().version(), key, "tester", mode, batch), timeMs);
  }

  WriteOutcome deleteWhere(String filter, Object... params) throws IOException {
    FilterText text = filter(filter, params);
    return apply(deleteWhere(text, resolve(text)));
  }

  ByteBuffer deleteWhere(FilterText filter, Candidates candidates) {
    return ShardEntries.deleteWhere(
        new ShardWrite.DeleteWhere(ID, 1, schema().version(), Optional.empty(), "tester", filter),
        candidates,
        timeMs);
  }

  /** Sets the columns to the one row's values and unsets others; no column for no values. */
  ByteBuffer setWhere(
      FilterText filter,
      List<Integer> columns,
      List<Object> row,
      List<Integer> unset,
      Candidates candidates) {
    Optional<RowBatch> values =
        columns.isEmpty()
            ? Optional.empty()
            : Optional.of(PlainRows.batch(schema(), columns, List.of(row), allocator));
    return ShardEntries.setWhere(
        new ShardWrite.SetWhere(
            ID, 1, schema().version(), Optional.empty(), "tester", filter, values, unset),
        candidates,
        timeMs);
  }

  Candidates resolve(FilterText filter) {
    try (ShardView view = shard.view()) {
      return view.resolve(filter, allocator, StopSignal.NEVER);
    }
  }

  /** Closes and opens the shard, and replays the log from the checkpoint on. */
  void restart() throws IOException {
    shard.close();
    reopen();
  }

  void reopen() throws IOException {
    shard = Shard.open(store, options, allocator);
    for (long index = shard.recoveredIndex() + 1; index < log.size(); index++) {
      shard.apply(1, index, log.get((int) index).duplicate());
    }
  }

  List<List<Object>> get(List<PointId> ids, String... fields) {
    try (ShardView view = shard.view()) {
      return reads(view).get(ids, fields);
    }
  }

  long count() {
    try (ShardView view = shard.view()) {
      return reads(view).count(Optional.empty());
    }
  }

  long count(String filter, Object... params) {
    try (ShardView view = shard.view()) {
      return reads(view).count(Optional.of(filter(filter, params)));
    }
  }

  List<PointId> scanIds(int limit) {
    try (ShardView view = shard.view()) {
      return reads(view).scanIds(limit, Optional.empty());
    }
  }

  /** Ids that match, in order. */
  List<PointId> matching(String filter, Object... params) {
    try (ShardView view = shard.view()) {
      return reads(view).scanIds(100, Optional.of(filter(filter, params)));
    }
  }

  List<Hit> search(String field, int k, Optional<FilterText> filter, float... query) {
    try (ShardView view = shard.view()) {
      return reads(view).search(field, k, filter, query);
    }
  }

  Reads reads(ShardView view) {
    return new Reads(view, schema().idType(), allocator);
  }

  static FilterText filter(String text, Object... params) {
    return new FilterText(text, Arrays.asList(params));
  }

  record Hit(PointId id, float score) {}

  static List<Integer> allColumns(CollectionSchema schema) {
    List<Integer> columns = new ArrayList<>();
    columns.add(RowBatch.COLUMN_ID);
    schema.fields().stream().map(Field::fieldId).forEach(columns::add);
    return columns;
  }

  /** Fails where memory is still held. */
  @Override
  public void close() {
    shard.close();
    allocator.close();
  }
}
