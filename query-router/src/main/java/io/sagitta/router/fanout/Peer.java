// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.fanout;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import io.sagitta.flight.internal.Failures;
import io.sagitta.flight.internal.InternalCodec;
import io.sagitta.flight.internal.InternalTicket;
import io.sagitta.flight.internal.SentCheckpoint;
import io.sagitta.flight.internal.ShardDoor;
import io.sagitta.flight.internal.proto.BarrierReply;
import io.sagitta.flight.internal.proto.BarrierRequest;
import io.sagitta.flight.internal.proto.FileTicket;
import io.sagitta.flight.internal.proto.InternalGrpc;
import io.sagitta.flight.internal.proto.Opaque;
import io.sagitta.flight.internal.proto.PrefetchRequest;
import io.sagitta.flight.internal.proto.SendCheckpointRequest;
import io.sagitta.flight.internal.proto.TermsReply;
import io.sagitta.flight.internal.proto.TermsRequest;
import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.arrow.flight.CallOptions;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightGrpcUtils;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Another node, by its internal port. Three connections, so that none delays another: reads; writes
 * and files, which carry bytes; and the node's own small calls, by which leaders are proved and
 * groups agree.
 *
 * <p>Failures are what the peer threw; a call that failed on the way is UNAVAILABLE, or
 * OUTCOME_UNKNOWN of a write that may have been sent.
 */
public final class Peer implements AutoCloseable {
  private final String name;
  private final LazyChannel reads;
  private final LazyChannel bulk;
  private final LazyChannel control;
  private final BufferAllocator allocator;
  private final ShardDoor door;

  /** Guards the two below. */
  private final Object lock = new Object();

  private FlightClient readClient;
  private FlightClient fileClient;

  Peer(
      String name,
      Supplier<ManagedChannel> open,
      BufferAllocator allocator,
      Executor workers,
      CancelWatch watch,
      LongSupplier nanoTime,
      long answerBytesMax,
      OwnVotes votes) {
    this.name = name;
    this.reads = new LazyChannel(open);
    this.bulk = new LazyChannel(open);
    this.control = new LazyChannel(open);
    this.allocator = allocator;
    this.door =
        new RemoteShardDoor(this, name, allocator, workers, watch, nanoTime, answerBytesMax, votes);
  }

  /** Its shards. */
  public ShardDoor door() {
    return door;
  }

  /** Current terms in the order asked, -1 where it does not vote. */
  public CompletableFuture<List<Long>> terms(List<UUID> groups, Duration timeout) {
    TermsRequest.Builder request = TermsRequest.newBuilder();
    groups.forEach(group -> request.addGroups(InternalCodec.bytes(group)));
    return control(timeout, request.build(), InternalGrpc.InternalStub::terms, false)
        .thenApply(TermsReply::getTermsList);
  }

  /** A read barrier of the group it leads. */
  public CompletableFuture<Long> leaderBarrier(UUID group, Duration timeout) {
    BarrierRequest request =
        BarrierRequest.newBuilder()
            .setGroup(InternalCodec.bytes(group))
            .setTimeoutMs(timeout.toMillis())
            .build();
    return control(timeout, request, InternalGrpc.InternalStub::leaderBarrier, false)
        .thenApply(BarrierReply::getIndex);
  }

  /** A request to the metadata group. */
  public CompletableFuture<byte[]> metadata(byte[] request, Duration timeout) {
    return control(timeout, opaque(request), InternalGrpc.InternalStub::metadata, true)
        .thenApply(reply -> reply.getBody().toByteArray());
  }

  /** Creation or removal of a group-replica. */
  public CompletableFuture<byte[]> placement(byte[] request, Duration timeout) {
    return control(timeout, opaque(request), InternalGrpc.InternalStub::placement, true)
        .thenApply(reply -> reply.getBody().toByteArray());
  }

  private static Opaque opaque(byte[] body) {
    return Opaque.newBuilder().setBody(ByteString.copyFrom(body)).build();
  }

  /** Has it fetch what it lacks of a checkpoint from the node named. */
  public CompletableFuture<Void> prefetch(
      UUID group,
      byte[] manifest,
      NodeId source,
      String sourceHost,
      int sourcePort,
      Duration timeout) {
    PrefetchRequest request =
        PrefetchRequest.newBuilder()
            .setGroup(InternalCodec.bytes(group))
            .setManifest(ByteString.copyFrom(manifest))
            .setSourceNode(InternalCodec.bytes(source.value()))
            .setSourceHost(sourceHost)
            .setSourcePort(sourcePort)
            .build();
    return control(timeout, request, InternalGrpc.InternalStub::prefetchCheckpoint, false)
        .thenApply(reply -> null);
  }

  /** Has it bring its newest checkpoint of a group, of {@code minIndex} or later, to a node. */
  public CompletableFuture<SentCheckpoint> sendCheckpoint(
      UUID group, long minIndex, NodeId to, Duration timeout) {
    SendCheckpointRequest request =
        SendCheckpointRequest.newBuilder()
            .setGroup(InternalCodec.bytes(group))
            .setMinIndex(minIndex)
            .setToNode(InternalCodec.bytes(to.value()))
            .build();
    return control(timeout, request, InternalGrpc.InternalStub::sendCheckpoint, false)
        .thenApply(
            reply ->
                new SentCheckpoint(
                    reply.getTerm(),
                    reply.getIndex(),
                    reply.getManifest().toByteArray(),
                    reply.getConfiguration().toByteArray()));
  }

  /**
   * Reads a file of a pinned checkpoint from {@code offset} on. Close the stream, also half read.
   *
   * @throws IOException from the stream, when the file or the connection ends too soon
   */
  public InputStream openFile(ShardId shard, String fileId, long offset, Duration timeout)
      throws IOException {
    FileTicket ticket =
        FileTicket.newBuilder()
            .setShard(InternalCodec.bytes(shard.value()))
            .setFileId(fileId)
            .setOffset(offset)
            .build();
    try {
      return new PeerFile(
          name,
          fileClient()
              .getStream(
                  new Ticket(new InternalTicket.File(ticket).toBytes()),
                  CallOptions.timeout(timeout.toMillis(), TimeUnit.MILLISECONDS)));
    } catch (FlightRuntimeException e) {
      throw new IOException(
          "file " + fileId + " of shard " + shard, Failures.fromCall(e, name, false));
    }
  }

  // ---- connections

  FlightClient readClient() {
    synchronized (lock) {
      if (readClient == null) {
        readClient = FlightGrpcUtils.createFlightClientWithSharedChannel(allocator, reads.get());
      }
      return readClient;
    }
  }

  private FlightClient fileClient() {
    synchronized (lock) {
      if (fileClient == null) {
        fileClient = FlightGrpcUtils.createFlightClientWithSharedChannel(allocator, bulk.get());
      }
      return fileClient;
    }
  }

  InternalGrpc.InternalStub writes() {
    return InternalGrpc.newStub(bulk.get());
  }

  /** A method of the service, such as {@code InternalStub::terms}. */
  interface Method<Q, R> {
    void call(InternalGrpc.InternalStub stub, Q request, StreamObserver<R> reply);
  }

  private <Q, R> CompletableFuture<R> control(
      Duration timeout, Q request, Method<Q, R> method, boolean write) {
    try {
      InternalGrpc.InternalStub stub =
          InternalGrpc.newStub(control.get())
              .withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS);
      return unary(name, write, (s, reply) -> method.call(stub, s, reply), request);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(Failures.fromCall(e, name, write));
    }
  }

  /** The reply of a unary call as a future, its failure as the door promises it. */
  static <Q, R> CompletableFuture<R> unary(
      String peer, boolean write, BiConsumer<Q, StreamObserver<R>> call, Q request) {
    CompletableFuture<R> future = new CompletableFuture<>();
    call.accept(
        request,
        new StreamObserver<>() {
          @Override
          public void onNext(R reply) {
            future.complete(reply);
          }

          @Override
          public void onError(Throwable failure) {
            future.completeExceptionally(Failures.fromCall(failure, peer, write));
          }

          @Override
          public void onCompleted() {
            future.completeExceptionally(
                Failures.fromCall(new IllegalStateException("no reply"), peer, write));
          }
        });
    return future;
  }

  @Override
  public void close() {
    synchronized (lock) {
      closeClient(readClient);
      closeClient(fileClient);
      readClient = null;
      fileClient = null;
    }
    reads.close();
    bulk.close();
    control.close();
  }

  private static void closeClient(FlightClient client) {
    if (client == null) {
      return;
    }
    try {
      client.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A channel opened at first use. */
  private static final class LazyChannel implements AutoCloseable {
    private final Supplier<ManagedChannel> open;
    private ManagedChannel channel;
    private boolean closed;

    private LazyChannel(Supplier<ManagedChannel> open) {
      this.open = open;
    }

    private synchronized ManagedChannel get() {
      if (closed) {
        throw new IllegalStateException("the connection is closed");
      }
      if (channel == null) {
        channel = open.get();
      }
      return channel;
    }

    @Override
    public synchronized void close() {
      closed = true;
      if (channel != null) {
        channel.shutdownNow();
      }
    }
  }
}
