// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import com.google.protobuf.UnsafeByteOperations;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.sagitta.flight.FlightErrors;
import io.sagitta.flight.PutAck;
import io.sagitta.flight.RequestHandler.PutReply;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.arrow.flight.impl.Flight.PutResult;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The answers of one upload: one a batch, in the order of the batches, however their writes
 * complete. A batch that fails is answered in its place too, and no batch that was begun goes
 * unanswered before the stream ends with its error: so an error never hides what a shard has
 * already done.
 *
 * <p>At most {@link #BATCHES_MAX} batches and {@link #BYTES_MAX} bytes are under way; {@link #add}
 * waits for room. What a client does not read piles up in the transport, so that is bounded too.
 */
final class PutReplies {
  /** Batches under way: enough to fill the log's group commit, few enough to answer soon. */
  static final int BATCHES_MAX = 32;

  /** Bytes of batches under way. */
  static final long BYTES_MAX = 32L << 20;

  /** Bytes of answers that the client has left unread. */
  private static final long UNREAD_BYTES_MAX = 16L << 20;

  private static final Logger log = LoggerFactory.getLogger(PutReplies.class);

  private final ServerCall<?, PutResult> call;
  private final Runnable onFailure;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  // Guarded by lock.
  private final Deque<Pending> pending = new ArrayDeque<>();
  private long pendingBytes;
  private long unreadBytes;
  // The client has gone, or the call has been closed.
  private boolean gone;
  private Optional<SagittaException> failure = Optional.empty();

  private record Pending(CompletableFuture<PutReply> reply, OptionalLong seq, long bytes) {}

  /**
   * The answers of an upload.
   *
   * @param onFailure runs once when a batch has failed, on whatever thread that comes to light: the
   *     client may be waiting for the stream's end before it sends another batch
   */
  PutReplies(ServerCall<?, PutResult> call, Runnable onFailure) {
    this.call = call;
    this.onFailure = onFailure;
  }

  /** Sends an answer that belongs to no batch. */
  void send(PutAck ack) {
    lock.lock();
    try {
      sendLocked(ack.toJson());
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a batch's answer to come, then waits until another batch may begin.
   *
   * @return false when a batch has failed or the client has gone: no other batch may begin
   */
  boolean add(CompletableFuture<PutReply> reply, OptionalLong seq, long bytes)
      throws InterruptedException {
    lock.lock();
    try {
      pending.addLast(new Pending(reply, seq, bytes));
      pendingBytes += bytes;
    } finally {
      lock.unlock();
    }
    Calls.deliver(reply, done -> advance(), failed -> advance());
    lock.lock();
    try {
      while (!gone && failure.isEmpty() && fullLocked()) {
        changed.await();
      }
      return !gone && failure.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  private boolean fullLocked() {
    return pending.size() >= BATCHES_MAX || pendingBytes >= BYTES_MAX;
  }

  /** Sends every answer that is complete and has none incomplete before it. */
  private void advance() {
    lock.lock();
    try {
      while (!pending.isEmpty() && pending.peekFirst().reply().isDone()) {
        Pending next = pending.removeFirst();
        pendingBytes -= next.bytes();
        answerLocked(next);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void answerLocked(Pending batch) {
    if (!batch.reply().isCompletedExceptionally()) {
      PutReply reply = batch.reply().resultNow();
      sendLocked(reply.json());
      reply.failure().ifPresent(this::failLocked);
      return;
    }
    SagittaException error = FlightErrors.toSagitta(BugLog.logged("put", failureOf(batch.reply())));
    sendLocked(new PutAck.Failed(batch.seq(), error).toJson());
    failLocked(error);
  }

  private static Throwable failureOf(CompletableFuture<?> reply) {
    return reply.isCancelled() ? new CancellationException("cancelled") : reply.exceptionNow();
  }

  /** The first failure is the one with which the stream ends. */
  private void failLocked(SagittaException error) {
    if (failure.isEmpty()) {
      failure = Optional.of(error);
      onFailure.run();
    }
  }

  private void sendLocked(byte[] json) {
    if (gone) {
      return;
    }
    unreadBytes = call.isReady() ? 0 : unreadBytes + json.length;
    if (unreadBytes > UNREAD_BYTES_MAX) {
      failLocked(
          new SagittaException(
              ErrorCode.LIMIT, "the client has left " + unreadBytes + " bytes of answers unread"));
      return;
    }
    call.sendMessage(
        PutResult.newBuilder().setAppMetadata(UnsafeByteOperations.unsafeWrap(json)).build());
  }

  /**
   * Waits until every batch begun has been answered.
   *
   * @return the failure with which the stream is to end
   */
  Optional<SagittaException> await(long timeoutMs) throws InterruptedException {
    long left = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    lock.lock();
    try {
      while (!gone && !pending.isEmpty()) {
        if (left <= 0) {
          return Optional.of(
              new SagittaException(
                  ErrorCode.OUTCOME_UNKNOWN,
                  pending.size() + " batches had no outcome within " + timeoutMs + " ms"));
        }
        left = changed.awaitNanos(left);
      }
      return failure;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the call, unless the client has gone; nothing is sent any more. */
  void close(Status status, Metadata trailers) {
    lock.lock();
    try {
      if (!gone) {
        gone = true;
        call.close(status, trailers);
        changed.signalAll();
      }
    } catch (IllegalStateException e) {
      // gRPC closed the call itself, since the client has gone, and has yet to tell us.
      log.debug("call already closed: {}", e.getMessage());
    } finally {
      lock.unlock();
    }
  }

  /** The client has gone: nothing is sent any more. */
  void abandon() {
    lock.lock();
    try {
      gone = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
