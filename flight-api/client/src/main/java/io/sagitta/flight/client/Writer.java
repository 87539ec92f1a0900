// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import io.sagitta.flight.PutAck;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.WriterId;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.random.RandomGenerator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Writes batches so that each takes effect exactly once. Several are under way at a time; what a
 * broken stream leaves unanswered is sent again under the same writer and number, through another
 * endpoint if need be, until it is answered or its time is up.
 *
 * <p>Batches that touch the same point take effect in the order of the calls as long as none fails;
 * who must be sure of it also across failures waits for one before sending the next.
 *
 * <p>Calls of {@link #put} are for one thread at a time. Futures complete on the writer's own
 * thread: what hangs on them must not block.
 */
public final class Writer implements AutoCloseable {
  private final WriterId id;
  private final WriterOptions options;
  private final Semaphore batches;
  private final Semaphore bytes;
  private final WriterLoop loop;

  private Schema schema;
  private long nextSeq;
  private boolean closed;

  private Writer(WriterId id, WriterOptions options, WriterLoop loop) {
    this.id = id;
    this.options = options;
    this.loop = loop;
    this.batches = new Semaphore(options.batchesMax());
    this.bytes = new Semaphore(options.bytesMax());
  }

  static Writer open(
      WriterOptions options,
      WriterId id,
      Connections connections,
      RandomGenerator random,
      ThreadFactory threads) {
    WriterLoop loop = new WriterLoop(options, id, connections, new Backoff(random));
    Writer writer = new Writer(id, options, loop);
    threads.newThread(loop).start();
    return writer;
  }

  /** The writer's identity, which a later process may go on with. */
  public WriterId id() {
    return id;
  }

  /**
   * Writes one batch. Waits while as many batches are under way as the options allow.
   *
   * @param batch rows of one and the same schema in every call; may be reused once this returns
   * @return the batch's answer; fails with what refused it, or with OUTCOME_UNKNOWN or
   *     DEADLINE_EXCEEDED when it was not answered in its time
   */
  public CompletableFuture<PutAck.Done> put(VectorSchemaRoot batch) throws InterruptedException {
    if (closed) {
      throw new IllegalStateException("the writer is closed");
    }
    if (schema == null) {
      EncodedBatch.check(batch.getSchema());
      schema = batch.getSchema();
      loop.begin(schema);
    } else if (!schema.equals(batch.getSchema())) {
      throw SagittaException.invalid(
          "the batch's schema is " + batch.getSchema() + ", expected " + schema);
    }
    EncodedBatch encoded = EncodedBatch.encode(batch);
    int permits = Math.min(options.bytesMax(), Math.max(1, encoded.bodyBytes()));
    batches.acquire();
    bytes.acquire(permits);
    CompletableFuture<PutAck.Done> answer = loop.add(nextSeq++, encoded);
    var _ =
        answer.whenComplete(
            (done, failure) -> {
              batches.release();
              bytes.release(permits);
            });
    return answer;
  }

  /**
   * Writes one batch and waits for its answer.
   *
   * @throws SagittaException as {@link #put}
   */
  public PutAck.Done putAndWait(VectorSchemaRoot batch) throws InterruptedException {
    try {
      return put(batch).join();
    } catch (CompletionException e) {
      throw failure(e);
    }
  }

  /** Waits until every batch has been answered; how, their futures tell. */
  public void flush() throws InterruptedException {
    batches.acquire(options.batchesMax());
    batches.release(options.batchesMax());
  }

  private static SagittaException failure(CompletionException e) {
    return e.getCause() instanceof SagittaException failure
        ? failure
        : new SagittaException(ErrorCode.INTERNAL, String.valueOf(e.getCause()), e);
  }

  /** Waits for all answers and ends the stream. */
  @Override
  public void close() throws InterruptedException {
    if (closed) {
      return;
    }
    closed = true;
    flush();
    loop.end();
  }
}
