// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.flight.Command;
import io.sagitta.flight.internal.ShardDoor.ShardAnswer;
import io.sagitta.model.CommitToken;
import io.sagitta.model.PointId;
import io.sagitta.model.ReadMode;
import io.sagitta.model.ShardMap;
import io.sagitta.model.ShardRead;
import io.sagitta.router.fanout.ActiveCall;
import io.sagitta.router.fanout.Attempt;
import io.sagitta.router.fanout.ShardReader;
import io.sagitta.router.merge.IdOrderMerger.Page;
import io.sagitta.router.plan.Freshness;
import io.sagitta.router.plan.ScanCursor;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * One shard's part of a scan: a page at hand and the next one on its way. Pages have as many rows
 * as make about {@link RouterOptions#scanPageBytes}, learned from the page before. The first page
 * is as fresh as was asked; later ones are at least as fresh as the first, which is all that being
 * a later page takes.
 */
final class ShardScan implements AutoCloseable {
  private static final int FIRST_PAGE_ROWS = 256;
  private static final int PAGE_ROWS_MIN = 16;
  private static final int PAGE_ROWS_MAX = 8_192;

  private final RouterOptions options;
  private final ShardReader reader;
  private final Executor workers;
  private final ShardMap.Collection collection;
  private final ShardMap.Shard shard;
  private final Command.Scan scan;
  private final List<String> fields;
  private final ActiveCall call;

  private ReadMode mode;
  private Optional<PointId> after;
  private int pageRows = FIRST_PAGE_ROWS;
  private long index;

  private ShardAnswer held;
  private Page page;

  /** The next page on its way; null when none has been asked for. */
  private Attempt<ShardAnswer> coming;

  /** Whether the page at hand is the last. */
  private boolean ended;

  private long received;

  ShardScan(
      RouterOptions options,
      ShardReader reader,
      Executor workers,
      ShardMap.Collection collection,
      ShardMap.Shard shard,
      Command.Scan scan,
      List<String> fields,
      Freshness freshness,
      Optional<ScanCursor> cursor,
      ActiveCall call) {
    this.options = options;
    this.reader = reader;
    this.workers = workers;
    this.collection = collection;
    this.shard = shard;
    this.scan = scan;
    this.fields = fields;
    this.call = call;
    this.mode =
        freshness.modeAfter(shard.id(), cursor.map(ScanCursor::seen).orElse(CommitToken.EMPTY));
    this.after = cursor.map(ScanCursor::after);
    // One more than asked for tells whether there is more.
    scan.limit().ifPresent(limit -> pageRows = (int) Math.min(limit + 1L, FIRST_PAGE_ROWS));
  }

  ShardMap.Shard shard() {
    return shard;
  }

  /** Log index of the newest page. */
  long index() {
    return index;
  }

  /** Asks for the first page. */
  void begin() {
    coming = ask();
  }

  /** The page at hand, a new one when the last is used up; empty at the end of the shard. */
  Optional<Page> page() throws Exception {
    while (page == null || page.isUsedUp()) {
      release();
      if (ended) {
        return Optional.empty();
      }
      if (coming == null) {
        coming = ask();
      }
      held = coming.await();
      coming = null;
      page = new Page(collection.schema().idType(), held.rows());
      index = Math.max(index, held.stamp().index());
      mode = new ReadMode.Session(index);
      after = page.last().or(() -> after);
      received += held.rows().getRowCount();
      ended = !held.stamp().more(); // A page may be shorter than asked: large rows cut it.
      learnRows(held.rows());
      boolean enough = scan.limit().isPresent() && received > scan.limit().getAsInt();
      if (!ended && !enough) {
        coming = ask();
      }
    }
    return Optional.of(page);
  }

  private Attempt<ShardAnswer> ask() {
    ShardRead.Scan read =
        new ShardRead.Scan(
            shard.id(), mode, scan.filter(), after, OptionalInt.of(pageRows), fields);
    return call.start(
        context ->
            CompletableFuture.supplyAsync(
                () -> {
                  try {
                    return reader.read(collection, shard, read, call);
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new CompletionException(e);
                  }
                },
                workers),
        ShardAnswer::close);
  }

  private void learnRows(VectorSchemaRoot rows) {
    if (rows.getRowCount() == 0) {
      return;
    }
    long bytes = 0;
    for (FieldVector vector : rows.getFieldVectors()) {
      bytes += vector.getBufferSize();
    }
    long rowBytes = Math.max(1, bytes / rows.getRowCount());
    pageRows = Math.clamp(options.scanPageBytes() / rowBytes, PAGE_ROWS_MIN, PAGE_ROWS_MAX);
  }

  private void release() {
    if (held != null) {
      held.close();
      held = null;
      page = null;
    }
  }

  @Override
  public void close() {
    if (coming != null) {
      coming.abandon();
    }
    release();
  }
}
