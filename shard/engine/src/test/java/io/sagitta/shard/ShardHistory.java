// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Field;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PointId;
import io.sagitta.model.RowBatch;
import io.sagitta.model.ShardRead;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.model.WriteKey;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriteOutcome;
import io.sagitta.model.WriterId;
import io.sagitta.shard.index.IndexingOptions;
import io.sagitta.shard.log.ShardEntries;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.random.RandomGenerator;

/**
 * One random history: entries of every kind go to two replicas with different luck (checkpoints,
 * restarts, background work that lags) and to a {@link ShardModel}; what they answer and hold must
 * agree at every step, and views taken on the way must not change.
 */
final class ShardHistory implements AutoCloseable {
  private static final int IDS = 40;

  private final RandomGenerator random;
  private final RandomPoints points;
  private final ShardModel model;
  private final TestShard first;
  private final TestShard second;
  private final Deque<Runnable> lagging = new ArrayDeque<>();
  private final ManualScheduler indexing = new ManualScheduler();
  private final List<Pinned> pinned = new ArrayList<>();
  private final List<Keyed> keyed = new ArrayList<>();
  private final long[] nextSeq = new long[3];
  private final long[] ackedBelow = new long[3];
  private int nextFieldId;

  private record Pinned(ShardView view, ShardModel model) {}

  private record Keyed(
      ByteBuffer entry, int schemaVersion, WriteKey key, WriteOutcome.Applied outcome) {}

  ShardHistory(RandomGenerator random, FileStore firstStore, FileStore secondStore)
      throws IOException {
    this.random = random;
    this.points = new RandomPoints(random);
    CollectionSchema schema = points.schema();
    this.nextFieldId = schema.fields().size() + 1;
    this.model = new ShardModel(schema);
    this.first = new TestShard(firstStore, Runnable::run, 1, graphs(16));
    this.second = new TestShard(secondStore, lagging::add, 1_000, graphs(5));
    FreezePolicy freeze =
        new FreezePolicy(
            5 + random.nextInt(100), 1_000 + random.nextInt(100_000), 3 + random.nextInt(40));
    apply(ShardEntries.init(TestShard.init(schema, freeze), 1));
  }

  private Optional<IndexingOptions> graphs(int sliceRows) {
    return Optional.of(new IndexingOptions(indexing, 1, 0, sliceRows, () -> 0, () -> 0));
  }

  void run(int steps) throws IOException {
    for (int step = 0; step < steps; step++) {
      switch (random.nextInt(25)) {
        case 0, 1, 2, 3, 4, 5, 6, 7 -> putRandom();
        case 8 -> replay();
        case 9 -> stale();
        case 10 -> changeSchema();
        case 11 -> apply(ShardEntries.freeze(TestShard.ID, 1));
        case 12 -> chance().shard().requestCheckpoint();
        case 13 -> chance().restart();
        case 14 -> pin();
        case 15 -> unpin();
        case 16 -> runLagging();
        case 17 -> where();
        case 18, 19, 20 -> indexing.runSome(random.nextInt(4));
        default -> check(first.shard().view(), model, true);
      }
    }
    finish();
  }

  /** Every entry so far, in log order. */
  List<ByteBuffer> log() {
    return first.log;
  }

  private TestShard chance() {
    return random.nextBoolean() ? first : second;
  }

  /** Applies an entry to both; they must agree. */
  private WriteOutcome apply(ByteBuffer entry) throws IOException {
    WriteOutcome outcome = first.apply(entry);
    assertThat(second.apply(entry)).isEqualTo(outcome);
    return outcome;
  }

  private void putRandom() throws IOException {
    WriteMode mode = WriteMode.values()[random.nextInt(WriteMode.values().length)];
    List<Integer> columns = columns(mode);
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 1 + random.nextInt(random.nextInt(8) == 0 ? 40 : 5); i > 0; i--) {
      rows.add(row(columns));
    }
    Optional<WriteKey> key = random.nextInt(3) == 0 ? Optional.of(nextKey()) : Optional.empty();
    ByteBuffer entry = first.rows(mode, columns, rows, key);
    WriteOutcome.Applied applied = (WriteOutcome.Applied) apply(entry);

    ShardModel.Outcome expected = model.put(mode, columns, rows, first.index());
    assertThat(applied.index()).isEqualTo(first.index());
    assertThat(applied.replayed()).isFalse();
    assertThat(applied.rows()).isEqualTo(expected.rows());
    assertThat(applied.rejects().stream().map(r -> ShardModel.reject(r.row(), r.code())))
        .containsExactlyElementsOf(expected.rejects());
    key.ifPresent(k -> keyed.add(new Keyed(entry, model.schema.version(), k, applied)));
  }

  /**
   * The id, perhaps conditions, and some of the fields: all that may not be missing, where asked.
   */
  private List<Integer> columns(WriteMode mode) {
    List<Integer> columns = new ArrayList<>();
    columns.add(RowBatch.COLUMN_ID);
    if (random.nextInt(3) == 0) {
      columns.add(RowBatch.COLUMN_IF_VERSION);
    }
    if (mode != WriteMode.DELETE) {
      for (Field field : model.schema.fields()) {
        boolean needed =
            field instanceof VectorField v && !v.nullable() && mode != WriteMode.UPDATE;
        if (needed || random.nextInt(4) != 0) {
          columns.add(field.fieldId());
        }
      }
    }
    return columns;
  }

  private List<Object> row(List<Integer> columns) {
    PointId id = points.id(model.schema.idType(), IDS);
    List<Object> row = new ArrayList<>();
    for (int column : columns) {
      row.add(
          switch (column) {
            case RowBatch.COLUMN_ID -> PlainRows.id(id);
            case RowBatch.COLUMN_IF_VERSION -> condition(id);
            default -> points.value(model.schema.field(column).orElseThrow());
          });
    }
    return row;
  }

  private Object condition(PointId id) {
    ShardModel.Point point = model.points.get(id);
    return switch (random.nextInt(5)) {
      case 0 -> null;
      case 1 -> PlainRows.int64(0);
      case 2 -> PlainRows.int64(ShardModel.VERSION_BASE + random.nextInt(20));
      default -> PlainRows.int64(point == null ? 0 : point.version());
    };
  }

  private WriteKey nextKey() {
    int writer = random.nextInt(nextSeq.length);
    long seq = nextSeq[writer]++;
    if (random.nextInt(4) == 0) {
      ackedBelow[writer] = random.nextLong(ackedBelow[writer], seq + 1);
    }
    return new WriteKey(
        new WriterId(new UUID(1, writer), 1_000), seq, ackedBelow[writer], random.nextInt(2));
  }

  private void replay() throws IOException {
    if (keyed.isEmpty()) {
      return;
    }
    Keyed again = keyed.get(random.nextInt(keyed.size()));
    WriteOutcome outcome = apply(again.entry());
    int writer = (int) again.key().writer().uuid().getLeastSignificantBits();
    long forgottenBelow =
        keyed.stream()
            .filter(k -> k.key().writer().equals(again.key().writer()))
            .mapToLong(k -> k.key().ackedBelow())
            .max()
            .orElseThrow();
    assertThat(forgottenBelow).isLessThanOrEqualTo(ackedBelow[writer]);
    if (again.key().seq() >= forgottenBelow) {
      WriteOutcome.Applied was = again.outcome();
      assertThat(outcome)
          .isEqualTo(new WriteOutcome.Applied(was.index(), was.rows(), was.rejects(), true));
    } else if (again.schemaVersion() != model.schema.version()) {
      assertThat(outcome).isEqualTo(new WriteOutcome.StaleSchema(model.schema.version()));
    } else {
      assertThat(outcome).isEqualTo(new WriteOutcome.SessionExpired(Sessions.NO_HORIZON));
    }
  }

  /** A delete or a set by filter, resolved in a view that may be older than the entry. */
  private void where() throws IOException {
    RandomFilter.Case filter = RandomFilter.draw(random);
    Candidates candidates;
    try (ShardView view = first.shard().view()) {
      for (int i = random.nextInt(3); i > 0; i--) {
        putRandom();
      }
      candidates = view.resolve(filter.text(), first.allocator, StopSignal.NEVER);
    }
    if (random.nextInt(4) == 0) {
      candidates = new Candidates(candidates.viewIndex(), Optional.empty());
    }
    if (random.nextBoolean()) {
      WriteOutcome outcome = apply(first.deleteWhere(filter.text(), candidates));
      assertThat(outcome).isEqualTo(applied(model.deleteWhere(filter.matches())));
      return;
    }
    List<Field> payload =
        model.schema.fields().stream().filter(PayloadField.class::isInstance).toList();
    Map<Integer, Object> values = new HashMap<>();
    List<Integer> columns = new ArrayList<>();
    List<Object> row = new ArrayList<>();
    List<Integer> unset = new ArrayList<>();
    for (Field field : payload) {
      switch (random.nextInt(3)) {
        case 0 -> {
          Object value = points.value(field);
          columns.add(field.fieldId());
          row.add(value);
          values.put(field.fieldId(), value);
        }
        case 1 -> {
          unset.add(field.fieldId());
          values.put(field.fieldId(), null);
        }
        default -> {}
      }
    }
    if (values.isEmpty()) {
      return;
    }
    WriteOutcome outcome = apply(first.setWhere(filter.text(), columns, row, unset, candidates));
    assertThat(outcome).isEqualTo(applied(model.setWhere(filter.matches(), values, first.index())));
  }

  private WriteOutcome applied(int rows) {
    return new WriteOutcome.Applied(first.index(), rows, List.of(), false);
  }

  private void stale() throws IOException {
    List<Integer> columns = columns(WriteMode.UPSERT);
    RowBatch batch = PlainRows.batch(model.schema, columns, List.of(row(columns)), first.allocator);
    int version = model.schema.version();
    boolean oldMap = random.nextBoolean();
    WriteOutcome outcome =
        apply(
            ShardEntries.rows(
                new io.sagitta.model.ShardWrite.Rows(
                    TestShard.ID,
                    oldMap ? 0 : 1,
                    oldMap ? version : version + 1,
                    Optional.empty(),
                    "tester",
                    WriteMode.UPSERT,
                    batch),
                1));
    assertThat(outcome)
        .isEqualTo(
            oldMap ? new WriteOutcome.StaleShardMap(1) : new WriteOutcome.StaleSchema(version));
  }

  private void changeSchema() throws IOException {
    List<Field> fields = new ArrayList<>(model.schema.fields());
    if (random.nextBoolean()) {
      int fieldId = nextFieldId++;
      fields.add(
          random.nextInt(3) == 0
              ? points.vectorField(fieldId, true)
              : points.payloadField(fieldId));
    } else {
      List<Field> optional =
          fields.stream()
              .filter(f -> f.fieldId() > RandomPoints.TEXT)
              .filter(f -> !(f instanceof VectorField) || vectors(fields) > 1)
              .toList();
      if (optional.isEmpty()) {
        return;
      }
      fields.remove(optional.get(random.nextInt(optional.size())));
    }
    CollectionSchema next =
        new CollectionSchema(model.schema.version() + 1, model.schema.idType(), fields);
    assertThat(apply(ShardEntries.schemaChange(TestShard.ID, 1, next, 1)))
        .isInstanceOf(WriteOutcome.Applied.class);
    model.changeSchema(next);
  }

  private static long vectors(List<Field> fields) {
    return fields.stream().filter(VectorField.class::isInstance).count();
  }

  private void pin() {
    if (pinned.size() < 4) {
      pinned.add(new Pinned(chance().shard().view(), model.copy()));
    }
  }

  private void unpin() {
    if (!pinned.isEmpty()) {
      Pinned one = pinned.remove(random.nextInt(pinned.size()));
      check(one.view(), one.model(), true);
    }
  }

  private void runLagging() {
    for (int i = lagging.size(); i > 0; i--) {
      lagging.poll().run();
    }
  }

  /** Reads a view in every way; it must show the model. */
  private void check(ShardView view, ShardModel expected, boolean close) {
    Reads reads = new Reads(view, expected.schema.idType(), first.allocator);
    List<PointId> ids = new ArrayList<>(expected.points.keySet());
    assertThat(reads.count(Optional.empty())).isEqualTo(ids.size());
    assertThat(reads.scanIds(1 + random.nextInt(IDS), Optional.empty()))
        .containsExactlyElementsOf(ids);
    Collections.shuffle(ids, new java.util.Random(random.nextLong()));
    List<PointId> asked = new ArrayList<>(ids);
    asked.add(points.id(expected.schema.idType(), IDS * 2));
    String[] fields = expected.schema.fields().stream().map(Field::name).toArray(String[]::new);
    assertThat(reads.get(asked, fields))
        .containsExactlyElementsOf(
            asked.stream().filter(expected.points::containsKey).map(expected::row).toList());
    RandomFilter.Case filter = RandomFilter.draw(random);
    assertThat(reads.count(Optional.of(filter.text())))
        .isEqualTo(expected.points.values().stream().filter(filter.matches()).count());
    assertThat(reads.scanIds(1 + random.nextInt(IDS), Optional.of(filter.text())))
        .containsExactlyElementsOf(
            expected.points.entrySet().stream()
                .filter(e -> filter.matches().test(e.getValue()))
                .map(Map.Entry::getKey)
                .toList());
    for (VectorField field : expected.schema.vectorFields()) {
      checkSearch(reads, field, expected, Optional.empty());
      checkSearch(reads, field, expected, Optional.of(filter));
    }
    if (close) {
      view.close();
    }
  }

  private void checkSearch(
      Reads reads, VectorField field, ShardModel expected, Optional<RandomFilter.Case> filter) {
    Map<PointId, Object> candidates = new TreeMap<>();
    expected.points.forEach(
        (id, point) -> {
          if (point.values().containsKey(field.fieldId())
              && filter.map(f -> f.matches().test(point)).orElse(true)) {
            candidates.put(id, point.values().get(field.fieldId()));
          }
        });
    double[] query = BruteForce.components(field, points.vector(field));
    float[] floats = new float[query.length];
    for (int i = 0; i < query.length; i++) {
      floats[i] = (float) query[i];
      if (field.type() == VectorType.FLOAT32 || field.type() == VectorType.INT8) {
        floats[i] += random.nextInt(4) == 0 ? 0.25f : 0;
      }
      query[i] = floats[i];
    }
    int k = 1 + random.nextInt(IDS + 5);
    BruteForce.check(
        field,
        candidates,
        query,
        k,
        reads.search(field.name(), k, filter.map(RandomFilter.Case::text), floats));
    checkApproximate(reads, field, candidates, query, floats, filter);
  }

  /** By graph or not: as many hits as there can be, each a candidate, rightly scored, in order. */
  private void checkApproximate(
      Reads reads,
      VectorField field,
      Map<PointId, Object> candidates,
      double[] query,
      float[] floats,
      Optional<RandomFilter.Case> filter) {
    ShardRead.Effort effort =
        random.nextBoolean()
            ? new ShardRead.Effort.Recall(0.5 + random.nextInt(50) / 100.0)
            : new ShardRead.Effort.Ef(1 + random.nextInt(50));
    int k = 1 + random.nextInt(IDS + 5);
    List<TestShard.Hit> hits =
        reads.search(field.name(), k, filter.map(RandomFilter.Case::text), effort, floats);
    assertThat(hits).hasSize(Math.min(k, candidates.size()));
    Map<PointId, Object> found = new TreeMap<>();
    hits.forEach(hit -> found.put(hit.id(), candidates.get(hit.id())));
    assertThat(found).doesNotContainValue(null).hasSize(hits.size());
    BruteForce.check(field, found, query, hits.size() + 1, hits);
  }

  /** Ends with every view still right after both are closed, and both replicas the same on disk. */
  private void finish() throws IOException {
    apply(ShardEntries.freeze(TestShard.ID, 1));
    runLagging();
    check(first.shard().view(), model, true);
    check(second.shard().view(), model, true);
    assertThat(first.shard().digest()).isEqualTo(second.shard().digest());
    assertThat(segments(first)).isEqualTo(segments(second));
    assertThat(files(first)).isEqualTo(files(second));
    first.restart();
    check(first.shard().view(), model, true);
    assertThat(first.shard().digest()).isEqualTo(second.shard().digest());
  }

  private static List<String> segments(TestShard shard) {
    return shard.shard().state().segments().stream()
        .map(s -> s.name() + " " + s.stage() + " " + s.rows() + " " + s.liveRows())
        .toList();
  }

  private static List<CheckpointFile> files(TestShard shard) throws IOException {
    ShardCheckpoint checkpoint = shard.shard().checkpointed().orElseThrow();
    assertThat(checkpoint.index()).isEqualTo(shard.index());
    List<CheckpointFile> files =
        new ArrayList<>(
            io.sagitta.shard.format.Manifest.fromBytes(checkpoint.manifest(), "test").files());
    files.sort(java.util.Comparator.comparing(CheckpointFile::name));
    return files;
  }

  @Override
  public void close() {
    first.shard().close();
    second.shard().close();
    for (Pinned one : pinned) {
      check(one.view(), one.model(), true);
    }
    pinned.clear();
    for (TestShard shard : Arrays.asList(first, second)) {
      shard.close();
      for (MemoryBudget.Part part : MemoryBudget.Part.values()) {
        assertThat(shard.memory.bytes(part)).as("%s given back", part).isZero();
      }
    }
  }
}
