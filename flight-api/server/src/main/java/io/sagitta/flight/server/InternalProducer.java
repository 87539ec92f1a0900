// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.grpc.Context;
import io.sagitta.flight.FlightErrors;
import io.sagitta.flight.internal.CallContext;
import io.sagitta.flight.internal.Failures;
import io.sagitta.flight.internal.InternalCodec;
import io.sagitta.flight.internal.InternalHandler;
import io.sagitta.flight.internal.InternalTicket;
import io.sagitta.flight.internal.StampJson;
import io.sagitta.flight.internal.proto.FileTicket;
import io.sagitta.flight.internal.proto.ReadTicket;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardRead;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.arrow.flight.Action;
import org.apache.arrow.flight.ActionType;
import org.apache.arrow.flight.Criteria;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.FlightInfo;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.NoOpFlightProducer;
import org.apache.arrow.flight.PutResult;
import org.apache.arrow.flight.Result;
import org.apache.arrow.flight.SchemaResult;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;

/** DoGet of the internal port: a shard's rows, or a file of a checkpoint. */
final class InternalProducer extends NoOpFlightProducer {
  /** Bytes of one message: between our own processes, so larger than the public bound. */
  private static final int MESSAGE_BYTES_MAX = 16 << 20;

  /** Bytes of one shard's part of an answer. */
  private static final long ANSWER_BYTES_MAX = 128L << 20;

  private static final long STALL_MS = 30_000;

  private static final Schema FILE_SCHEMA =
      new Schema(
          List.of(
              new Field(
                  InternalTicket.CHUNK_COLUMN,
                  FieldType.notNullable(ArrowType.Binary.INSTANCE),
                  List.of())));

  private final InternalHandler handler;
  private final BufferAllocator allocator;
  private final Executor virtualThreads;
  private final AnswerWriter answers;

  InternalProducer(InternalHandler handler, BufferAllocator allocator, Executor virtualThreads) {
    this.handler = handler;
    this.allocator = allocator;
    this.virtualThreads = virtualThreads;
    this.answers =
        new AnswerWriter(
            allocator,
            virtualThreads,
            MESSAGE_BYTES_MAX,
            ANSWER_BYTES_MAX,
            STALL_MS,
            failure -> sent("a read", failure));
  }

  @Override
  public void getStream(CallContext context, Ticket ticket, ServerStreamListener listener) {
    if (ticket.getBytes().length > 0 && ticket.getBytes()[0] == '{') {
      listener.error(wrongPort());
      return;
    }
    try {
      SlowReader reader = new SlowReader(listener);
      switch (InternalTicket.parse(ticket.getBytes())) {
        case InternalTicket.Read(ReadTicket read) -> read(read, listener, reader);
        case InternalTicket.File(FileTicket file) ->
            virtualThreads.execute(() -> file(file, listener, reader));
      }
    } catch (RuntimeException e) {
      listener.error(sent("a read", e));
    }
  }

  /** A failure as it is sent; where it is a bug, the log has it too. */
  private static FlightRuntimeException sent(String call, Throwable failure) {
    return Failures.toFlight(BugLog.logged(call, failure));
  }

  private void read(ReadTicket ticket, ServerStreamListener listener, SlowReader reader) {
    AtomicBoolean cancelled = new AtomicBoolean();
    Calls.onAbandoned(Context.current(), () -> cancelled.set(true));
    io.sagitta.flight.internal.CallContext call =
        InternalCodec.context(ticket, System.nanoTime(), cancelled);
    ShardRead asked = InternalCodec.decode(ticket);
    Calls.deliver(
        handler.read(asked, call),
        answer ->
            answers.send(
                answer.rows(),
                AnswerWriter.withMetadata(
                    answer.rows().getSchema(),
                    Map.of(StampJson.METADATA_KEY, StampJson.print(answer.stamp()))),
                listener,
                reader),
        failure -> listener.error(sent("a read of shard " + asked.shard(), failure)));
  }

  private void file(FileTicket ticket, ServerStreamListener listener, SlowReader reader) {
    Throwable failure = null;
    try (VectorSchemaRoot root = VectorSchemaRoot.create(FILE_SCHEMA, allocator);
        InputStream bytes = open(ticket)) {
      listener.start(root);
      VarBinaryVector column = (VarBinaryVector) root.getVector(0);
      for (byte[] chunk = bytes.readNBytes(InternalTicket.CHUNK_BYTES_MAX);
          chunk.length > 0;
          chunk = bytes.readNBytes(InternalTicket.CHUNK_BYTES_MAX)) {
        reader.await(STALL_MS);
        column.setSafe(0, chunk);
        root.setRowCount(1);
        listener.putNext();
      }
    } catch (IOException e) {
      failure =
          new SagittaException(
              ErrorCode.NOT_FOUND,
              "file '" + ticket.getFileId() + "' cannot be read: " + e.getMessage(),
              e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failure = SagittaException.unavailable("the node is stopping", 500);
    } catch (RuntimeException e) {
      failure = e;
    }
    if (failure == null) {
      listener.completed();
    } else {
      listener.error(sent("sending a file of a checkpoint", failure));
    }
  }

  private InputStream open(FileTicket ticket) throws IOException {
    ShardId shard = new ShardId(InternalCodec.uuid(ticket.getShard()));
    return handler.openFile(shard, ticket.getFileId(), OptionalLong.of(ticket.getOffset()));
  }

  // ---- what only clients ask

  /** A client that has taken this port for the public one. */
  private static FlightRuntimeException wrongPort() {
    return FlightErrors.toFlight(
        new SagittaException(
            ErrorCode.UNIMPLEMENTED,
            "this is no public Flight port of Sagitta but a node's internal one, for other nodes;"
                + " clients use ports.flight, 8815 unless configured otherwise"));
  }

  @Override
  public void doAction(CallContext context, Action action, StreamListener<Result> listener) {
    listener.onError(wrongPort());
  }

  @Override
  public void listActions(CallContext context, StreamListener<ActionType> listener) {
    listener.onError(wrongPort());
  }

  @Override
  public void listFlights(
      CallContext context, Criteria criteria, StreamListener<FlightInfo> listener) {
    listener.onError(wrongPort());
  }

  @Override
  public FlightInfo getFlightInfo(CallContext context, FlightDescriptor descriptor) {
    throw wrongPort();
  }

  @Override
  public SchemaResult getSchema(CallContext context, FlightDescriptor descriptor) {
    throw wrongPort();
  }

  @Override
  public Runnable acceptPut(
      CallContext context, FlightStream stream, StreamListener<PutResult> acks) {
    throw new IllegalStateException("uploads are refused before they come here");
  }
}
