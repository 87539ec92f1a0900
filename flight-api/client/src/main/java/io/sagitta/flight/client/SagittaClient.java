// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.flight.Command;
import io.sagitta.flight.Command.Consistency;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.flight.Commands;
import io.sagitta.flight.FlightErrors;
import io.sagitta.flight.SchemaJson;
import io.sagitta.flight.client.Connections.Connection;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.WriterId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;
import org.apache.arrow.flight.Action;
import org.apache.arrow.flight.CallOption;
import org.apache.arrow.flight.CallOptions;
import org.apache.arrow.flight.Criteria;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.FlightInfo;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.Result;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * A client of a cluster. Thread-safe; make one and keep it. Every call ends within the timeout,
 * fails with a {@link SagittaException} by the contract's table, and is tried again through other
 * endpoints only where that is safe: reads, and writes that certainly were not applied. For writing
 * many rows see {@link #writer}.
 */
public final class SagittaClient implements AutoCloseable {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final ClientConfig config;
  private final BufferAllocator allocator;
  private final boolean ownsAllocator;
  private final Connections connections;
  private final RetryBudget budget = new RetryBudget();
  private final RandomGenerator random;
  private final ThreadFactory threads;

  private SagittaClient(Builder builder) {
    this.config =
        new ClientConfig(
            builder.endpoints, builder.timeout, builder.scanTimeout, builder.tls, builder.token);
    this.ownsAllocator = builder.allocator == null;
    this.allocator = ownsAllocator ? new RootAllocator() : builder.allocator;
    this.random = builder.random;
    this.threads = Thread.ofVirtual().name("sagitta-writer-", 0).factory();
    this.connections = new Connections(config, allocator);
  }

  public static Builder builder() {
    return new Builder();
  }

  /** A client of these endpoints ({@code host:port}) with default settings. */
  public static SagittaClient connect(String... endpoints) {
    return builder().endpoints(endpoints).build();
  }

  /** Settings of a client. */
  public static final class Builder {
    private List<Endpoint> endpoints = List.of();
    private Duration timeout = Duration.ofSeconds(10);
    private Duration scanTimeout = Duration.ofHours(1);
    private Optional<Path> tls = Optional.empty();
    private Optional<String> token = Optional.empty();
    private BufferAllocator allocator;
    private RandomGenerator random = new SplittableRandom(System.nanoTime());

    private Builder() {}

    /** Any nodes of the cluster, as {@code host:port}. */
    public Builder endpoints(String... addresses) {
      endpoints = Arrays.stream(addresses).map(Endpoint::parse).toList();
      return this;
    }

    /** Longest time of one call, its retries included; 10 s unless set. */
    public Builder timeout(Duration longest) {
      timeout = longest;
      return this;
    }

    /** Longest time of one scan; an hour unless set. */
    public Builder scanTimeout(Duration longest) {
      scanTimeout = longest;
      return this;
    }

    /** Uses TLS; the file holds the authorities that vouch for the nodes, as PEM. */
    public Builder tls(Path authorities) {
      tls = Optional.of(authorities);
      return this;
    }

    /** Sends a bearer token with every call. */
    public Builder token(String bearer) {
      token = Optional.of(bearer);
      return this;
    }

    /** Memory of answers; the caller's to close, after the client. */
    public Builder allocator(BufferAllocator memory) {
      allocator = memory;
      return this;
    }

    /** Source of the jitter between retries. */
    public Builder random(RandomGenerator jitter) {
      random = jitter;
      return this;
    }

    public SagittaClient build() {
      return new SagittaClient(this);
    }
  }

  // ---- reads

  /** Begins a search of a collection. */
  public SearchBuilder search(String collection) {
    return new SearchBuilder(this, collection);
  }

  /** Searches. Close the answer. */
  public Answer search(Command.Search search) {
    long timeoutMs = search.timeoutMs().orElse(Long.MAX_VALUE);
    return ask(search, Math.min(timeoutMs, config.timeout().toMillis()));
  }

  /** Points by id, in the order asked, absent ones left out. Close the answer. */
  public Answer get(Command.Get get) {
    return ask(get, config.timeout().toMillis());
  }

  /** Points by id with all their fields. Close the answer. */
  public Answer get(String collection, List<? extends PointId> ids) {
    return get(
        new Command.Get(
            collection,
            ids.stream().map(SagittaClient::idText).toList(),
            Optional.empty(),
            Consistency.STRONG));
  }

  private Answer ask(Command command, long timeoutMs) {
    Ticket ticket = new Ticket(Commands.print(command));
    return call(
        timeoutMs,
        (connection, timeout) -> {
          try (FlightStream stream = connection.flight().getStream(ticket, timeout)) {
            return Answer.read(stream, allocator);
          } catch (RuntimeException e) {
            throw e;
          } catch (Exception e) {
            throw new IllegalStateException("closing a stream that was read to its end", e);
          }
        });
  }

  /** Begins a scan; only its beginning is tried again. Close the reader. */
  public ScanReader scan(Command.Scan scan) {
    Ticket ticket = new Ticket(Commands.print(scan));
    return call(
        config.scanTimeout().toMillis(),
        (connection, timeout) -> new ScanReader(connection.flight().getStream(ticket, timeout)));
  }

  /** Every point of a collection in id order. */
  public ScanReader scan(String collection) {
    return scan(
        new Command.Scan(
            collection,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            OptionalInt.empty(),
            Consistency.STRONG,
            OptionalInt.empty()));
  }

  /** Number of points. */
  public long count(String collection) {
    return count(new Command.Count(collection, Optional.empty(), Consistency.STRONG));
  }

  /** Number of points that a filter matches. */
  public long count(String collection, String filter, Object... params) {
    FilterText text = new FilterText(filter, Arrays.asList(params));
    return count(new Command.Count(collection, Optional.of(text), Consistency.STRONG));
  }

  public long count(Command.Count count) {
    return act(count).path("count").asLong();
  }

  // ---- collections

  /** A collection in a listing; {@code rows} is -1 where it is not known. */
  public record CollectionInfo(String name, Schema schema, long rows) {}

  public List<CollectionInfo> collections() {
    return call(
        config.timeout().toMillis(),
        (connection, timeout) -> {
          List<CollectionInfo> collections = new ArrayList<>();
          for (FlightInfo info : connection.flight().listFlights(Criteria.ALL, timeout)) {
            collections.add(
                new CollectionInfo(
                    info.getDescriptor().getPath().getFirst(),
                    info.getSchemaOptional().orElse(new Schema(List.of())),
                    info.getRecords()));
          }
          return collections;
        });
  }

  /** Arrow schema of a collection, with the roles of its fields in their metadata. */
  public Schema schema(String collection) {
    FlightDescriptor descriptor = FlightDescriptor.path(collection);
    return call(
        config.timeout().toMillis(),
        (connection, timeout) -> connection.flight().getSchema(descriptor, timeout).getSchema());
  }

  /** What the cluster knows of a collection. */
  public ObjectNode describe(String collection) {
    return act(new Command.Describe(collection));
  }

  /** The schema within an answer of {@link #describe}. */
  public static CollectionSchema schemaOf(ObjectNode description) {
    ObjectNode schema = MAPPER.createObjectNode();
    schema.set("id", description.get("id"));
    schema.set("fields", description.get("fields"));
    return SchemaJson.parse(schema.toString().getBytes(StandardCharsets.UTF_8));
  }

  public ObjectNode create(CreateSpec spec) {
    return act(new Command.Create(spec));
  }

  /** Creates a collection with the cluster's choice of shards and replicas. */
  public ObjectNode create(String collection, CollectionSchema schema) {
    return create(new CreateSpec(collection, schema, OptionalInt.empty(), OptionalInt.empty()));
  }

  public ObjectNode drop(String collection) {
    return act(new Command.Drop(collection));
  }

  /** Compares the replicas of a collection. */
  public ObjectNode verify(String collection) {
    return act(new Command.Verify(collection));
  }

  public ObjectNode status() {
    return act(new Command.Status());
  }

  // ---- writes

  /** Rows changed, and a token for reads that must see the change. */
  public record Changed(long rows, String token) {}

  /** Deletes what a filter matches. */
  public Changed delete(String collection, String filter, Object... params) {
    FilterText text = new FilterText(filter, Arrays.asList(params));
    JsonNode answer = act(new Command.Delete(collection, text));
    return new Changed(answer.path("rows").asLong(), answer.path("token").asText());
  }

  /** Opens a writer's identity. */
  public WriterId openWriter() {
    return openWriter(OptionalLong.empty());
  }

  /** Opens a writer's identity that is later than a horizon ({@link SessionExpiry#horizonMs}). */
  public WriterId openWriter(OptionalLong afterMs) {
    return WriterId.parse(act(new Command.OpenWriter(afterMs)).path("writer").asText());
  }

  /** A writer of upserts with default settings. */
  public Writer writer(String collection) {
    return writer(WriterOptions.of(collection));
  }

  /** A writer; its batches take effect exactly once. Close it. */
  public Writer writer(WriterOptions options) {
    WriterId id = options.writer().orElseGet(this::openWriter);
    return Writer.open(options, id, connections, random, threads);
  }

  // ---- calls

  /** Runs any action and gives its answer. */
  public ObjectNode act(Command command) {
    Action action = new Action(command.verb(), Commands.printBody(command));
    byte[] json =
        call(
            config.timeout().toMillis(),
            isRead(command),
            (connection, timeout) -> {
              Iterator<Result> results = connection.flight().doAction(action, timeout);
              byte[] first = results.next().getBody();
              // Reads the end of the stream, and with it the status.
              results.forEachRemaining(more -> {});
              return first;
            });
    try {
      return (ObjectNode) MAPPER.readTree(json);
    } catch (IOException | ClassCastException e) {
      throw new SagittaException(
          ErrorCode.INTERNAL, "'" + command.verb() + "' was answered by no JSON object", e);
    }
  }

  private static boolean isRead(Command command) {
    return switch (command) {
      case Command.Search search -> true;
      case Command.Get get -> true;
      case Command.Scan scan -> true;
      case Command.Describe describe -> true;
      case Command.Verify verify -> true;
      case Command.Count count -> true;
      case Command.Status status -> true;
      // An identity that nobody uses does no harm.
      case Command.OpenWriter open -> true;
      case Command.Put put -> false;
      case Command.Create create -> false;
      case Command.Drop drop -> false;
      case Command.Delete delete -> false;
      case Command.SetPayload set -> false;
      case Command.UnsetPayload unset -> false;
    };
  }

  private <T> T call(long timeoutMs, BiFunction<Connection, CallOption, T> attempt) {
    return call(timeoutMs, true, attempt);
  }

  /** Tries until it works, the time is up, or trying again is not safe or not within the budget. */
  private <T> T call(long timeoutMs, boolean read, BiFunction<Connection, CallOption, T> attempt) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    Backoff backoff = new Backoff(random);
    while (true) {
      Connection connection = connections.current();
      long leftMs = Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime()));
      try {
        T answer = attempt.apply(connection, CallOptions.timeout(leftMs, TimeUnit.MILLISECONDS));
        budget.earn();
        return answer;
      } catch (RuntimeException e) {
        SagittaException failure = FlightErrors.fromCall(e, !read);
        if (failure.code() != ErrorCode.UNAVAILABLE) {
          throw failure;
        }
        connections.failed(connection);
        long waitMs = backoff.next(failure.retryAfterMs());
        boolean late = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs) - end >= 0;
        if (late || !budget.take()) {
          throw failure;
        }
        pause(waitMs, failure);
      }
    }
  }

  private static void pause(long ms, SagittaException failure) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failure.addSuppressed(e);
      throw failure;
    }
  }

  static Command.IdText idText(PointId id) {
    return new Command.IdText(id.toString(), !(id instanceof PointId.Int64));
  }

  /** Ends all connections. Writers are the caller's to close before. */
  @Override
  public void close() {
    connections.close();
    if (ownsAllocator) {
      allocator.close();
    }
  }
}
