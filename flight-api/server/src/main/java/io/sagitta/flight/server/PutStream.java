// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.sagitta.flight.Command;
import io.sagitta.flight.Commands;
import io.sagitta.flight.FlightErrors;
import io.sagitta.flight.PutAck;
import io.sagitta.flight.PutBatchTag;
import io.sagitta.flight.RequestHandler;
import io.sagitta.flight.RequestHandler.Call;
import io.sagitta.flight.RequestHandler.PutReply;
import io.sagitta.flight.RequestHandler.PutSession;
import io.sagitta.flight.server.ipc.IncomingBatches;
import io.sagitta.flight.server.ipc.IncomingFrame;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.WriteMode;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.arrow.flight.impl.Flight.FlightDescriptor;
import org.apache.arrow.flight.impl.Flight.PutResult;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * One DoPut. gRPC's callbacks fill an inbox; a virtual thread of the stream's own empties it and
 * reads like the protocol: descriptor and schema, READY, then batch by batch. The inbox holds at
 * most {@link #FRAMES_AHEAD} messages, since no more are asked for; so what a stream holds of
 * memory is those, the batches under way ({@link PutReplies}) and its dictionaries.
 */
final class PutStream extends ServerCall.Listener<IncomingFrame> {
  /** Messages asked for before they are wanted, so that the wire does not idle. */
  private static final int FRAMES_AHEAD = 2;

  /** How long a client may take to send its schema. */
  private static final long SCHEMA_TIMEOUT_MS = 30_000;

  /**
   * How long the last answers may take once no batch follows; sessions bound each batch themselves.
   */
  private static final long LAST_REPLIES_MS = 60_000;

  private final ServerCall<IncomingFrame, PutResult> call;
  private final RequestHandler handler;
  private final BufferAllocator allocator;
  private final PutReplies replies;
  private final BlockingQueue<Event> inbox = new LinkedBlockingQueue<>();
  // Each is set before the other is read, so that READY and a wish to rotate never miss each other.
  private volatile boolean ready;
  private volatile boolean rotating;
  private final AtomicBoolean rotated = new AtomicBoolean();
  // Guarded by inbox: no message is taken any more.
  private boolean ended;

  /** What gRPC and the answers told. */
  private sealed interface Event {
    record Frame(IncomingFrame frame) implements Event {}

    /** The message under way will not be taken. */
    record Refused(SagittaException error) implements Event {}

    /** The client has sent all it wanted. */
    record End() implements Event {}

    /** The client has gone. */
    record Gone() implements Event {}

    /** A batch has failed: no other begins. */
    record Failed() implements Event {}
  }

  PutStream(
      ServerCall<IncomingFrame, PutResult> call,
      RequestHandler handler,
      BufferAllocator allocator) {
    this.call = call;
    this.handler = handler;
    this.allocator = allocator;
    this.replies = new PutReplies(call, () -> inbox.add(new Event.Failed()));
  }

  /** Begins; {@code onEnd} runs when nothing of the stream is left. */
  ServerCall.Listener<IncomingFrame> start(Executor virtualThreads, Runnable onEnd) {
    Context context = Context.current();
    MessageSize.current().watch(this::tooLarge);
    virtualThreads.execute(
        context.wrap(
            () -> {
              try {
                run();
              } finally {
                onEnd.run();
              }
            }));
    return this;
  }

  /** Asks the client to go elsewhere, at once or after READY. */
  void rotate() {
    rotating = true;
    rotateOnceReady();
  }

  private void rotateOnceReady() {
    if (ready && rotating && rotated.compareAndSet(false, true)) {
      replies.send(new PutAck.Rotate());
    }
  }

  // ---- gRPC's callbacks

  /** What was sent before is answered, unless the client goes on filling memory meanwhile. */
  private void tooLarge(SagittaException error, boolean force) {
    if (force) {
      replies.close(status(error), FlightErrors.trailers(error));
    }
    inbox.add(new Event.Refused(error));
  }

  @Override
  public void onMessage(IncomingFrame frame) {
    synchronized (inbox) {
      if (!ended) {
        inbox.add(new Event.Frame(frame));
        return;
      }
    }
    // It was on its way when the call was closed.
    frame.close();
  }

  @Override
  public void onHalfClose() {
    inbox.add(new Event.End());
  }

  @Override
  public void onCancel() {
    replies.abandon();
    inbox.add(new Event.Gone());
  }

  // ---- the stream's thread

  private void run() {
    Optional<SagittaException> failure;
    try {
      call.sendHeaders(new Metadata());
      call.request(FRAMES_AHEAD);
      failure = serve();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failure = Optional.of(SagittaException.unavailable("the node is stopping", 500));
    } catch (RuntimeException e) {
      failure = Optional.of(FlightErrors.toSagitta(BugLog.logged("put", e)));
    }
    end(failure);
  }

  private void end(Optional<SagittaException> failure) {
    replies.close(
        failure.map(PutStream::status).orElse(Status.OK),
        failure.map(FlightErrors::trailers).orElseGet(Metadata::new));
    discardInbox();
  }

  private static Status status(SagittaException error) {
    return FlightErrors.grpcStatus(error.code())
        .withDescription(FlightErrors.describe(error))
        .withCause(error);
  }

  private void discardInbox() {
    synchronized (inbox) {
      ended = true;
    }
    for (Event event = inbox.poll(); event != null; event = inbox.poll()) {
      if (event instanceof Event.Frame(IncomingFrame frame)) {
        frame.close();
      }
    }
  }

  private Optional<SagittaException> serve() throws InterruptedException {
    Optional<FlightDescriptor> descriptor = Optional.empty();
    while (true) {
      Event event = inbox.poll(SCHEMA_TIMEOUT_MS, TimeUnit.MILLISECONDS);
      switch (event) {
        case null ->
            throw new SagittaException(
                ErrorCode.DEADLINE_EXCEEDED,
                "the stream's schema did not come within " + SCHEMA_TIMEOUT_MS + " ms");
        case Event.Gone gone -> {
          return Optional.empty();
        }
        case Event.Failed failed -> throw new IllegalStateException("no batch has begun");
        case Event.End end -> throw SagittaException.invalid("the stream ended before its schema");
        case Event.Refused(SagittaException error) -> throw error;
        case Event.Frame(IncomingFrame frame) -> {
          try (IncomingFrame.Data data = data(frame)) {
            descriptor = descriptor.or(data::descriptor);
            if (data.header().isPresent()) {
              return serve(put(descriptor), data);
            }
          }
          call.request(1);
        }
      }
    }
  }

  private static IncomingFrame.Data data(IncomingFrame frame) {
    return switch (frame) {
      case IncomingFrame.Data data -> data;
      case IncomingFrame.Refused refused -> throw refused.error();
    };
  }

  /** The command that the descriptor is: a path means an upsert. */
  private static Command.Put put(Optional<FlightDescriptor> sent) {
    FlightDescriptor descriptor =
        sent.orElseThrow(
            () -> SagittaException.invalid("the stream has no descriptor, expected a path or put"));
    List<String> path = descriptor.getPathList();
    if (descriptor.getType() == FlightDescriptor.DescriptorType.PATH) {
      if (path.size() != 1) {
        throw SagittaException.invalid(
            "the descriptor's path has " + path.size() + " elements, expected one: the collection");
      }
      String collection = Names.checkCollection("collection", path.getFirst());
      return new Command.Put(collection, WriteMode.UPSERT, Optional.empty(), Optional.empty());
    }
    if (Commands.parse(descriptor.getCmd().toByteArray()) instanceof Command.Put put) {
      return put;
    }
    throw SagittaException.invalid("the descriptor's command is no put");
  }

  private Optional<SagittaException> serve(Command.Put put, IncomingFrame.Data schema)
      throws InterruptedException {
    Call context = Calls.current(Calls.STREAM_TIMEOUT, OptionalLong.empty());
    try (IncomingBatches batches = IncomingBatches.open(schema, allocator);
        PutSession session =
            handler.put(put, batches.schema(), batches.dictionaries(), context).join()) {
      replies.send(new PutAck.Ready());
      ready = true;
      rotateOnceReady();
      call.request(1);
      Optional<SagittaException> refused = Optional.empty();
      try {
        takeAll(put, batches, session);
      } catch (SagittaException e) {
        refused = Optional.of(e);
      }
      Optional<SagittaException> failed = replies.await(LAST_REPLIES_MS);
      return failed.isPresent() ? failed : refused;
    }
  }

  /** Takes batches until the client ends, goes, or one of them fails. */
  private void takeAll(Command.Put put, IncomingBatches batches, PutSession session)
      throws InterruptedException {
    boolean more = true;
    while (more) {
      switch (inbox.take()) {
        case Event.Gone gone -> more = false;
        case Event.End end -> more = false;
        case Event.Failed failed -> more = false;
        case Event.Refused(SagittaException error) -> throw error;
        case Event.Frame(IncomingFrame frame) -> {
          try (IncomingFrame.Data data = data(frame)) {
            more = take(put, data, batches, session);
          }
          call.request(1);
        }
      }
    }
  }

  private boolean take(
      Command.Put put, IncomingFrame.Data frame, IncomingBatches batches, PutSession session)
      throws InterruptedException {
    if (frame.header().isEmpty()) {
      // Bytes of the client's own without a batch say nothing to us.
      return true;
    }
    Optional<VectorSchemaRoot> batch = batches.next(frame);
    if (batch.isEmpty()) {
      return true;
    }
    PutBatchTag tag = PutBatchTag.parse(frame.appMetadata(), put.writer().isPresent());
    CompletableFuture<PutReply> reply =
        batch.get().getRowCount() == 0
            ? CompletableFuture.completedFuture(nothing(tag))
            : session.put(batch.get(), tag.seq(), tag.ackedBelow());
    return replies.add(reply, tag.seq(), frame.bodyBytes());
  }

  /** A batch without rows changes nothing, and is answered all the same. */
  private static PutReply nothing(PutBatchTag tag) {
    return new PutReply(new PutAck.Done(tag.seq(), 0, List.of(), List.of(), "").toJson());
  }
}
