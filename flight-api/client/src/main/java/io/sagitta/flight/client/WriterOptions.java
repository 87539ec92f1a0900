// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriterId;
import java.time.Duration;
import java.util.Optional;

/**
 * How a writer writes.
 *
 * @param collection where to
 * @param mode what a batch does to the points it names
 * @param create the collection to create if there is none; one that is there must be as it asks
 * @param writer an identity opened before; absent: the client opens one
 * @param batchesMax batches under way at once
 * @param bytesMax bytes of batches under way at once
 * @param batchTimeout how long a batch may take, all its retries included
 */
public record WriterOptions(
    String collection,
    WriteMode mode,
    Optional<CreateSpec> create,
    Optional<WriterId> writer,
    int batchesMax,
    int bytesMax,
    Duration batchTimeout) {
  public WriterOptions {
    if (batchesMax < 1 || bytesMax < 1) {
      throw new IllegalArgumentException("a writer needs room for a batch");
    }
  }

  /** Upserts, 16 batches and 64 MiB under way, 30 s for a batch. */
  public static WriterOptions of(String collection) {
    return new WriterOptions(
        collection,
        WriteMode.UPSERT,
        Optional.empty(),
        Optional.empty(),
        16,
        64 << 20,
        Duration.ofSeconds(30));
  }

  public WriterOptions withMode(WriteMode other) {
    return new WriterOptions(collection, other, create, writer, batchesMax, bytesMax, batchTimeout);
  }

  public WriterOptions withCreate(CreateSpec spec) {
    return new WriterOptions(
        collection, mode, Optional.of(spec), writer, batchesMax, bytesMax, batchTimeout);
  }

  public WriterOptions withWriter(WriterId id) {
    return new WriterOptions(
        collection, mode, create, Optional.of(id), batchesMax, bytesMax, batchTimeout);
  }

  public WriterOptions withWindow(int batches, int bytes) {
    return new WriterOptions(collection, mode, create, writer, batches, bytes, batchTimeout);
  }

  public WriterOptions withBatchTimeout(Duration longest) {
    return new WriterOptions(collection, mode, create, writer, batchesMax, bytesMax, longest);
  }
}
