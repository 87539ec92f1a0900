// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import io.grpc.StatusRuntimeException;
import io.sagitta.flight.Command;
import io.sagitta.flight.Commands;
import io.sagitta.flight.FlightErrors;
import io.sagitta.flight.PutAck;
import io.sagitta.flight.PutBatchTag;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.WriterId;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.arrow.vector.types.pojo.Schema;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The life of a writer: one thread that owns its window and its stream, and does what the events in
 * its queue call for.
 *
 * <p>The window holds what has not been answered, by number. While a stream is ready, batches go
 * out in the order of their numbers; an answer takes its batch out. When the stream ends, whatever
 * is left in the window goes out again on the next one, in order, after a wait. A batch leaves
 * without an answer only when its time is up, or when the server refused it with a code that a
 * retry cannot cure.
 */
final class WriterLoop implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(WriterLoop.class);

  private static final long FOREVER = TimeUnit.DAYS.toNanos(365);

  /** Of a batch's time the last part, and its most, in which no other attempt is begun. */
  private static final int LAST_TRY_SHARE = 20;

  private static final Duration LAST_TRY_MAX = Duration.ofMillis(500);

  private final WriterOptions options;
  private final WriterId id;
  private final Connections connections;
  private final Backoff backoff;
  private final long lastTryNanos;
  private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  /** What the loop is told. */
  private sealed interface Event {
    record Begin(Schema schema) implements Event {}

    record Added(Pending batch) implements Event {}

    record Stream(PutCall.Event event) implements Event {}

    record End() implements Event {}
  }

  /** A batch that has not been answered. */
  private static final class Pending {
    private final long seq;
    private final EncodedBatch batch;
    private final long deadlineNanos;
    private final CompletableFuture<PutAck.Done> answer = new CompletableFuture<>();
    // On its way on the stream at hand.
    private boolean sent;
    // Some attempt may have been applied, or part of it: then it can no longer be called not
    // applied.
    private boolean maybeApplied;
    private SagittaException lastFailure;

    private Pending(long seq, EncodedBatch batch, long deadlineNanos) {
      this.seq = seq;
      this.batch = batch;
      this.deadlineNanos = deadlineNanos;
    }
  }

  // The loop's thread only.
  private final TreeMap<Long, Pending> window = new TreeMap<>();
  private OutgoingFrame opening;
  private PutCall stream;
  // The stream at hand: the server takes batches; no more go out on it.
  private boolean ready;
  private boolean leaving;
  // A batch has been refused for good on it: the stream will end with that refusal.
  private boolean refused;
  private long nextToSend;
  // When to open the next stream.
  private long openAtNanos;
  private boolean ending;

  WriterLoop(WriterOptions options, WriterId id, Connections connections, Backoff backoff) {
    this.options = options;
    this.id = id;
    this.connections = connections;
    this.backoff = backoff;
    this.lastTryNanos =
        Math.min(LAST_TRY_MAX.toNanos(), options.batchTimeout().toNanos() / LAST_TRY_SHARE);
  }

  // ---- from other threads

  /** Says what the batches will look like. */
  void begin(Schema schema) {
    events.add(new Event.Begin(schema));
  }

  CompletableFuture<PutAck.Done> add(long seq, EncodedBatch batch) {
    long deadline = System.nanoTime() + options.batchTimeout().toNanos();
    Pending pending = new Pending(seq, batch, deadline);
    events.add(new Event.Added(pending));
    return pending.answer;
  }

  /** Ends the stream and waits for that; called once all is answered. */
  void end() throws InterruptedException {
    events.add(new Event.End());
    try {
      ended.get(options.batchTimeout().toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      log.debug("writer {} did not end its stream in time", id, e);
    }
  }

  // ---- the loop

  @Override
  public void run() {
    try {
      while (!(ending && stream == null)) {
        long waitNanos = step();
        Event event = events.poll(waitNanos, TimeUnit.NANOSECONDS);
        if (event != null) {
          handle(event);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failAll(new SagittaException(ErrorCode.OUTCOME_UNKNOWN, "the writer was interrupted", e));
    } catch (RuntimeException e) {
      // A bug; whoever waits must not wait for ever.
      log.error("writer {} stops", id, e);
      failAll(FlightErrors.toSagitta(e));
    } finally {
      if (stream != null) {
        stream.cancel("the writer ends");
      }
      ended.complete(null);
    }
  }

  /** Does what is due now; returns how long nothing else will be. */
  private long step() {
    long now = System.nanoTime();
    expire(now);
    if (ending && stream != null && !leaving) {
      leave();
    }
    if (stream == null && !window.isEmpty() && !ending) {
      long waitNanos = openAtNanos - now;
      if (waitNanos > 0) {
        return Math.min(waitNanos, untilExpiry(now));
      }
      open();
    }
    pump();
    return untilExpiry(now);
  }

  private long untilExpiry(long now) {
    return window.isEmpty() ? FOREVER : Math.max(1, oldest().deadlineNanos - now);
  }

  private Pending oldest() {
    return window.firstEntry().getValue();
  }

  private void handle(Event event) {
    switch (event) {
      case Event.Begin(Schema schema) ->
          opening =
              EncodedBatch.schema(
                  schema,
                  Commands.print(
                      new Command.Put(
                          options.collection(),
                          options.mode(),
                          Optional.of(id),
                          options.create())));
      case Event.Added(Pending batch) -> window.put(batch.seq, batch);
      case Event.End end -> ending = true;
      case Event.Stream(PutCall.Event.Ready(PutCall call)) -> {
        // step() sends.
      }
      case Event.Stream(PutCall.Event.Acked(PutCall call, PutAck ack)) -> {
        if (call == stream) {
          acked(ack);
        }
      }
      case Event.Stream(PutCall.Event.Closed closed) -> {
        if (closed.call() == stream) {
          closed(closed);
        }
      }
    }
  }

  private void open() {
    nextToSend = window.firstKey();
    ready = false;
    leaving = false;
    refused = false;
    stream =
        PutCall.open(connections.current(), opening, event -> events.add(new Event.Stream(event)));
  }

  /** Sends what the transport has room for. */
  private void pump() {
    while (stream != null && ready && !leaving && stream.isReady()) {
      var next = window.ceilingEntry(nextToSend);
      if (next == null || isTooLate(next.getValue())) {
        return;
      }
      // All below the oldest unanswered batch has been answered, or given up.
      PutBatchTag tag =
          new PutBatchTag(OptionalLong.of(next.getKey()), OptionalLong.of(window.firstKey()));
      next.getValue().sent = true;
      stream.send(next.getValue().batch.frame(tag));
      nextToSend = next.getKey() + 1;
    }
  }

  /**
   * Whether a batch that is known not to be applied would hardly be answered any more: then its
   * refusal is worth more to the caller than an attempt of unknown outcome.
   */
  private boolean isTooLate(Pending batch) {
    return batch.lastFailure != null
        && !batch.maybeApplied
        && batch.deadlineNanos - System.nanoTime() < lastTryNanos;
  }

  private void leave() {
    leaving = true;
    stream.halfClose();
  }

  // ---- answers

  private void acked(PutAck ack) {
    switch (ack) {
      case PutAck.Ready first -> ready = true;
      case PutAck.Rotate rotate -> {
        if (!leaving) {
          leave();
        }
        connections.failed(stream.connection());
      }
      case PutAck.Done done -> done(done);
      case PutAck.Failed failed -> {
        Pending batch = window.get(failed.seq().orElse(-1));
        if (batch != null) {
          failed(batch, failed.error());
        }
      }
    }
  }

  private void done(PutAck.Done done) {
    Pending batch = window.get(done.seq().orElse(-1));
    if (batch == null) {
      return;
    }
    Optional<SagittaException> failure = failure(done);
    if (failure.isPresent()) {
      batch.maybeApplied |= leavesOpen(done);
      failed(batch, failure.get());
      return;
    }
    window.remove(batch.seq);
    backoff.reset();
    batch.answer.complete(done);
  }

  /** What kept a shard from applying its rows: a batch is done only when every shard is. */
  private static Optional<SagittaException> failure(PutAck.Done done) {
    for (PutAck.ShardAck shard : done.shards()) {
      Optional<ErrorCode> code = failureCode(shard);
      if (code.isPresent()) {
        return Optional.of(
            new SagittaException(code.get(), "shard " + shard.shard() + " did not apply its rows"));
      }
    }
    return Optional.empty();
  }

  private static Optional<ErrorCode> failureCode(PutAck.ShardAck shard) {
    return Arrays.stream(ErrorCode.values())
        .filter(code -> shard.outcome().equals(code.qualified()))
        .findFirst();
  }

  /** Whether some of a batch that failed took effect, or may have: a shard's, or a piece of one. */
  private static boolean leavesOpen(PutAck.Done done) {
    return done.shards().stream()
        .anyMatch(
            shard ->
                shard.index() >= 0 || failureCode(shard).map(WriterLoop::leavesOpen).orElse(true));
  }

  /** Keeps the batch for another attempt where that may help; else its failure is its answer. */
  private void failed(Pending batch, SagittaException error) {
    batch.lastFailure = error;
    batch.sent = false;
    batch.maybeApplied |= leavesOpen(error.code());
    if (!worthAnotherTry(error.code())) {
      refused = true;
      window.remove(batch.seq);
      batch.answer.completeExceptionally(error);
    }
  }

  private static boolean leavesOpen(ErrorCode code) {
    return code == ErrorCode.OUTCOME_UNKNOWN || code == ErrorCode.DEADLINE_EXCEEDED;
  }

  /** The same writer and number make another attempt safe, whatever became of the first. */
  private static boolean worthAnotherTry(ErrorCode code) {
    return switch (code) {
      case UNAVAILABLE, OUTCOME_UNKNOWN, DEADLINE_EXCEEDED -> true;
      case INVALID_ARGUMENT,
          NOT_FOUND,
          ALREADY_EXISTS,
          CONFLICT,
          LIMIT,
          UNAUTHENTICATED,
          PERMISSION_DENIED,
          SESSION_EXPIRED,
          UNIMPLEMENTED,
          CORRUPT,
          INTERNAL ->
          false;
    };
  }

  // ---- ends of streams

  private void closed(PutCall.Event.Closed closed) {
    boolean wasReady = ready;
    boolean wasLeaving = leaving;
    PutCall ended = stream;
    stream = null;
    ready = false;
    if (closed.status().isOk() && wasLeaving) {
      openAtNanos = System.nanoTime();
      return;
    }
    StatusRuntimeException cause = new StatusRuntimeException(closed.status(), closed.trailers());
    SagittaException error = FlightErrors.fromCall(cause, true);
    for (Pending batch : window.values()) {
      // With a code of ours the server says that it has answered all that it began.
      batch.maybeApplied |= batch.sent && leavesOpen(error.code());
      batch.sent = false;
    }
    if (worthAnotherTry(error.code())) {
      window.values().forEach(batch -> batch.lastFailure = error);
      connections.failed(ended.connection());
      long waitMs = backoff.next(error.retryAfterMs());
      openAtNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs);
      return;
    }
    openAtNanos = System.nanoTime();
    if (wasReady) {
      refusedMidway(error);
    } else {
      // Not even opened: what is wrong is wrong for every batch.
      failAll(error);
    }
  }

  /**
   * A refusal that ends the stream is that of the first batch without an answer, since the server
   * answers in order; unless it has just been told as a batch's own answer.
   */
  private void refusedMidway(SagittaException error) {
    if (!refused && !window.isEmpty() && oldest().seq < nextToSend) {
      failed(oldest(), error);
    }
  }

  // ---- time

  /** Gives up batches whose time is up, and a stream that no longer answers. */
  private void expire(long now) {
    boolean late = false;
    while (!window.isEmpty() && oldest().deadlineNanos - now <= 0) {
      Pending batch = window.pollFirstEntry().getValue();
      batch.answer.completeExceptionally(timedOut(batch));
      late = true;
    }
    if (late && stream != null) {
      // What went out on it may be applied yet, whatever the next attempt is told.
      for (Pending batch : window.values()) {
        batch.maybeApplied |= batch.sent;
        batch.sent = false;
      }
      stream.cancel("no answer in time");
      connections.failed(stream.connection());
      stream = null;
      openAtNanos = now;
    }
  }

  private SagittaException timedOut(Pending batch) {
    String text = "no outcome of batch " + batch.seq + " within " + options.batchTimeout();
    SagittaException last = batch.lastFailure;
    ErrorCode code =
        batch.sent || batch.maybeApplied
            ? ErrorCode.OUTCOME_UNKNOWN
            : last == null ? ErrorCode.UNAVAILABLE : last.code();
    return new SagittaException(
        code, last == null ? text : text + ": " + last.getMessage(), -1, last);
  }

  private void failAll(SagittaException error) {
    while (!window.isEmpty()) {
      window.pollFirstEntry().getValue().answer.completeExceptionally(error);
    }
  }
}
