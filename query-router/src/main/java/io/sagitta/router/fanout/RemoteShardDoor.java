// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.fanout;

import io.grpc.Context;
import io.sagitta.flight.internal.CallContext;
import io.sagitta.flight.internal.Failures;
import io.sagitta.flight.internal.InternalCodec;
import io.sagitta.flight.internal.InternalTicket;
import io.sagitta.flight.internal.ShardDoor;
import io.sagitta.flight.internal.StampJson;
import io.sagitta.flight.internal.proto.WriteReply;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.ReadMode;
import io.sagitta.model.ReadStamp;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.RowSelection;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteOutcome;
import io.sagitta.model.WriteOutcomeCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.arrow.flight.CallOptions;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.util.TransferPair;

/** Another node's shards over its internal port: reads by DoGet, writes by the protobuf service. */
final class RemoteShardDoor implements ShardDoor {
  private final Peer peer;
  private final String name;
  private final BufferAllocator allocator;
  private final Executor workers;
  private final CancelWatch watch;
  private final LongSupplier nanoTime;
  private final long answerBytesMax;
  private final OwnVotes votes;

  RemoteShardDoor(
      Peer peer,
      String name,
      BufferAllocator allocator,
      Executor workers,
      CancelWatch watch,
      LongSupplier nanoTime,
      long answerBytesMax,
      OwnVotes votes) {
    this.peer = peer;
    this.name = name;
    this.allocator = allocator;
    this.workers = workers;
    this.watch = watch;
    this.nanoTime = nanoTime;
    this.answerBytesMax = answerBytesMax;
    this.votes = votes;
  }

  @Override
  public CompletableFuture<WriteOutcome> write(ShardWrite write, CallContext call) {
    long now = nanoTime.getAsLong();
    long left = call.deadlineNanos() - now;
    if (left <= 0) {
      return CompletableFuture.failedFuture(
          SagittaException.unavailable("the call's time was over before the write was sent", 0));
    }
    try {
      var stub = peer.writes().withDeadlineAfter(left, TimeUnit.NANOSECONDS);
      return Peer.<io.sagitta.flight.internal.proto.WriteRequest, WriteReply>unary(
              name, true, stub::write, InternalCodec.encode(write, call, now))
          .thenApply(reply -> WriteOutcomeCodec.decode(reply.getOutcome().asReadOnlyByteBuffer()));
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(Failures.fromCall(e, name, true));
    }
  }

  @Override
  public CompletableFuture<ShardAnswer> read(ShardRead read, CallContext call) {
    CompletableFuture<ShardAnswer> answer = new CompletableFuture<>();
    try {
      workers.execute(
          () -> {
            try {
              answer.complete(readNow(read, call));
            } catch (SagittaException e) {
              answer.completeExceptionally(e);
            } catch (Exception e) {
              answer.completeExceptionally(Failures.fromCall(e, name, false));
            } catch (Throwable e) {
              answer.completeExceptionally(e);
            }
          });
    } catch (RuntimeException e) {
      answer.completeExceptionally(SagittaException.unavailable("the node stops", 0));
    }
    return answer;
  }

  @Override
  public CompletableFuture<Void> pulse(Duration timeout) {
    return peer.terms(List.of(), timeout).thenApply(terms -> null);
  }

  private ShardAnswer readNow(ShardRead read, CallContext call) throws Exception {
    long now = nanoTime.getAsLong();
    long left = call.deadlineNanos() - now;
    if (left <= 0) {
      throw new SagittaException(ErrorCode.DEADLINE_EXCEEDED, "the call's time is over");
    }
    // Read here: the request that this serves has reached this node by now.
    CallContext asked =
        read.mode() instanceof ReadMode.Strong ? call.from(votes.term(read.shard())) : call;
    Ticket ticket =
        new Ticket(new InternalTicket.Read(InternalCodec.encode(read, asked, now)).toBytes());
    Context.CancellableContext context = Context.current().withCancellation();
    try (CancelWatch.Watched watched = watch.watch(call.cancelled(), () -> context.cancel(null))) {
      return context.call(() -> receive(ticket, left));
    } finally {
      context.cancel(null);
    }
  }

  private ShardAnswer receive(Ticket ticket, long leftNanos) throws Exception {
    List<VectorSchemaRoot> batches = new ArrayList<>();
    try (FlightStream stream =
        peer.readClient().getStream(ticket, CallOptions.timeout(leftNanos, TimeUnit.NANOSECONDS))) {
      ReadStamp stamp =
          StampJson.parse(
              stream.getRoot().getSchema().getCustomMetadata().get(StampJson.METADATA_KEY));
      long bytes = 0;
      while (stream.next()) {
        VectorSchemaRoot batch = take(stream.getRoot());
        batches.add(batch);
        bytes += bytes(batch);
        if (bytes > answerBytesMax) {
          // Closing a stream reads it to its end; this one has been read far enough.
          stream.cancel("the answer is too large", null);
          throw new SagittaException(
              ErrorCode.LIMIT,
              "shard %s answers more than %d bytes; ask for fewer rows or fields"
                  .formatted(stamp.shard(), answerBytesMax));
        }
      }
      if (batches.isEmpty()) {
        batches.add(take(stream.getRoot()));
      }
      return new ShardAnswer(stamp, join(batches));
    } finally {
      batches.forEach(VectorSchemaRoot::close);
    }
  }

  /** The batch at hand, out of the stream's own root, which the next batch overwrites. */
  private VectorSchemaRoot take(VectorSchemaRoot root) {
    List<FieldVector> vectors = new ArrayList<>(root.getFieldVectors().size());
    for (FieldVector vector : root.getFieldVectors()) {
      TransferPair transfer = vector.getTransferPair(vector.getField(), allocator);
      transfer.transfer();
      vectors.add((FieldVector) transfer.getTo());
    }
    return new VectorSchemaRoot(root.getSchema().getFields(), vectors, root.getRowCount());
  }

  /** All batches as one; takes a lone batch as it is and out of the list. */
  private VectorSchemaRoot join(List<VectorSchemaRoot> batches) {
    if (batches.size() == 1) {
      return batches.removeFirst();
    }
    return RowBatchCodec.copy(batches.stream().map(RowSelection::all).toList(), allocator);
  }

  private static long bytes(VectorSchemaRoot batch) {
    long bytes = 0;
    for (FieldVector vector : batch.getFieldVectors()) {
      bytes += vector.getBufferSize();
    }
    return bytes;
  }
}
