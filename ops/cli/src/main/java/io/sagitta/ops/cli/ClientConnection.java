// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.flight.Certificate;
import io.sagitta.flight.Command;
import io.sagitta.flight.client.Answer;
import io.sagitta.flight.client.SagittaClient;
import io.sagitta.flight.client.ScanReader;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A cluster as the Java client sees it. */
final class ClientConnection implements Connection {
  private final SagittaClient client;

  private ClientConnection(SagittaClient client) {
    this.client = client;
  }

  /** A connection to one node; it is made when first used. */
  static Connection open(Endpoint endpoint, Duration timeout) {
    return new ClientConnection(
        SagittaClient.builder()
            .endpoints(endpoint.toString())
            .timeout(timeout)
            .scanTimeout(timeout)
            .build());
  }

  @Override
  public JsonNode act(Command command) {
    return client.act(command);
  }

  @Override
  public RowsEnd rows(Command command, RowSink sink) {
    return switch (command) {
      case Command.Search search -> whole(client.search(search), sink);
      case Command.Get get -> whole(client.get(get), sink);
      case Command.Scan scan -> streamed(scan, sink);
      default -> throw new IllegalArgumentException(command.verb() + " answers no rows");
    };
  }

  private static RowsEnd whole(Answer answer, RowSink sink) {
    try (answer) {
      sink.next(answer.root());
      Map<String, String> metadata = answer.root().getSchema().getCustomMetadata();
      return new RowsEnd(
          answer.root().getSchema(),
          Optional.ofNullable(metadata).map(map -> map.get(Certificate.METADATA_KEY)),
          answer.explain(),
          Optional.empty());
    }
  }

  private RowsEnd streamed(Command.Scan command, RowSink sink) {
    try (ScanReader scan = client.scan(command)) {
      while (scan.next()) {
        sink.next(scan.batch());
      }
      return new RowsEnd(
          scan.batch().getSchema(), Optional.empty(), Optional.empty(), scan.cursor());
    }
  }

  @Override
  public List<CollectionLine> collections() {
    return client.collections().stream()
        .map(info -> new CollectionLine(info.name(), info.rows(), info.schema()))
        .sorted(Comparator.comparing(CollectionLine::name))
        .toList();
  }

  @Override
  public void close() {
    client.close();
  }
}
