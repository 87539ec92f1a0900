// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.flight.Command;
import io.sagitta.flight.RequestHandler.PutReply;
import io.sagitta.flight.RequestHandler.PutSession;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.router.fanout.ActiveCall;
import io.sagitta.router.fanout.ShardWriter;
import io.sagitta.router.plan.PutPlan;
import io.sagitta.router.routing.MapCache;
import io.sagitta.router.rows.CanonicalRows;
import io.sagitta.router.rows.LastRows;
import io.sagitta.router.rows.RowNormaliser;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * One put stream. A batch is checked, converted and cut while its bytes are still the caller's;
 * then its entries are sent, and its reply comes when every shard has answered.
 *
 * <p><b>Order.</b> Batches are at work together as long as no id is in two of them: entries that
 * touch different points may be applied in any order, however often one of them has to be sent
 * again. A batch that touches an id of one still at work waits for it. So for every point the order
 * of the calls holds, and without failures entries reach their leaders in the order of the calls
 * altogether.
 *
 * <p><b>Bounds.</b> {@link RouterOptions#streamBatchesMax} batches and {@link
 * RouterOptions#streamBytesMax} bytes are at work; {@link #put} blocks until there is room, which
 * stops the reading of the stream and so slows its client.
 *
 * <p>Calls of {@link #put} come from one thread at a time; {@link #close} may come from any.
 */
final class PutStream implements PutSession {
  private final RouterOptions options;
  private final RouterParts parts;
  private final MapCache maps;
  private final ShardWriter writer;
  private final Admission admission;
  private final Command.Put put;
  private final Schema sent;
  private final DictionaryProvider dictionaries;
  private final ActiveCall stream;

  private ShardMap.Collection collection;
  private RowNormaliser normaliser;

  /** Guards the two below. */
  private final Object lock = new Object();

  private final Map<Long, AtWork> atWork = new LinkedHashMap<>();
  private long bytesAtWork;
  private long batches;

  /** A batch that has not been answered. */
  private record AtWork(LastRows ids, long bytes, CompletableFuture<PutReply> reply) {}

  PutStream(
      RouterOptions options,
      RouterParts parts,
      MapCache maps,
      ShardWriter writer,
      Admission admission,
      Command.Put put,
      ShardMap.Collection collection,
      Schema sent,
      DictionaryProvider dictionaries,
      RowNormaliser normaliser,
      ActiveCall stream) {
    this.options = options;
    this.parts = parts;
    this.maps = maps;
    this.writer = writer;
    this.admission = admission;
    this.put = put;
    this.collection = collection;
    this.sent = sent;
    this.dictionaries = dictionaries;
    this.normaliser = normaliser;
    this.stream = stream;
  }

  @Override
  public CompletableFuture<PutReply> put(
      VectorSchemaRoot batch, OptionalLong seq, OptionalLong ackedBelow) {
    try {
      if (put.writer().isPresent() && seq.isEmpty()) {
        throw SagittaException.invalid(
            "the stream has a writer, so each batch needs {\"seq\": n} as app_metadata");
      }
      return admitted(batch, seq, ackedBelow);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return CompletableFuture.failedFuture(
          new SagittaException(ErrorCode.UNAVAILABLE, "the node stops", e));
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private CompletableFuture<PutReply> admitted(
      VectorSchemaRoot batch, OptionalLong seq, OptionalLong ackedBelow)
      throws InterruptedException {
    long bytes = 0;
    for (FieldVector vector : batch.getFieldVectors()) {
      bytes += vector.getBufferSize();
    }
    awaitRoom(bytes);
    Admission.Admitted admitted = admission.write(bytes);
    CompletableFuture<PutReply> reply;
    try {
      reply = start(batch, bytes, seq, ackedBelow);
    } catch (Throwable e) {
      admitted.close();
      throw e;
    }
    return reply.whenComplete((done, failure) -> admitted.close());
  }

  private CompletableFuture<PutReply> start(
      VectorSchemaRoot batch, long bytes, OptionalLong seq, OptionalLong ackedBelow)
      throws InterruptedException {
    ActiveCall call = stream.atMost(options.writeTimeout().toNanos());
    ShardMap map = followSchema(call);
    PutPlan plan;
    try (CanonicalRows rows = normaliser.normalise(batch, parts.allocator())) {
      plan = PutPlan.of(collection, put, rows, seq, ackedBelow);
    }
    PutBatch at = new PutBatch(writer, plan, seq, call);
    List<CompletableFuture<PutReply>> before = sharingIds(plan.ids());
    CompletableFuture<PutReply> reply;
    if (before.isEmpty()) {
      at.send(map);
      reply = CompletableFuture.supplyAsync(() -> result(at), parts.workers());
    } else {
      reply =
          CompletableFuture.allOf(before.toArray(CompletableFuture[]::new))
              .handle((done, failure) -> null)
              .thenApplyAsync(
                  done -> {
                    at.send(maps.current());
                    return result(at);
                  },
                  parts.workers());
    }
    remember(new AtWork(plan.ids(), bytes, reply));
    return reply;
  }

  private static PutReply result(PutBatch batch) {
    try {
      return batch.reply();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CompletionException(e);
    }
  }

  /** Follows the collection to its present schema; the same incarnation or none. */
  private ShardMap followSchema(ActiveCall call) throws InterruptedException {
    ShardMap map = maps.current();
    ShardMap.Collection now = MapCache.sameIncarnation(map, collection).orElse(null);
    if (now == null) {
      map = maps.refresh(0, call);
      now =
          MapCache.sameIncarnation(map, collection)
              .orElseThrow(
                  () ->
                      SagittaException.notFound(
                          "collection "
                              + Names.quote(collection.name())
                              + " was dropped while the stream was open"));
    }
    if (now.schema().version() != normaliser.schema().version()) {
      normaliser = RowNormaliser.compile(now.schema(), put.mode(), sent, dictionaries);
    }
    collection = now;
    return map;
  }

  private void awaitRoom(long bytes) throws InterruptedException {
    while (true) {
      CompletableFuture<PutReply> oldest;
      synchronized (lock) {
        boolean room =
            atWork.size() < options.streamBatchesMax()
                && (atWork.isEmpty() || bytesAtWork + bytes <= options.streamBytesMax());
        if (room) {
          return;
        }
        oldest = atWork.values().iterator().next().reply;
      }
      // Every batch ends by its own deadline, and so does this wait.
      oldest.handle((reply, failure) -> null).join();
    }
  }

  private List<CompletableFuture<PutReply>> sharingIds(LastRows ids) {
    List<CompletableFuture<PutReply>> sharing = new ArrayList<>();
    synchronized (lock) {
      for (AtWork other : atWork.values()) {
        if (other.ids.mayShareIds(ids)) {
          sharing.add(other.reply);
        }
      }
    }
    return sharing;
  }

  private void remember(AtWork batch) {
    long number;
    synchronized (lock) {
      number = batches++;
      atWork.put(number, batch);
      bytesAtWork += batch.bytes;
    }
    CompletableFuture<?> unused =
        batch.reply.whenComplete(
            (reply, failure) -> {
              synchronized (lock) {
                atWork.remove(number);
                bytesAtWork -= batch.bytes;
              }
            });
  }

  /** What is at work goes on: its entries have been sent, and their outcome is worth knowing. */
  @Override
  public void close() {}
}
