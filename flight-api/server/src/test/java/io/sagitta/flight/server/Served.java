// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.flight.Action;
import org.apache.arrow.flight.CallOptions;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.Location;
import org.apache.arrow.flight.PutResult;
import org.apache.arrow.flight.Result;
import org.apache.arrow.flight.SyncPutListener;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * A public endpoint over a {@link FakeHandler} with a plain Flight client; closing checks for
 * leaks.
 */
final class Served implements AutoCloseable {
  static final int DIM = 4;

  /** id, vector and text: what most tests put. */
  static final Schema ROWS =
      new Schema(
          List.of(
              new Field("id", FieldType.notNullable(new ArrowType.Int(64, true)), List.of()),
              new Field(
                  "v",
                  FieldType.notNullable(new ArrowType.FixedSizeList(DIM)),
                  List.of(
                      new Field(
                          "item",
                          FieldType.notNullable(
                              new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE)),
                          List.of()))),
              new Field("text", FieldType.nullable(ArrowType.Utf8.INSTANCE), List.of())));

  final RootAllocator allocator = new RootAllocator(1L << 30);
  final ExecutorService virtualThreads = Executors.newVirtualThreadPerTaskExecutor();
  final FakeHandler handler = new FakeHandler(allocator, virtualThreads);
  final PublicEndpoint endpoint;
  final FlightClient client;

  Served() {
    this(loopback());
  }

  Served(PortConfig config) {
    endpoint = PublicEndpoint.start(config, handler, Authenticator.OPEN, allocator, virtualThreads);
    client =
        FlightClient.builder(allocator, Location.forGrpcInsecure("127.0.0.1", endpoint.port()))
            .build();
  }

  static PortConfig loopback() {
    return new PortConfig(
        "127.0.0.1",
        0,
        Optional.empty(),
        256L << 20,
        Duration.ofSeconds(20),
        Duration.ofSeconds(10));
  }

  /** A collection {@code c} of {@link #ROWS} with cosine. */
  Served withCollection() {
    act(
        "create",
        "{'collection':'c','fields':[{'name':'v','type':'float32','dim':4},"
            + "{'name':'text','type':'utf8'}]}");
    return this;
  }

  /** Runs an action and gives its answer. */
  String act(String verb, String json) {
    Iterator<Result> results =
        client.doAction(
            new Action(verb, json.replace('\'', '"').getBytes(StandardCharsets.UTF_8)),
            CallOptions.timeout(20, TimeUnit.SECONDS));
    String answer = new String(results.next().getBody(), StandardCharsets.UTF_8);
    while (results.hasNext()) {
      throw new AssertionError("a second result: " + results.next());
    }
    return answer;
  }

  /** What a DoGet answered: schema, rows as text, app_metadata of each message. */
  record Read(Schema schema, List<String> rows, List<Integer> batches, List<String> metadata) {}

  Read read(String json) {
    return read(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  Read read(byte[] ticket) {
    try (FlightStream stream =
        client.getStream(new Ticket(ticket), CallOptions.timeout(20, TimeUnit.SECONDS))) {
      List<String> rows = new ArrayList<>();
      List<Integer> batches = new ArrayList<>();
      List<String> metadata = new ArrayList<>();
      while (stream.next()) {
        VectorSchemaRoot root = stream.getRoot();
        batches.add(root.getRowCount());
        for (int row = 0; row < root.getRowCount(); row++) {
          int at = row;
          rows.add(root.getFieldVectors().stream().map(v -> v.getObject(at)).toList().toString());
        }
        ArrowBuf last = stream.getLatestMetadata();
        if (last != null) {
          metadata.add(text(last));
        }
      }
      return new Read(stream.getSchema(), rows, batches, metadata);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  static String text(ArrowBuf buffer) {
    byte[] bytes = new byte[(int) buffer.readableBytes()];
    buffer.getBytes(buffer.readerIndex(), bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** Fills rows {@code from..from+count-1}: vector all ones but the id in component 0. */
  static void fill(VectorSchemaRoot root, int from, int count) {
    root.clear();
    BigIntVector ids = (BigIntVector) root.getVector("id");
    FixedSizeListVector vectors = (FixedSizeListVector) root.getVector("v");
    Float4Vector components = (Float4Vector) vectors.getDataVector();
    VarCharVector texts = (VarCharVector) root.getVector("text");
    for (int row = 0; row < count; row++) {
      ids.setSafe(row, from + row);
      vectors.setNotNull(row);
      for (int i = 0; i < DIM; i++) {
        components.setSafe(row * DIM + i, i == 0 ? from + row : 1);
      }
      texts.setSafe(row, ("t" + (from + row)).getBytes(StandardCharsets.UTF_8));
    }
    root.setRowCount(count);
  }

  /** An upload under way. */
  final class Upload implements AutoCloseable {
    final VectorSchemaRoot root;
    final SyncPutListener acks = new SyncPutListener();
    final FlightClient.ClientStreamListener stream;

    Upload(FlightDescriptor descriptor, Schema schema) {
      root = VectorSchemaRoot.create(schema, allocator);
      stream = client.startPut(descriptor, root, acks, CallOptions.timeout(30, TimeUnit.SECONDS));
    }

    void send(int from, int count) {
      fill(root, from, count);
      stream.putNext();
    }

    void send(int from, int count, String tag) {
      fill(root, from, count);
      byte[] json = tag.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
      ArrowBuf buffer = allocator.buffer(json.length);
      buffer.writeBytes(json);
      stream.putNext(buffer);
    }

    /** The next answer, or null at the stream's end. */
    String next() {
      try (PutResult result = acks.poll(20, TimeUnit.SECONDS)) {
        return result == null ? null : text(result.getApplicationMetadata());
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      } catch (ExecutionException e) {
        if (e.getCause() instanceof RuntimeException failed) {
          throw failed;
        }
        throw new AssertionError(e);
      }
    }

    /** Ends the stream and gives the answers left. */
    List<String> finish() {
      stream.completed();
      List<String> answers = new ArrayList<>();
      for (String answer = next(); answer != null; answer = next()) {
        answers.add(answer);
      }
      return answers;
    }

    @Override
    public void close() {
      acks.close();
      root.close();
    }
  }

  Upload upload(String collection) {
    return new Upload(FlightDescriptor.path(collection), ROWS);
  }

  Upload command(String json) {
    return new Upload(
        FlightDescriptor.command(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8)), ROWS);
  }

  /** Ends the endpoint without any courtesy: connections break, calls get no answer. */
  void kill() throws InterruptedException {
    endpoint.kill();
  }

  @Override
  public void close() throws InterruptedException {
    endpoint.close();
    client.close();
    virtualThreads.close();
    allocator.close();
  }
}
