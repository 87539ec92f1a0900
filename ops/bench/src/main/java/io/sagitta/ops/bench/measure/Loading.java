// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import io.sagitta.flight.client.SagittaClient;
import io.sagitta.flight.client.Writer;
import io.sagitta.flight.client.WriterOptions;
import io.sagitta.model.SagittaException;
import io.sagitta.ops.bench.Progress;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.LongConsumer;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Loads rows through one writer and waits until all are acknowledged: fsynced at a majority,
 * applied and visible.
 *
 * @param rows acknowledged
 * @param seconds from the first batch sent to the last acknowledgement
 * @param latencies of single batches, from the call to the acknowledgement
 */
public record Loading(long rows, double seconds, Latencies latencies) {
  private static final int WINDOW = 16;
  private static final int WINDOW_BYTES = 64 << 20;

  public double rowsPerSecond() {
    return rows / seconds;
  }

  /**
   * Creates a collection and loads rows into it.
   *
   * @param count rows, from id 0 on
   * @param progress drawn as they are acknowledged
   */
  static Loading run(
      SagittaClient client,
      String collection,
      Rows rows,
      long count,
      int batchRows,
      Progress progress)
      throws InterruptedException {
    client.create(collection, rows.schema());
    try (BufferAllocator allocator = new RootAllocator()) {
      return run(
          client,
          collection,
          count,
          batchRows,
          (from, to) -> rows.batch(from, to, allocator),
          progress::at);
    }
  }

  /**
   * Loads rows.
   *
   * @param batch makes the batch of rows from (inclusive) to (exclusive)
   * @param progress told the number of rows acknowledged so far
   */
  public static Loading run(
      SagittaClient client,
      String collection,
      long rows,
      int batchRows,
      BiFunction<Long, Long, VectorSchemaRoot> batch,
      LongConsumer progress)
      throws InterruptedException {
    Latencies latencies = new Latencies();
    AtomicLong acknowledged = new AtomicLong();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    long begin;
    long end;
    try (Writer writer =
        client.writer(WriterOptions.of(collection).withWindow(WINDOW, WINDOW_BYTES))) {
      begin = System.nanoTime();
      for (long from = 0; from < rows && failure.get() == null; from += batchRows) {
        try (VectorSchemaRoot next = batch.apply(from, Math.min(rows, from + batchRows))) {
          long sent = System.nanoTime();
          var _ =
              writer
                  .put(next)
                  .whenComplete(
                      (done, refused) -> {
                        if (refused != null) {
                          failure.compareAndSet(null, refused);
                        } else {
                          latencies.since(sent);
                          progress.accept(acknowledged.addAndGet(done.rows()));
                        }
                      });
        }
      }
      writer.flush();
      end = System.nanoTime();
    }
    if (failure.get() != null) {
      throw unwrapped(failure.get());
    }
    return new Loading(acknowledged.get(), (end - begin) / 1e9, latencies);
  }

  private static RuntimeException unwrapped(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return cause instanceof SagittaException error
        ? error
        : new IllegalStateException("loading failed", cause);
  }
}
