// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import io.sagitta.flight.Command;
import io.sagitta.flight.Command.Consistency;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.flight.Command.IdText;
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
  private static final Duration SET_UP = Duration.ofSeconds(60);

  private final BufferAllocator allocator = new RootAllocator();
  private final Map<String, SagittaClient> clients = new LinkedHashMap<>();
  private final Map<String, Writer> writers = new LinkedHashMap<>(); // writer's thread only
  private final NodeNames names;

  public ClusterRegister(ClusterProcesses cluster) {
    this.names = NodeNames.of(cluster);
    for (NodeProcess node : cluster.nodes()) {
      clients.put(node.name(), client(node, CALL));
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

  @Override
  public void write(String node, long edition, Duration timeout) {
    Write write = new Write(edition, Write.Kind.UPSERT, 1, List.of(new Write.Point(ID, edition)));
    try (VectorSchemaRoot batch = DescribedRows.batch(write, OptionalLong.empty(), allocator)) {
      var unused = writer(node, timeout).put(batch).join();
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
    Command.Get get =
        new Command.Get(
            COLLECTION,
            List.of(new IdText(Long.toString(ID), false)),
            Optional.of(List.of("edition")),
            Consistency.STRONG);
    try (Answer answer = clients.get(node).get(get)) {
      List<Row> rows = answer.rows();
      return rows.isEmpty() ? 0 : (Long) rows.getFirst().fields().get("edition");
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
