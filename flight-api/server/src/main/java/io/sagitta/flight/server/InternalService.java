// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import com.google.protobuf.UnsafeByteOperations;
import io.grpc.Context;
import io.grpc.stub.StreamObserver;
import io.sagitta.flight.internal.Failures;
import io.sagitta.flight.internal.InternalCodec;
import io.sagitta.flight.internal.InternalHandler;
import io.sagitta.flight.internal.proto.BarrierReply;
import io.sagitta.flight.internal.proto.BarrierRequest;
import io.sagitta.flight.internal.proto.InternalGrpc;
import io.sagitta.flight.internal.proto.Opaque;
import io.sagitta.flight.internal.proto.PrefetchReply;
import io.sagitta.flight.internal.proto.PrefetchRequest;
import io.sagitta.flight.internal.proto.SendCheckpointReply;
import io.sagitta.flight.internal.proto.SendCheckpointRequest;
import io.sagitta.flight.internal.proto.TermsReply;
import io.sagitta.flight.internal.proto.TermsRequest;
import io.sagitta.flight.internal.proto.WriteReply;
import io.sagitta.flight.internal.proto.WriteRequest;
import io.sagitta.model.NodeId;
import io.sagitta.model.WriteOutcomeCodec;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The protobuf service between nodes. {@code Write} and {@code Terms} are answered from the
 * transport's thread, being on the path of every write and every strong read; their handlers only
 * enqueue or read fields. The others change or wait and run on virtual threads.
 */
final class InternalService extends InternalGrpc.InternalImplBase {
  private final InternalHandler handler;
  private final Executor virtualThreads;

  InternalService(InternalHandler handler, Executor virtualThreads) {
    this.handler = handler;
    this.virtualThreads = virtualThreads;
  }

  @Override
  public void write(WriteRequest request, StreamObserver<WriteReply> reply) {
    AtomicBoolean cancelled = new AtomicBoolean();
    Calls.onAbandoned(Context.current(), () -> cancelled.set(true));
    answer(
        "write",
        () ->
            handler.write(
                InternalCodec.decode(request),
                InternalCodec.context(request, System.nanoTime(), cancelled)),
        outcome ->
            WriteReply.newBuilder()
                .setOutcome(UnsafeByteOperations.unsafeWrap(WriteOutcomeCodec.encode(outcome)))
                .build(),
        reply);
  }

  @Override
  public void terms(TermsRequest request, StreamObserver<TermsReply> reply) {
    answer(
        "terms",
        () -> CompletableFuture.completedFuture(terms(request)),
        Function.identity(),
        reply);
  }

  private TermsReply terms(TermsRequest request) {
    List<UUID> groups = request.getGroupsList().stream().map(InternalCodec::uuid).toList();
    Map<UUID, Long> terms = handler.terms(groups);
    TermsReply.Builder reply = TermsReply.newBuilder();
    groups.forEach(group -> reply.addTerms(terms.getOrDefault(group, -1L)));
    return reply.build();
  }

  @Override
  public void leaderBarrier(BarrierRequest request, StreamObserver<BarrierReply> reply) {
    answer(
        "leaderBarrier",
        () -> handler.leaderBarrier(InternalCodec.uuid(request.getGroup()), request.getTimeoutMs()),
        index -> BarrierReply.newBuilder().setIndex(index).build(),
        reply);
  }

  @Override
  public void metadata(Opaque request, StreamObserver<Opaque> reply) {
    virtualThreads.execute(
        () ->
            answer(
                "metadata",
                () -> handler.metadata(request.getBody().toByteArray()),
                InternalService::opaque,
                reply));
  }

  @Override
  public void placement(Opaque request, StreamObserver<Opaque> reply) {
    virtualThreads.execute(
        () ->
            answer(
                "placement",
                () -> handler.placement(request.getBody().toByteArray()),
                InternalService::opaque,
                reply));
  }

  @Override
  public void prefetchCheckpoint(PrefetchRequest request, StreamObserver<PrefetchReply> reply) {
    virtualThreads.execute(
        () ->
            answer(
                "prefetchCheckpoint",
                () ->
                    handler.prefetchCheckpoint(
                        InternalCodec.uuid(request.getGroup()),
                        request.getManifest().toByteArray(),
                        new NodeId(InternalCodec.uuid(request.getSourceNode())),
                        request.getSourceHost(),
                        request.getSourcePort()),
                done -> PrefetchReply.getDefaultInstance(),
                reply));
  }

  @Override
  public void sendCheckpoint(
      SendCheckpointRequest request, StreamObserver<SendCheckpointReply> reply) {
    virtualThreads.execute(
        () ->
            answer(
                "sendCheckpoint",
                () ->
                    handler.sendCheckpoint(
                        InternalCodec.uuid(request.getGroup()),
                        request.getMinIndex(),
                        new NodeId(InternalCodec.uuid(request.getToNode()))),
                sent ->
                    SendCheckpointReply.newBuilder()
                        .setTerm(sent.term())
                        .setIndex(sent.index())
                        .setManifest(UnsafeByteOperations.unsafeWrap(sent.manifest()))
                        .setConfiguration(UnsafeByteOperations.unsafeWrap(sent.configuration()))
                        .build(),
                reply));
  }

  private static Opaque opaque(byte[] body) {
    return Opaque.newBuilder().setBody(UnsafeByteOperations.unsafeWrap(body)).build();
  }

  private static <T, R> void answer(
      String call,
      Supplier<CompletableFuture<T>> asked,
      Function<T, R> encode,
      StreamObserver<R> reply) {
    CompletableFuture<T> future;
    try {
      future = asked.get();
    } catch (RuntimeException e) {
      reply.onError(Failures.toGrpc(BugLog.logged(call, e)));
      return;
    }
    Calls.deliver(
        future,
        value -> {
          reply.onNext(encode.apply(value));
          reply.onCompleted();
        },
        failure -> reply.onError(Failures.toGrpc(BugLog.logged(call, failure))));
  }
}
