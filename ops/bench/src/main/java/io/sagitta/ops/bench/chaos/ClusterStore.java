// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.flight.Command;
import io.sagitta.flight.Command.Consistency;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.flight.Command.IdText;
import io.sagitta.flight.PutAck;
import io.sagitta.flight.client.Answer;
import io.sagitta.flight.client.Row;
import io.sagitta.flight.client.SagittaClient;
import io.sagitta.flight.client.ScanReader;
import io.sagitta.flight.client.Writer;
import io.sagitta.flight.client.WriterOptions;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.HashSlot;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.SlotRange;
import io.sagitta.model.WriteMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/** A real cluster, by way of the Java client. */
public final class ClusterStore implements PointStore {
  private static final String COLLECTION = "chaos";
  private static final int WINDOW = 64;
  private static final int WINDOW_BYTES = 64 << 20;

  private final BufferAllocator allocator = new RootAllocator();
  private final SagittaClient client;
  private final NodeNames names;

  /** Slots by shard number. */
  private volatile List<SlotRange> slots = List.of();

  /**
   * A store.
   *
   * @param endpoints of all nodes
   * @param names what to call nodes
   */
  public ClusterStore(List<String> endpoints, NodeNames names) {
    this.client =
        SagittaClient.builder()
            .endpoints(endpoints.toArray(String[]::new))
            .timeout(Duration.ofSeconds(60))
            .scanTimeout(Duration.ofSeconds(60))
            .allocator(allocator)
            .build();
    this.names = names;
  }

  @Override
  public void create(int shards, int replicas) {
    client.create(
        new CreateSpec(
            COLLECTION, DescribedRows.SCHEMA, OptionalInt.of(shards), OptionalInt.of(replicas)));
    List<SlotRange> ranges = new ArrayList<>();
    for (JsonNode shard : shards(client.status())) {
      ranges.add(new SlotRange(shard.at("/slots/0").asInt(), shard.at("/slots/1").asInt()));
    }
    slots = ranges;
  }

  private static JsonNode shards(JsonNode status) {
    for (JsonNode collection : status.path("collections")) {
      if (collection.path("name").asText().equals(COLLECTION)) {
        return collection.path("shards");
      }
    }
    throw new IllegalStateException("status names no collection " + COLLECTION);
  }

  @Override
  public int shards() {
    return slots.size();
  }

  @Override
  public int shardOf(long id) {
    int slot = HashSlot.of(new PointId.Int64(id)).value();
    for (int shard = 0; shard < slots.size(); shard++) {
      if (slots.get(shard).contains(slot)) {
        return shard;
      }
    }
    throw new IllegalStateException("no shard has slot " + slot);
  }

  // ---- reads

  @Override
  public Map<Long, StoredPoint> scan() {
    Map<Long, StoredPoint> points = new TreeMap<>();
    Command.Scan all =
        new Command.Scan(
            COLLECTION,
            Optional.empty(),
            Optional.of(DescribedRows.FIELDS),
            Optional.empty(),
            OptionalInt.empty(),
            Consistency.STRONG,
            OptionalInt.empty());
    try (ScanReader scan = client.scan(all)) {
      while (scan.next()) {
        for (Row row : Answer.rows(scan.batch())) {
          StoredPoint point = DescribedRows.stored(row);
          if (points.put(point.id(), point) != null) {
            throw new SagittaException(
                ErrorCode.INTERNAL, "a scan returned id " + point.id() + " twice");
          }
        }
      }
    }
    return points;
  }

  @Override
  public List<StoredPoint> get(List<Long> ids) {
    Command.Get get =
        new Command.Get(
            COLLECTION,
            ids.stream().map(id -> new IdText(Long.toString(id), false)).toList(),
            Optional.of(DescribedRows.FIELDS),
            Consistency.STRONG);
    try (Answer answer = client.get(get)) {
      return answer.rows().stream().map(DescribedRows::stored).toList();
    }
  }

  @Override
  public long count() {
    return client.count(COLLECTION);
  }

  @Override
  public OptionalLong nearest(float[] vector) {
    try (Answer answer =
        client.search(COLLECTION).vectors(vector).k(1).exact().fields("edition").run()) {
      return answer.rows().stream().mapToLong(row -> ((PointId.Int64) row.id()).value()).findAny();
    }
  }

  @Override
  public Optional<String> leader(int shard) {
    return names.leader(client.status(), COLLECTION, shard);
  }

  @Override
  public Agreement compareReplicas() {
    List<String> different = new ArrayList<>();
    List<String> open = new ArrayList<>();
    for (JsonNode shard : client.verify(COLLECTION).path("shards")) {
      String words = "shard " + shard.path("shard") + ": " + shard.path("replicas");
      // A damaged replica is repaired from the others, and compared then.
      boolean damaged = shard.path("replicas").findValuesAsText("verdict").contains("damaged");
      if (!shard.path("equal").isBoolean() || damaged) {
        open.add(words);
      } else if (!shard.path("equal").booleanValue()) {
        different.add(words);
      }
    }
    return new Agreement(different, open);
  }

  // ---- writes

  @Override
  public Lane lane(int writer, Duration deadline) {
    return new ClusterLane(deadline);
  }

  /** One writer for each kind of write: a stream has one schema and one mode. */
  private final class ClusterLane implements Lane {
    private final Duration deadline;
    private final Map<Write.Kind, Writer> writers = new EnumMap<>(Write.Kind.class);

    private ClusterLane(Duration deadline) {
      this.deadline = deadline;
    }

    @Override
    public CompletableFuture<Outcome> send(Write write, OptionalLong version) {
      try (VectorSchemaRoot batch = DescribedRows.batch(write, version, allocator)) {
        return writer(write.kind())
            .put(batch)
            .handle((done, failure) -> failure == null ? outcome(write, done) : failed(failure));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return CompletableFuture.completedFuture(new Outcome.Unknown("interrupted"));
      } catch (SagittaException e) {
        // No writer could be opened: nothing was sent.
        return CompletableFuture.completedFuture(new Outcome.Refused(e.getMessage()));
      }
    }

    private Writer writer(Write.Kind kind) {
      Writer writer = writers.get(kind);
      if (writer == null) {
        WriteMode mode = kind == Write.Kind.DELETE ? WriteMode.DELETE : WriteMode.UPSERT;
        writer =
            client.writer(
                WriterOptions.of(COLLECTION)
                    .withMode(mode)
                    .withWindow(WINDOW, WINDOW_BYTES)
                    .withBatchTimeout(deadline));
        writers.put(kind, writer);
      }
      return writer;
    }

    private Outcome outcome(Write write, PutAck.Done done) {
      Map<Integer, Long> indexes = new HashMap<>();
      done.shards().forEach(shard -> indexes.put(shard.shard(), shard.index()));
      Set<Long> rejected = new HashSet<>();
      done.rejects().forEach(reject -> rejected.add(write.points().get(reject.row()).id()));
      return new Outcome.Acknowledged(indexes, rejected);
    }

    private Outcome failed(Throwable failure) {
      Throwable cause =
          failure instanceof CompletionException && failure.getCause() != null
              ? failure.getCause()
              : failure;
      if (!(cause instanceof SagittaException error)) {
        return new Outcome.Unknown(cause.toString());
      }
      String reason = error.code() + ": " + error.getMessage();
      return switch (error.code()) {
        case INVALID_ARGUMENT,
            NOT_FOUND,
            ALREADY_EXISTS,
            CONFLICT,
            LIMIT,
            UNAUTHENTICATED,
            PERMISSION_DENIED,
            UNAVAILABLE,
            UNIMPLEMENTED ->
            new Outcome.Refused(reason);
        case SESSION_EXPIRED, OUTCOME_UNKNOWN, DEADLINE_EXCEEDED, CORRUPT, INTERNAL ->
            new Outcome.Unknown(reason);
      };
    }

    @Override
    public void close() {
      for (Writer writer : writers.values()) {
        try {
          writer.close();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  @Override
  public void close() {
    client.close();
    allocator.close();
  }
}
