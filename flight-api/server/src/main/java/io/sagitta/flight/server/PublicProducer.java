// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.sagitta.flight.Certificate;
import io.sagitta.flight.Command;
import io.sagitta.flight.Commands;
import io.sagitta.flight.FlightErrors;
import io.sagitta.flight.RequestHandler;
import io.sagitta.flight.RequestHandler.Call;
import io.sagitta.flight.RequestHandler.CollectionSummary;
import io.sagitta.flight.RequestHandler.RowsAnswer;
import io.sagitta.flight.RequestHandler.ScanPart;
import io.sagitta.flight.RequestHandler.ScanPlan;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.arrow.flight.Action;
import org.apache.arrow.flight.ActionType;
import org.apache.arrow.flight.Criteria;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.FlightEndpoint;
import org.apache.arrow.flight.FlightInfo;
import org.apache.arrow.flight.FlightProducer;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.Location;
import org.apache.arrow.flight.PutResult;
import org.apache.arrow.flight.Result;
import org.apache.arrow.flight.SchemaResult;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * The public verbs but DoPut, which {@link PutService} serves. {@code getStream}, {@code doAction}
 * and {@code listFlights} run on the transport's thread and only decode and hand over; {@code
 * getFlightInfo} and {@code getSchema}, which Flight wants answered at once, run on virtual threads
 * and wait.
 */
final class PublicProducer implements FlightProducer {
  /** Bytes of one message out (docs/contract.md, section 7). */
  static final int MESSAGE_BYTES_MAX = 2 << 20;

  /** Bytes of one whole answer. */
  static final long ANSWER_BYTES_MAX = 64L << 20;

  /** How long a scan may run whose client has set no end; its reader's pace bounds it otherwise. */
  private static final Duration SCAN_TIMEOUT = Duration.ofHours(1);

  private static final long STALL_MS = 60_000;

  /** What a handler may be late by before the endpoint answers in its place. */
  private static final long GRACE_MS = 2_000;

  private static final int CRITERIA_BYTES_MAX = 1 << 10;

  private final RequestHandler handler;
  private final BufferAllocator allocator;
  private final RunningTasks tasks;
  private final Duration callTimeout;
  private final boolean tls;
  private final AnswerWriter answers;

  PublicProducer(
      RequestHandler handler, BufferAllocator allocator, PortConfig config, RunningTasks tasks) {
    this.handler = handler;
    this.allocator = allocator;
    this.tasks = tasks;
    this.callTimeout = config.callTimeout();
    this.tls = config.tls().isPresent();
    this.answers =
        new AnswerWriter(
            allocator,
            tasks,
            MESSAGE_BYTES_MAX,
            ANSWER_BYTES_MAX,
            STALL_MS,
            failure -> sent("an answer", failure));
  }

  // ---- DoGet

  @Override
  public void getStream(CallContext context, Ticket ticket, ServerStreamListener listener) {
    String verb = "DoGet";
    try {
      SlowReader reader = new SlowReader(listener);
      Command command = Commands.parse(ticket.getBytes());
      verb = command.verb();
      switch (command) {
        case Command.Search search -> {
          Call call = Calls.current(callTimeout, search.timeoutMs());
          answer(verb, () -> handler.search(search, call), call, listener, reader);
        }
        case Command.Get get -> {
          Call call = Calls.current(callTimeout, OptionalLong.empty());
          answer(verb, () -> handler.get(get, call), call, listener, reader);
        }
        case Command.Scan scan -> scan(scan, listener, reader);
        case Command other ->
            throw SagittaException.invalid(
                "'" + other.verb() + "' is no ticket, expected search, get or scan");
      }
    } catch (RuntimeException e) {
      listener.error(sent(verb, e));
    }
  }

  /** A failure as it is sent; where it is a bug, the log has it too. */
  private static FlightRuntimeException sent(String verb, Throwable failure) {
    return FlightErrors.toFlight(BugLog.logged(verb, failure));
  }

  private void answer(
      String verb,
      Supplier<CompletableFuture<RowsAnswer>> asked,
      Call call,
      ServerStreamListener listener,
      SlowReader reader) {
    CompletableFuture<RowsAnswer> answer = asked.get();
    Calls.deliver(
        bounded(answer, call),
        rows -> answers.send(rows.rows(), schema(rows), listener, reader),
        failure -> {
          listener.error(sent(verb, failure));
          // The handler may still answer, to nobody.
          Calls.deliver(answer, RowsAnswer::close, failed -> {});
        });
  }

  private static Schema schema(RowsAnswer answer) {
    Map<String, String> metadata = new LinkedHashMap<>();
    if (answer.certificateJson() != null) {
      metadata.put(Certificate.METADATA_KEY, answer.certificateJson());
    }
    if (answer.explainJson() != null && !answer.explainJson().isEmpty()) {
      metadata.put(Certificate.EXPLAIN_KEY, answer.explainJson());
    }
    return AnswerWriter.withMetadata(answer.rows().getSchema(), metadata);
  }

  private void scan(Command.Scan scan, ServerStreamListener listener, SlowReader reader) {
    Call call = Calls.current(SCAN_TIMEOUT, OptionalLong.empty());
    ScanStream stream = new ScanStream(listener, reader, allocator, MESSAGE_BYTES_MAX, STALL_MS);
    // Its batches lie in our memory until the handler's own thread has noticed that the reader
    // left.
    tasks.count(Calls.delivered(handler.scan(scan, call, stream), stream::complete, stream::fail));
  }

  /** The answer, or DEADLINE_EXCEEDED where the handler overruns the deadline that it was given. */
  private static <T> CompletableFuture<T> bounded(CompletableFuture<T> answer, Call call) {
    if (answer.isDone()) {
      return answer;
    }
    long left = TimeUnit.NANOSECONDS.toMillis(call.deadlineNanos() - System.nanoTime());
    return answer
        .copy()
        .orTimeout(Math.max(0, left) + GRACE_MS, TimeUnit.MILLISECONDS)
        .exceptionallyCompose(
            failure ->
                CompletableFuture.failedFuture(
                    failure instanceof TimeoutException late
                        ? new SagittaException(
                            ErrorCode.DEADLINE_EXCEEDED, "no answer before the deadline", late)
                        : failure));
  }

  // ---- GetFlightInfo, GetSchema, ListFlights

  @Override
  public FlightInfo getFlightInfo(CallContext context, FlightDescriptor descriptor) {
    try {
      if (!descriptor.isCommand()) {
        return info(summary(collection(descriptor)));
      }
      return switch (Commands.parse(descriptor.getCommand())) {
        case Command.Scan scan -> scanInfo(scan, descriptor);
        case Command.Search search -> oneEndpoint(search, search.collection(), descriptor);
        case Command.Get get -> oneEndpoint(get, get.collection(), descriptor);
        case Command other ->
            throw SagittaException.invalid(
                "'" + other.verb() + "' has no flight, expected search, get or scan");
      };
    } catch (RuntimeException e) {
      throw sent("GetFlightInfo", e);
    }
  }

  /** One endpoint a shard, so that a client may read them in parallel; no order among them. */
  private FlightInfo scanInfo(Command.Scan scan, FlightDescriptor descriptor) {
    if (scan.limit().isPresent() || scan.cursor().isPresent()) {
      return oneEndpoint(scan, scan.collection(), descriptor);
    }
    Call call = Calls.current(callTimeout, OptionalLong.empty());
    ScanPlan plan = join(handler.planScan(scan, call), call);
    List<FlightEndpoint> endpoints = new ArrayList<>();
    for (ScanPart part : plan.parts()) {
      Command.Scan one =
          new Command.Scan(
              scan.collection(),
              scan.filter(),
              scan.fields(),
              scan.cursor(),
              scan.limit(),
              scan.consistency(),
              OptionalInt.of(part.shard()));
      endpoints.add(new FlightEndpoint(new Ticket(Commands.print(one)), locations(part.nodes())));
    }
    return new FlightInfo(plan.schema(), descriptor, endpoints, -1, -1);
  }

  /** The connection at hand first: any node can answer, and those named may be out of reach. */
  private Location[] locations(List<ShardMap.Node> nodes) {
    List<Location> locations = new ArrayList<>();
    locations.add(Location.reuseConnection());
    for (ShardMap.Node node : nodes) {
      locations.add(
          tls
              ? Location.forGrpcTls(node.host(), node.flightPort())
              : Location.forGrpcInsecure(node.host(), node.flightPort()));
    }
    return locations.toArray(Location[]::new);
  }

  /** The order of hits matters, so that a search has one endpoint: the ticket itself. */
  private FlightInfo oneEndpoint(Command command, String collection, FlightDescriptor descriptor) {
    // Its columns depend on the fields asked; the ticket's own stream tells them.
    summary(collection);
    FlightEndpoint endpoint = new FlightEndpoint(new Ticket(Commands.print(command)));
    return FlightInfo.builder(null, descriptor, List.of(endpoint)).build();
  }

  @Override
  public SchemaResult getSchema(CallContext context, FlightDescriptor descriptor) {
    try {
      Call call = Calls.current(callTimeout, OptionalLong.empty());
      return new SchemaResult(join(handler.schema(collection(descriptor), call), call));
    } catch (RuntimeException e) {
      throw sent("GetSchema", e);
    }
  }

  @Override
  public void listFlights(
      CallContext context, Criteria criteria, StreamListener<FlightInfo> listener) {
    try {
      if (criteria.getExpression().length > CRITERIA_BYTES_MAX) {
        throw SagittaException.invalid("ListFlights takes no criteria");
      }
      Call call = Calls.current(callTimeout, OptionalLong.empty());
      Calls.deliver(
          bounded(handler.collections(call), call),
          collections -> {
            collections.forEach(collection -> listener.onNext(info(collection)));
            listener.onCompleted();
          },
          failure -> listener.onError(sent("ListFlights", failure)));
    } catch (RuntimeException e) {
      listener.onError(sent("ListFlights", e));
    }
  }

  private CollectionSummary summary(String name) {
    Call call = Calls.current(callTimeout, OptionalLong.empty());
    Schema schema = join(handler.schema(name, call), call);
    return new CollectionSummary(name, schema, -1);
  }

  /** A collection as a flight: its one endpoint scans it. */
  private static FlightInfo info(CollectionSummary collection) {
    Command.Scan scan =
        new Command.Scan(
            collection.name(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            OptionalInt.empty(),
            Command.Consistency.STRONG,
            OptionalInt.empty());
    return new FlightInfo(
        collection.schema(),
        FlightDescriptor.path(collection.name()),
        List.of(new FlightEndpoint(new Ticket(Commands.print(scan)))),
        -1,
        collection.rows());
  }

  static String collection(FlightDescriptor descriptor) {
    if (descriptor.isCommand() || descriptor.getPath().size() != 1) {
      throw SagittaException.invalid("the descriptor is no path of one element, the collection");
    }
    return Names.checkCollection("collection", descriptor.getPath().getFirst());
  }

  /** Waits on a virtual thread. */
  private static <T> T join(CompletableFuture<T> future, Call call) {
    return bounded(future, call).join();
  }

  // ---- DoAction

  @Override
  public void doAction(CallContext context, Action action, StreamListener<Result> listener) {
    try {
      if (!Commands.ACTIONS.contains(action.getType())
          && Commands.VERBS.contains(action.getType())) {
        throw SagittaException.invalid(
            "'" + action.getType() + "' is no action, expected one of " + Commands.ACTIONS);
      }
      Command command = Commands.parseBody(action.getType(), action.getBody());
      Call call = Calls.current(callTimeout, OptionalLong.empty());
      Calls.deliver(
          bounded(handler.act(command, call), call),
          json -> {
            listener.onNext(new Result(json));
            listener.onCompleted();
          },
          failure -> listener.onError(sent(command.verb(), failure)));
    } catch (RuntimeException e) {
      listener.onError(sent(action.getType(), e));
    }
  }

  @Override
  public void listActions(CallContext context, StreamListener<ActionType> listener) {
    ActionDescriptions.ALL.forEach(listener::onNext);
    listener.onCompleted();
  }

  // ---- not here

  @Override
  public Runnable acceptPut(
      CallContext context, FlightStream stream, StreamListener<PutResult> acks) {
    throw new IllegalStateException("PutService serves DoPut");
  }
}
