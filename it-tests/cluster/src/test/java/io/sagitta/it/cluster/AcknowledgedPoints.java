// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.flight.PutAck;
import io.sagitta.flight.client.Answer;
import io.sagitta.flight.client.Row;
import io.sagitta.flight.client.SagittaClient;
import io.sagitta.flight.client.ScanReader;
import io.sagitta.flight.client.Writer;
import io.sagitta.flight.client.WriterOptions;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.model.WriteMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * A collection of a real cluster beside a map of what the cluster has acknowledged: id to edition.
 * Every write is waited for, so that the two must be equal between writes.
 */
final class AcknowledgedPoints implements AutoCloseable {
  static final String COLLECTION = "points";
  private static final int DIMENSION = 32;
  private static final int BATCH_ROWS = 100;

  private static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.INT64,
          List.of(
              new VectorField(1, "vector", VectorType.FLOAT32, DIMENSION, Metric.L2, false),
              new PayloadField(2, "edition", PayloadType.of(PayloadType.Kind.INT64))));

  private static final Schema WHOLE = ArrowSchemas.toArrow(SCHEMA);
  private static final Schema ID_ONLY = new Schema(List.of(ArrowSchemas.idField(IdType.INT64)));

  private final BufferAllocator allocator = new RootAllocator();
  private final SagittaClient client;
  private final Map<Long, Long> acknowledged;

  /** A new collection; without {@code replicas} as many as the cluster thinks right. */
  AcknowledgedPoints(List<String> endpoints, int shards, OptionalInt replicas) {
    this.client = connect(endpoints);
    this.acknowledged = new TreeMap<>();
    client.create(new CreateSpec(COLLECTION, SCHEMA, OptionalInt.of(shards), replicas));
  }

  private AcknowledgedPoints(List<String> endpoints, Map<Long, Long> acknowledged) {
    this.client = connect(endpoints);
    this.acknowledged = acknowledged;
  }

  /** The same points, read and written through these nodes only. */
  AcknowledgedPoints through(List<String> endpoints) {
    return new AcknowledgedPoints(endpoints, acknowledged);
  }

  private SagittaClient connect(List<String> endpoints) {
    return SagittaClient.builder()
        .endpoints(endpoints.toArray(String[]::new))
        .timeout(Duration.ofSeconds(60))
        .scanTimeout(Duration.ofSeconds(120))
        .allocator(allocator)
        .build();
  }

  /**
   * Writes ids {@code from} to below {@code to} in this edition, many small entries, several under
   * way at a time.
   */
  void upsert(long from, long to, long edition) throws InterruptedException {
    List<CompletableFuture<PutAck.Done>> answers = new ArrayList<>();
    WriterOptions options = WriterOptions.of(COLLECTION).withBatchTimeout(Duration.ofMinutes(2));
    try (Writer writer = client.writer(options)) {
      for (long id = from; id < to; id += BATCH_ROWS) {
        try (VectorSchemaRoot batch = batch(WHOLE, id, Math.min(to, id + BATCH_ROWS))) {
          fill(batch, id, edition);
          answers.add(writer.put(batch));
        }
      }
    }
    for (CompletableFuture<PutAck.Done> answer : answers) {
      assertThat(answer.join().rejects()).isEmpty();
    }
    for (long id = from; id < to; id++) {
      acknowledged.put(id, edition);
    }
  }

  /**
   * Writes as {@link #upsert} does, one entry after another, until one is refused with nothing of
   * it applied.
   *
   * @return the refusal; empty where all were taken
   */
  Optional<SagittaException> upsertUntilRefused(long from, long to, long edition)
      throws InterruptedException {
    WriterOptions options = WriterOptions.of(COLLECTION).withBatchTimeout(Duration.ofSeconds(20));
    try (Writer writer = client.writer(options)) {
      for (long id = from; id < to; id += BATCH_ROWS) {
        try (VectorSchemaRoot batch = batch(WHOLE, id, Math.min(to, id + BATCH_ROWS))) {
          fill(batch, id, edition);
          assertThat(writer.putAndWait(batch).rejects()).isEmpty();
        } catch (SagittaException e) {
          assertThat(e.code()).as(e.getMessage()).isEqualTo(ErrorCode.UNAVAILABLE);
          return Optional.of(e);
        }
        for (long done = id; done < Math.min(to, id + BATCH_ROWS); done++) {
          acknowledged.put(done, edition);
        }
      }
    }
    return Optional.empty();
  }

  void delete(long from, long to) throws InterruptedException {
    WriterOptions options = WriterOptions.of(COLLECTION).withMode(WriteMode.DELETE);
    try (Writer writer = client.writer(options);
        VectorSchemaRoot batch = batch(ID_ONLY, from, to)) {
      PutAck.Done done = writer.putAndWait(batch);
      assertThat(done.rejects()).isEmpty();
    }
    for (long id = from; id < to; id++) {
      acknowledged.remove(id);
    }
  }

  private VectorSchemaRoot batch(Schema schema, long from, long to) {
    VectorSchemaRoot batch = VectorSchemaRoot.create(schema, allocator);
    int rows = Math.toIntExact(to - from);
    for (int row = 0; row < rows; row++) {
      ((BigIntVector) batch.getVector(CollectionSchema.ID)).setSafe(row, from + row);
    }
    batch.setRowCount(rows);
    return batch;
  }

  private static void fill(VectorSchemaRoot batch, long from, long edition) {
    FixedSizeListVector vectors = (FixedSizeListVector) batch.getVector("vector");
    Float4Vector components = (Float4Vector) vectors.getDataVector();
    for (int row = 0; row < batch.getRowCount(); row++) {
      vectors.startNewValue(row);
      float[] vector = vector(from + row, edition);
      for (int d = 0; d < DIMENSION; d++) {
        components.setSafe(row * DIMENSION + d, vector[d]);
      }
      ((BigIntVector) batch.getVector("edition")).setSafe(row, edition);
    }
    batch.setRowCount(batch.getRowCount());
  }

  /** Exact in a float, and no two alike. */
  private static float[] vector(long id, long edition) {
    float[] vector = new float[DIMENSION];
    for (int d = 0; d < DIMENSION; d++) {
      vector[d] = (id * 31 + d * 7L) % 1_000;
    }
    vector[0] = id;
    vector[1] = edition;
    return vector;
  }

  /**
   * Every acknowledged point is there in its last edition, and no other, by scan, count and get.
   */
  void assertAllThere() {
    Map<Long, Long> found = new TreeMap<>();
    try (ScanReader scan = client.scan(COLLECTION)) {
      while (scan.next()) {
        for (Row row : Answer.rows(scan.batch())) {
          long id = ((PointId.Int64) row.id()).value();
          assertThat(found.put(id, (Long) row.fields().get("edition")))
              .as("id %d came twice", id)
              .isNull();
        }
      }
    }
    assertThat(found).isEqualTo(acknowledged);
    assertThat(client.count(COLLECTION)).isEqualTo(acknowledged.size());
    long some = acknowledged.keySet().iterator().next();
    try (Answer nearest =
        client
            .search(COLLECTION)
            .vectors(vector(some, acknowledged.get(some)))
            .k(1)
            .exact()
            .run()) {
      assertThat(nearest.rows()).extracting(Row::id).containsExactly(new PointId.Int64(some));
    }
  }

  /** Points there now, by a strong count. */
  long count() {
    return client.count(COLLECTION);
  }

  /** Points that must be there. */
  long acknowledged() {
    return acknowledged.size();
  }

  /** The shards of the collection, as status tells. */
  JsonNode shards() {
    for (JsonNode collection : client.status().path("collections")) {
      if (collection.path("name").asText().equals(COLLECTION)) {
        return collection.path("shards");
      }
    }
    throw new AssertionError("status names no collection " + COLLECTION);
  }

  /** What status says of a shard's replica on a node; missing where there is none. */
  static JsonNode replica(JsonNode shard, String node) {
    for (JsonNode replica : shard.path("replicas")) {
      if (replica.path("node").asText().equals(node)) {
        return replica;
      }
    }
    return shard.path("no such replica");
  }

  /** Whether every shard has this many replicas and all of them the same digest at one index. */
  boolean replicasAgree(int replicas) {
    JsonNode shards = client.verify(COLLECTION).path("shards");
    if (shards.isEmpty()) {
      return false;
    }
    for (JsonNode shard : shards) {
      // Absent where a replica did not answer: then they have yet to be compared.
      if (shard.path("replicas").size() != replicas || !shard.path("equal").asBoolean(false)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    client.close();
    allocator.close();
  }
}
