// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * The door between an endpoint (Flight now, HTTP later) and the router that answers. Failures are
 * {@link io.sagitta.model.SagittaException}s; anything else is a bug and shows as INTERNAL.
 */
public interface RequestHandler {

  /** Top-k of every query vector. The caller closes the answer. */
  CompletableFuture<RowsAnswer> search(Command.Search search, Call call);

  /** Points by id. */
  CompletableFuture<RowsAnswer> get(Command.Get get, Call call);

  /**
   * Streams points in id order. {@code sink} gets batches one at a time and blocks while the client
   * is slow; the future completes with the cursor after the last row.
   */
  CompletableFuture<String> scan(Command.Scan scan, Call call, ScanSink sink);

  /**
   * Where the parts of a scan can be read: one a shard, in shard order. What {@code GetFlightInfo}
   * of a scan answers; the ticket of a part is the same command with {@code shard} set.
   */
  CompletableFuture<ScanPlan> planScan(Command.Scan scan, Call call);

  /**
   * Opens a put; checks collection and schema before any batch travels. The call's deadline is the
   * stream's, which may be a day away: the session bounds each batch by itself.
   *
   * @param sent schema of the stream as Arrow's readers show it: a dictionary-encoded column has
   *     the type of its indices and names its dictionary
   * @param dictionaries the stream's dictionaries, live: looked up anew for every batch
   */
  CompletableFuture<PutSession> put(
      Command.Put put, Schema sent, DictionaryProvider dictionaries, Call call);

  /** Verbs that answer with one JSON object. */
  CompletableFuture<byte[]> act(Command command, Call call);

  /** Collections as (name, Arrow schema, rows or -1). */
  CompletableFuture<List<CollectionSummary>> collections(Call call);

  /** Arrow schema of a collection, metric and roles of fields in the fields' metadata. */
  CompletableFuture<Schema> schema(String collection, Call call);

  /** Rows with a certificate; batches are cut to the wire's limit by the endpoint. */
  record RowsAnswer(VectorSchemaRoot rows, String certificateJson, String explainJson)
      implements AutoCloseable {
    @Override
    public void close() {
      rows.close();
    }
  }

  /** Where a scan's batches go. */
  interface ScanSink {
    void start(Schema schema);

    void next(VectorSchemaRoot batch) throws InterruptedException;
  }

  /** One DoPut stream. Batches of one session are put in the order of the calls. */
  interface PutSession extends AutoCloseable {
    /**
     * Puts one batch as sent: any accepted column types and order. The batch belongs to the caller
     * and may be reused once this returns.
     *
     * @param seq the writer's sequence number, absent without a writer
     */
    CompletableFuture<PutReply> put(
        VectorSchemaRoot batch, OptionalLong seq, OptionalLong ackedBelow);

    @Override
    void close();
  }

  /**
   * A batch's answer. A batch that was refused as a whole fails the future instead.
   *
   * @param json what every shard answered (docs/protocol.md, section 3); always sent to the client
   * @param failure present where at least one shard did not apply its rows: the error with which
   *     the endpoint ends the stream <em>after</em> it has sent {@code json}, so that a client that
   *     reads no replies notices, and one that does loses nothing
   */
  record PutReply(byte[] json, Optional<SagittaException> failure) {
    public PutReply(byte[] json) {
      this(json, Optional.empty());
    }
  }

  /** Arrow schema of a scan's rows and the shards that hold them. */
  record ScanPlan(Schema schema, List<ScanPart> parts) {}

  /**
   * One shard of a scan.
   *
   * @param shard number of the shard in its collection
   * @param nodes nodes that can answer, best first; any node can, these need not pass it on
   */
  record ScanPart(int shard, List<ShardMap.Node> nodes) {}

  /** One collection in a listing. */
  record CollectionSummary(String name, Schema schema, long rows) {}

  /**
   * Who calls and how long the answer is of use.
   *
   * @param deadlineNanos {@link System#nanoTime} value
   * @param onCancel registers what to do when the client goes away
   */
  record Call(String principal, long deadlineNanos, Consumer<Runnable> onCancel) {}
}
