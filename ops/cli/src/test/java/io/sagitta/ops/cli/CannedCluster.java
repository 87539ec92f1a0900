// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sagitta.flight.Command;
import io.sagitta.flight.Commands;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;

/** A cluster that answers what it was told to, and remembers what it was asked. */
final class CannedCluster implements Connection {
  static final ObjectMapper MAPPER = new ObjectMapper();

  final List<Command> asked = new ArrayList<>();
  private final Map<String, String> answers = new HashMap<>();
  private final Map<String, RuntimeException> failures = new HashMap<>();
  private List<CollectionLine> collections = List.of();
  private Function<Command, VectorSchemaRoot> rows = command -> null;
  private String certificate;
  private String cursor;
  private boolean reachable = true;

  CannedCluster answers(String verb, String json) {
    answers.put(verb, json);
    return this;
  }

  CannedCluster fails(String verb, RuntimeException failure) {
    failures.put(verb, failure);
    return this;
  }

  CannedCluster rows(VectorSchemaRoot batch, String certificateJson) {
    rows = command -> batch;
    certificate = certificateJson;
    return this;
  }

  /** Rows by request; the function keeps them. */
  CannedCluster rows(Function<Command, VectorSchemaRoot> byRequest, String certificateJson) {
    rows = byRequest;
    certificate = certificateJson;
    return this;
  }

  CannedCluster cursor(String text) {
    cursor = text;
    return this;
  }

  CannedCluster collections(List<CollectionLine> lines) {
    collections = lines;
    return this;
  }

  CannedCluster unreachable() {
    reachable = false;
    return this;
  }

  /** The last request, as it travels. */
  String lastRequest() {
    return new String(Commands.print(asked.getLast()), StandardCharsets.UTF_8);
  }

  /** What a run of the command line left behind. */
  record Run(int code, String out, String err) {
    JsonNode json() {
      try {
        return MAPPER.readTree(out);
      } catch (JsonProcessingException e) {
        throw new AssertionError("not JSON: " + out, e);
      }
    }
  }

  Run run(String... args) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Terminal terminal = new Terminal(stream(out), stream(err), 0);
    int code = Ctl.run(args, terminal, this::open);
    return new Run(
        code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  private static PrintStream stream(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }

  private Connection open(Endpoint endpoint, Duration timeout) {
    if (!reachable) {
      throw new SagittaException(ErrorCode.UNAVAILABLE, "cannot connect: connection refused");
    }
    return this;
  }

  @Override
  public JsonNode act(Command command) {
    remember(command);
    try {
      return MAPPER.readTree(answers.getOrDefault(command.verb(), "{}"));
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public RowsEnd rows(Command command, RowSink sink) {
    remember(command);
    VectorSchemaRoot batch = rows.apply(command);
    if (batch != null) {
      sink.next(batch);
    }
    return new RowsEnd(
        batch == null ? new Schema(List.of()) : batch.getSchema(),
        Optional.ofNullable(certificate),
        Optional.empty(),
        Optional.ofNullable(cursor));
  }

  private void remember(Command command) {
    asked.add(command);
    RuntimeException failure = failures.get(command.verb());
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public List<CollectionLine> collections() {
    return collections;
  }

  @Override
  public void close() {}
}
