// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import io.sagitta.flight.Command;
import io.sagitta.flight.Command.Consistency;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.flight.Command.IdText;
import io.sagitta.flight.PutAck;
import io.sagitta.flight.client.Answer;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/** Points of a real cluster; each node has a client of its own, so that it is asked itself. */
public final class ClusterRegister implements Register {
  private static final String COLLECTION = "register";
  private static final Duration READ = Duration.ofSeconds(2);

  /** Short: a write that waits for the old leader must soon be tried with the new one. */
  private static final Duration WRITE = Duration.ofMillis(500);

  private static final Duration SET_UP = Duration.ofSeconds(60);

  private final BufferAllocator allocator = new RootAllocator();
  private final Map<String, SagittaClient> clients = new LinkedHashMap<>();
  private final Map<String, Writer> writers = new LinkedHashMap<>();
  private final NodeNames names;

  public ClusterRegister(ClusterProcesses cluster) {
    this.names = NodeNames.of(cluster);
    try (SagittaClient client = client(cluster.nodes().getFirst(), SET_UP)) {
      client.create(
          new CreateSpec(COLLECTION, DescribedRows.SCHEMA, OptionalInt.of(1), OptionalInt.of(3)));
    }
    for (NodeProcess node : cluster.nodes()) {
      SagittaClient client = client(node, READ);
      clients.put(node.name(), client);
      writers.put(node.name(), client.writer(WriterOptions.of(COLLECTION).withBatchTimeout(WRITE)));
    }
  }

  private SagittaClient client(NodeProcess node, Duration timeout) {
    return SagittaClient.builder()
        .endpoints(node.endpoint())
        .timeout(timeout)
        .allocator(allocator)
        .build();
  }

  @Override
  public void write(String node, long edition) {
    Write write = new Write(edition, Write.Kind.UPSERT, 1, List.of(new Write.Point(edition, 1)));
    try (VectorSchemaRoot batch = DescribedRows.batch(write, OptionalLong.empty(), allocator)) {
      put(writers.get(node), batch).join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SagittaException(ErrorCode.OUTCOME_UNKNOWN, "interrupted", e);
    } catch (CompletionException e) {
      throw e.getCause() instanceof SagittaException error
          ? error
          : new SagittaException(ErrorCode.INTERNAL, String.valueOf(e.getCause()), e);
    }
  }

  /** Batches are put by one thread at a time; their answers are waited for side by side. */
  private static CompletableFuture<PutAck.Done> put(Writer writer, VectorSchemaRoot batch)
      throws InterruptedException {
    synchronized (writer) {
      return writer.put(batch);
    }
  }

  @Override
  public boolean sees(String node, long edition) {
    Command.Get get =
        new Command.Get(
            COLLECTION,
            List.of(new IdText(Long.toString(edition), false)),
            Optional.of(List.of("edition")),
            Consistency.STRONG);
    try (Answer answer = clients.get(node).get(get)) {
      return !answer.rows().isEmpty();
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
    allocator.close();
  }
}
