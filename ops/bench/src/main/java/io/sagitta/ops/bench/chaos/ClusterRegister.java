// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import io.sagitta.flight.Command;
import io.sagitta.flight.Command.Consistency;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.flight.Command.IdText;
import io.sagitta.flight.PutAck;
import io.sagitta.flight.client.Answer;
import io.sagitta.flight.client.Row;
import io.sagitta.flight.client.SagittaClient;
import io.sagitta.flight.client.Writer;
import io.sagitta.flight.client.WriterOptions;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.process.NodeProcess;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/** A point of a real cluster; each node has a client of its own, so that it is asked itself. */
public final class ClusterRegister implements Register {
  private static final String COLLECTION = "register";
  private static final long ID = 1;
  private static final Duration CALL = Duration.ofSeconds(2);

  /** Of the writer's own reads: one that waits for the old leader must soon be tried elsewhere. */
  private static final Duration QUICK = Duration.ofMillis(500);

  private static final Duration SET_UP = Duration.ofSeconds(60);

  private final BufferAllocator allocator = new RootAllocator();
  private final Map<String, SagittaClient> clients = new LinkedHashMap<>();
  private final Map<String, SagittaClient> quick = new LinkedHashMap<>();
  private final Map<String, Writer> writers = new LinkedHashMap<>(); // writer's thread only
  private final NodeNames names;

  // Writer's thread only: _version of the point as far as known, else -1; and what versions have
  // above log indexes.
  private long version = -1;
  private long versionBase = -1;

  public ClusterRegister(ClusterProcesses cluster) {
    this.names = NodeNames.of(cluster);
    for (NodeProcess node : cluster.nodes()) {
      clients.put(node.name(), client(node, CALL));
      quick.put(node.name(), client(node, QUICK));
    }
    try (SagittaClient client = client(cluster.nodes().getFirst(), SET_UP)) {
      client.create(
          new CreateSpec(COLLECTION, DescribedRows.SCHEMA, OptionalInt.of(1), OptionalInt.of(3)));
    }
  }

  private SagittaClient client(NodeProcess node, Duration timeout) {
    return SagittaClient.builder()
        .endpoints(node.endpoint())
        .timeout(timeout)
        .allocator(allocator)
        .build();
  }

  /**
   * Writes on the condition that nothing has been written since this class last knew: a write whose
   * client gave up, and which takes effect after later ones, must not bring an old edition back.
   */
  @Override
  public void write(String node, long edition, Duration timeout) {
    if (version < 0) {
      version = point(quick.get(node)).map(Row::version).orElse(0L);
    }
    Write write =
        new Write(edition, Write.Kind.INCREMENT, 1, List.of(new Write.Point(ID, edition)));
    long condition = version;
    version = -1; // until this write's outcome is known
    try (VectorSchemaRoot batch =
        DescribedRows.batch(write, OptionalLong.of(condition), allocator)) {
      PutAck.Done done = writer(node, timeout).put(batch).join();
      if (!done.rejects().isEmpty()) {
        throw new SagittaException(ErrorCode.CONFLICT, done.rejects().getFirst().message());
      }
      long index = done.shards().getFirst().index();
      if (condition > 0 && versionBase >= 0) {
        version = versionBase + index;
      } else {
        version = point(quick.get(node)).map(Row::version).orElse(-1L);
        versionBase = version - index;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SagittaException(ErrorCode.OUTCOME_UNKNOWN, "interrupted", e);
    } catch (CompletionException e) {
      throw e.getCause() instanceof SagittaException error
          ? error
          : new SagittaException(ErrorCode.INTERNAL, String.valueOf(e.getCause()), e);
    }
  }

  private Writer writer(String node, Duration timeout) {
    return writers.computeIfAbsent(
        node,
        name -> clients.get(name).writer(WriterOptions.of(COLLECTION).withBatchTimeout(timeout)));
  }

  @Override
  public long read(String node, Duration timeout) {
    return point(clients.get(node)).map(row -> (Long) row.fields().get("edition")).orElse(0L);
  }

  private static Optional<Row> point(SagittaClient client) {
    Command.Get get =
        new Command.Get(
            COLLECTION,
            List.of(new IdText(Long.toString(ID), false)),
            Optional.of(List.of("edition")),
            Consistency.STRONG);
    try (Answer answer = client.get(get)) {
      return answer.rows().stream().findFirst();
    }
  }

  @Override
  public Optional<String> leader(String node) {
    return names.leader(clients.get(node).status(), COLLECTION, 0);
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
    clients.values().forEach(SagittaClient::close);
    quick.values().forEach(SagittaClient::close);
    allocator.close();
  }
}
