// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.service;

import com.codahale.metrics.Meter;
import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.Timer;
import io.sagitta.flight.Command;
import io.sagitta.flight.RequestHandler;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Counts and times requests on their way to the router, by verb and by error code: two fixed sets,
 * so the series are as many whatever users do.
 */
public final class MeteredRequests implements RequestHandler {
  private static final List<String> VERBS =
      List.of(
          "search",
          "get",
          "scan",
          "put",
          "create",
          "drop",
          "describe",
          "verify",
          "count",
          "delete",
          "set",
          "unset",
          "open_writer",
          "status",
          "list",
          "schema");

  private final RequestHandler next;
  private final Map<String, Timer> timers = new HashMap<>();
  private final Map<ErrorCode, Meter> errors = new EnumMap<>(ErrorCode.class);
  private final Meter rows;

  public MeteredRequests(RequestHandler next, MetricRegistry metrics) {
    this.next = next;
    for (String verb : VERBS) {
      timers.put(verb, metrics.timer("sagitta_request_seconds{verb=\"" + verb + "\"}"));
    }
    for (ErrorCode code : ErrorCode.values()) {
      errors.put(code, metrics.meter("sagitta_errors_total{code=\"" + code + "\"}"));
    }
    rows = metrics.meter("sagitta_put_rows_total");
  }

  @Override
  public CompletableFuture<RowsAnswer> search(Command.Search search, Call call) {
    return timed("search", next.search(search, call));
  }

  @Override
  public CompletableFuture<RowsAnswer> get(Command.Get get, Call call) {
    return timed("get", next.get(get, call));
  }

  @Override
  public CompletableFuture<String> scan(Command.Scan scan, Call call, ScanSink sink) {
    return timed("scan", next.scan(scan, call, sink));
  }

  @Override
  public CompletableFuture<ScanPlan> planScan(Command.Scan scan, Call call) {
    return next.planScan(scan, call);
  }

  @Override
  public CompletableFuture<PutSession> put(
      Command.Put put, Schema sent, DictionaryProvider dictionaries, Call call) {
    return next.put(put, sent, dictionaries, call).thenApply(MeteredPuts::new);
  }

  @Override
  public CompletableFuture<byte[]> act(Command command, Call call) {
    return timed(command.verb(), next.act(command, call));
  }

  @Override
  public CompletableFuture<List<CollectionSummary>> collections(Call call) {
    return timed("list", next.collections(call));
  }

  @Override
  public CompletableFuture<Schema> schema(String collection, Call call) {
    return timed("schema", next.schema(collection, call));
  }

  /** A put is timed by the batch: that is what a client waits for. */
  private final class MeteredPuts implements PutSession {
    private final PutSession session;

    private MeteredPuts(PutSession session) {
      this.session = session;
    }

    @Override
    public CompletableFuture<PutReply> put(
        VectorSchemaRoot batch, OptionalLong seq, OptionalLong ackedBelow) {
      rows.mark(batch.getRowCount());
      return timed("put", session.put(batch, seq, ackedBelow));
    }

    @Override
    public void close() {
      session.close();
    }
  }

  private <T> CompletableFuture<T> timed(String verb, CompletableFuture<T> answer) {
    long began = System.nanoTime();
    return answer.whenComplete(
        (done, failure) -> {
          Timer timer = timers.get(verb);
          if (timer != null) {
            timer.update(System.nanoTime() - began, TimeUnit.NANOSECONDS);
          }
          if (failure != null) {
            errors.get(code(failure)).mark();
          }
        });
  }

  private static ErrorCode code(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return cause instanceof SagittaException e ? e.code() : ErrorCode.INTERNAL;
  }
}
