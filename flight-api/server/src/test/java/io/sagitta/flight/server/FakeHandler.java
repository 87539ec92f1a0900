// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import io.sagitta.flight.Certificate;
import io.sagitta.flight.Command;
import io.sagitta.flight.PutAck;
import io.sagitta.flight.RequestHandler;
import io.sagitta.flight.SchemaJson;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.WriterId;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * A handler that keeps points in a map: one shard, every answer exact, every put at once. It
 * accepts what {@link TableReader} can read and answers in canonical columns. Tests change its mind
 * through {@link #puts} and {@link #reads}.
 */
final class FakeHandler implements RequestHandler {
  /** What happens to the next puts, in order; without a script they are applied. */
  interface PutScript {
    CompletableFuture<PutReply> put(Supplier<PutReply> apply);
  }

  /** A point as it was put last. */
  record Stored(long version, Map<String, Object> values) {}

  /** A collection and its points in id order. */
  static final class Table {
    final Command.CreateSpec spec;
    final NavigableMap<PointId, Stored> points = new ConcurrentSkipListMap<>();

    Table(Command.CreateSpec spec) {
      this.spec = spec;
    }

    CollectionSchema schema() {
      return spec.schema();
    }
  }

  final NavigableMap<String, Table> tables = new ConcurrentSkipListMap<>();
  final List<PutScript> puts = new ArrayList<>();
  final List<Supplier<RuntimeException>> reads = new ArrayList<>();
  final AtomicInteger putCalls = new AtomicInteger();

  /** Puts that took effect, replays not counted. */
  final AtomicInteger applied = new AtomicInteger();

  final AtomicInteger cancelled = new AtomicInteger();
  final List<Call> calls = new ArrayList<>();

  private final BufferAllocator allocator;

  /** Runs on a scan's thread before each of its batches. */
  volatile Runnable beforeScanBatch = () -> {};

  private final Executor scans;
  private final Map<WriterId, Map<Long, byte[]>> outcomes = new HashMap<>();
  private long index;

  FakeHandler(BufferAllocator allocator, Executor scans) {
    this.allocator = allocator;
    this.scans = scans;
  }

  private synchronized void arrive(Call call) {
    calls.add(call);
    call.onCancel().accept(cancelled::incrementAndGet);
    if (!reads.isEmpty()) {
      RuntimeException failure = reads.removeFirst().get();
      if (failure != null) {
        throw failure;
      }
    }
  }

  /** A collection; one called {@code fail-code} always fails with that code. */
  Table table(String name) {
    for (ErrorCode code : ErrorCode.values()) {
      if (name.equals("fail-" + code.name().toLowerCase(Locale.ROOT))) {
        throw new SagittaException(code, "as asked", 150, null);
      }
    }
    Table table = tables.get(name);
    if (table == null) {
      throw SagittaException.notFound("no collection '" + name + "'");
    }
    return table;
  }

  // ---- reads

  @Override
  public CompletableFuture<RowsAnswer> search(Command.Search search, Call call) {
    return answered(
        () -> {
          arrive(call);
          Table table = table(search.collection());
          VectorField field = table.schema().requireVectorField(search.field().orElse(null));
          float[][] queries = queries(search.query(), table, field);
          List<Answer> hits = new ArrayList<>();
          for (int query = 0; query < queries.length; query++) {
            hits.addAll(nearest(table, field, queries[query], query, search));
          }
          Certificate certificate =
              new Certificate(
                  List.of(new Certificate.ShardPart(0, index, "n1")),
                  List.of(),
                  "strong",
                  true,
                  new Certificate.Strategy(0, 0, 0, 1),
                  (long) queries.length * table.points.size(),
                  1.0,
                  1);
          return new RowsAnswer(
              RowWriter.rows(table.schema(), hits, true, columns(search, table), allocator),
              certificate.toJson(),
              search.explain() ? "{\"segments\":[]}" : "");
        });
  }

  /** A row to be answered. */
  record Answer(int query, PointId id, float score, Stored point) {}

  private static List<Answer> nearest(
      Table table, VectorField field, float[] query, int number, Command.Search search) {
    if (query.length != field.dimension()) {
      throw SagittaException.invalid(
          "query vector has " + query.length + " components, expected " + field.dimension());
    }
    Comparator<Answer> order = Comparator.comparingDouble(Answer::score);
    if (field.metric().higherIsBetter()) {
      order = order.reversed();
    }
    List<Answer> all =
        table.points.entrySet().stream()
            .filter(e -> e.getValue().values().get(field.name()) != null)
            .map(
                e ->
                    new Answer(
                        number,
                        e.getKey(),
                        score(field, query, (float[]) e.getValue().values().get(field.name())),
                        e.getValue()))
            .sorted(order.thenComparing(Answer::id))
            .toList();
    if (search.groupBy().isPresent()) {
      return grouped(all, search, search.groupBy().get());
    }
    return all.stream().skip(search.offset()).limit(search.k()).toList();
  }

  private static List<Answer> grouped(
      List<Answer> sorted, Command.Search search, Command.GroupBy by) {
    Map<Object, List<Answer>> groups = new LinkedHashMap<>();
    for (Answer hit : sorted) {
      Object value = hit.point.values().get(by.field());
      if (value != null) {
        groups.computeIfAbsent(value, v -> new ArrayList<>()).add(hit);
      }
    }
    return groups.values().stream()
        .skip(search.offset())
        .limit(search.k())
        .flatMap(group -> group.stream().limit(by.size()))
        .toList();
  }

  private static float score(VectorField field, float[] a, float[] b) {
    double dot = 0;
    double aa = 0;
    double bb = 0;
    double distance = 0;
    for (int i = 0; i < a.length; i++) {
      dot += (double) a[i] * b[i];
      aa += (double) a[i] * a[i];
      bb += (double) b[i] * b[i];
      distance += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
    }
    return (float)
        switch (field.metric()) {
          case COSINE -> dot / Math.sqrt(aa * bb);
          case DOT -> dot;
          case L2 -> Math.sqrt(distance);
          case HAMMING -> throw new SagittaException(ErrorCode.UNIMPLEMENTED, "hamming");
        };
  }

  private static float[][] queries(Command.Query query, Table table, VectorField field) {
    return switch (query) {
      case Command.Query.Vectors vectors -> vectors.rows();
      case Command.Query.PackedVectors packed -> unpack(packed, field.dimension());
      case Command.Query.Like like -> {
        PointId id = PointId.parse(table.schema().idType(), like.id().text());
        Stored point = table.points.get(id);
        if (point == null) {
          throw SagittaException.notFound("no point " + id);
        }
        yield new float[][] {(float[]) point.values().get(field.name())};
      }
    };
  }

  private static float[][] unpack(Command.Query.PackedVectors packed, int dimension) {
    ByteBuffer in = ByteBuffer.wrap(packed.littleEndian()).order(ByteOrder.LITTLE_ENDIAN);
    float[][] rows = new float[in.remaining() / (4 * dimension)][dimension];
    for (float[] row : rows) {
      for (int i = 0; i < dimension; i++) {
        row[i] = in.getFloat();
      }
    }
    return rows;
  }

  private static List<String> columns(Command.Search search, Table table) {
    List<String> columns = new ArrayList<>(columns(search.fields(), table));
    search
        .groupBy()
        .filter(by -> !columns.contains(by.field()))
        .ifPresent(by -> columns.add(by.field()));
    return columns;
  }

  private static List<String> columns(Optional<List<String>> asked, Table table) {
    return asked.orElseGet(
        () ->
            table.schema().fields().stream()
                .filter(f -> !(f instanceof VectorField))
                .map(io.sagitta.model.Field::name)
                .toList());
  }

  @Override
  public CompletableFuture<RowsAnswer> get(Command.Get get, Call call) {
    return answered(
        () -> {
          arrive(call);
          Table table = table(get.collection());
          List<Answer> rows = new ArrayList<>();
          for (Command.IdText asked : get.ids()) {
            PointId id = PointId.parse(table.schema().idType(), asked.text());
            Stored point = table.points.get(id);
            if (point != null) {
              rows.add(new Answer(0, id, 0, point));
            }
          }
          List<String> columns =
              get.fields()
                  .orElseGet(
                      () ->
                          table.schema().fields().stream()
                              .map(io.sagitta.model.Field::name)
                              .toList());
          return new RowsAnswer(
              RowWriter.rows(table.schema(), rows, false, columns, allocator), null, null);
        });
  }

  @Override
  public CompletableFuture<String> scan(Command.Scan scan, Call call, ScanSink sink) {
    CompletableFuture<String> done = new CompletableFuture<>();
    scans.execute(
        () -> {
          try {
            arrive(call);
            done.complete(scan(scan, sink));
          } catch (InterruptedException | RuntimeException e) {
            done.completeExceptionally(e);
          }
        });
    return done;
  }

  private String scan(Command.Scan scan, ScanSink sink) throws InterruptedException {
    Table table = table(scan.collection());
    List<String> columns = columns(scan.fields(), table);
    String cursor = scan.cursor().orElse("");
    try (VectorSchemaRoot none =
        RowWriter.rows(table.schema(), List.of(), false, columns, allocator)) {
      sink.start(none.getSchema());
    }
    NavigableMap<PointId, Stored> left =
        cursor.isEmpty()
            ? table.points
            : table.points.tailMap(PointId.parse(table.schema().idType(), cursor), false);
    List<Answer> rows = new ArrayList<>();
    int limit = scan.limit().orElse(Integer.MAX_VALUE);
    for (Map.Entry<PointId, Stored> entry : left.entrySet()) {
      if (limit-- == 0) {
        break;
      }
      rows.add(new Answer(0, entry.getKey(), 0, entry.getValue()));
      cursor = entry.getKey().toString();
      if (rows.size() == 1_000) {
        send(table, rows, columns, sink);
        rows.clear();
      }
    }
    if (!rows.isEmpty()) {
      send(table, rows, columns, sink);
    }
    return cursor;
  }

  private void send(Table table, List<Answer> rows, List<String> columns, ScanSink sink)
      throws InterruptedException {
    beforeScanBatch.run();
    try (VectorSchemaRoot batch = RowWriter.rows(table.schema(), rows, false, columns, allocator)) {
      sink.next(batch);
    }
  }

  @Override
  public CompletableFuture<ScanPlan> planScan(Command.Scan scan, Call call) {
    return answered(
        () ->
            new ScanPlan(
                ArrowSchemas.toArrow(table(scan.collection()).schema()),
                List.of(new ScanPart(0, List.of()), new ScanPart(1, List.of()))));
  }

  // ---- writes

  @Override
  public CompletableFuture<PutSession> put(
      Command.Put put, Schema sent, DictionaryProvider dictionaries, Call call) {
    return answered(
        () -> {
          arrive(call);
          put.create()
              .filter(spec -> !tables.containsKey(put.collection()))
              .ifPresent(spec -> tables.put(put.collection(), new Table(spec)));
          Table table = table(put.collection());
          for (Field column : sent.getFields()) {
            if (!column.getName().equals("id")) {
              table.schema().requireField(column.getName());
            }
          }
          return new FakeSession(put, table, dictionaries);
        });
  }

  private final class FakeSession implements PutSession {
    private final Command.Put put;
    private final Table table;
    private final DictionaryProvider dictionaries;

    private FakeSession(Command.Put put, Table table, DictionaryProvider dictionaries) {
      this.put = put;
      this.table = table;
      this.dictionaries = dictionaries;
    }

    @Override
    public CompletableFuture<PutReply> put(
        VectorSchemaRoot batch, OptionalLong seq, OptionalLong ackedBelow) {
      putCalls.incrementAndGet();
      List<Map<String, Object>> rows;
      try {
        rows = TableReader.read(batch, dictionaries, table.schema());
      } catch (RuntimeException e) {
        return CompletableFuture.failedFuture(e);
      }
      PutScript script;
      synchronized (FakeHandler.this) {
        script = puts.isEmpty() ? null : puts.removeFirst();
      }
      Supplier<PutReply> apply = () -> apply(put, table, rows, seq);
      return script == null ? CompletableFuture.completedFuture(apply.get()) : script.put(apply);
    }

    @Override
    public void close() {}
  }

  private synchronized PutReply apply(
      Command.Put put, Table table, List<Map<String, Object>> rows, OptionalLong seq) {
    Map<Long, byte[]> known =
        put.writer().map(w -> outcomes.computeIfAbsent(w, unused -> new HashMap<>())).orElse(null);
    if (known != null && known.containsKey(seq.getAsLong())) {
      return new PutReply(known.get(seq.getAsLong()));
    }
    index++;
    applied.incrementAndGet();
    List<PutAck.Reject> rejects = new ArrayList<>();
    for (int row = 0; row < rows.size(); row++) {
      Map<String, Object> values = rows.get(row);
      PointId id = (PointId) values.get("id");
      boolean exists = table.points.containsKey(id);
      switch (put.mode()) {
        case UPSERT -> table.points.put(id, new Stored(index, values));
        case INSERT -> {
          if (exists) {
            rejects.add(new PutAck.Reject(row, ErrorCode.ALREADY_EXISTS, "id " + id + " exists"));
          } else {
            table.points.put(id, new Stored(index, values));
          }
        }
        case UPDATE -> {
          if (exists) {
            Map<String, Object> merged = new TreeMap<>(table.points.get(id).values());
            merged.putAll(values);
            table.points.put(id, new Stored(index, merged));
          } else {
            rejects.add(new PutAck.Reject(row, ErrorCode.NOT_FOUND, "no id " + id));
          }
        }
        case DELETE -> table.points.remove(id);
      }
    }
    byte[] json =
        new PutAck.Done(
                seq,
                rows.size() - rejects.size(),
                List.of(new PutAck.ShardAck(0, "applied", index)),
                rejects,
                "token-" + index)
            .toJson();
    if (known != null) {
      known.put(seq.getAsLong(), json);
    }
    return new PutReply(json);
  }

  // ---- the rest

  @Override
  public CompletableFuture<byte[]> act(Command command, Call call) {
    return answered(
        () -> {
          arrive(call);
          return act(command).toString().getBytes(StandardCharsets.UTF_8);
        });
  }

  private synchronized ObjectNode act(Command command) {
    ObjectNode out = JsonNodeFactory.instance.objectNode();
    return switch (command) {
      case Command.Create create -> {
        if (tables.containsKey(create.spec().collection())) {
          throw new SagittaException(
              ErrorCode.ALREADY_EXISTS, "collection '" + create.spec().collection() + "' exists");
        }
        tables.put(create.spec().collection(), new Table(create.spec()));
        yield out;
      }
      case Command.Drop drop -> {
        tables.remove(table(drop.collection()).spec.collection());
        yield out;
      }
      case Command.Describe describe -> {
        String schema =
            new String(
                SchemaJson.print(table(describe.collection()).schema()), StandardCharsets.UTF_8);
        yield out.put("collection", describe.collection())
            .putRawValue("schema", new RawValue(schema));
      }
      case Command.Count count -> out.put("count", table(count.collection()).points.size());
      case Command.Delete delete -> {
        int rows = table(delete.collection()).points.size();
        table(delete.collection()).points.clear();
        yield out.put("rows", rows).put("token", "token-" + ++index);
      }
      case Command.OpenWriter open ->
          out.put(
                  "writer",
                  new WriterId(new UUID(7, ++index), open.afterMs().orElse(0) + 1).toString())
              .put("opened_at", open.afterMs().orElse(0) + 1);
      case Command.Status status -> out.put("ok", true);
      default -> throw new SagittaException(ErrorCode.UNIMPLEMENTED, command.verb());
    };
  }

  @Override
  public CompletableFuture<List<CollectionSummary>> collections(Call call) {
    return answered(
        () ->
            tables.entrySet().stream()
                .map(
                    e ->
                        new CollectionSummary(
                            e.getKey(),
                            ArrowSchemas.toArrow(e.getValue().schema()),
                            e.getValue().points.size()))
                .toList());
  }

  @Override
  public CompletableFuture<Schema> schema(String collection, Call call) {
    return answered(() -> ArrowSchemas.toArrow(table(collection).schema()));
  }

  private static <T> CompletableFuture<T> answered(Supplier<T> answer) {
    try {
      return CompletableFuture.completedFuture(answer.get());
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
