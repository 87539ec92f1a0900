// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.flight.RequestHandler.ScanSink;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.CommitToken;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.router.fanout.ActiveCall;
import io.sagitta.router.merge.IdOrderMerger;
import io.sagitta.router.merge.IdOrderMerger.Page;
import io.sagitta.router.plan.ScanCursor;
import io.sagitta.router.rows.IdKeys;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeoutException;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;

/** Merges the shards of a scan into its sink, batch by batch. */
final class ScanMerge implements AutoCloseable {
  private static final int BATCH_ROWS_MAX = 8_192;

  private final RouterOptions options;
  private final ShardMap.Collection collection;
  private final List<ShardScan> shards;
  private final BufferAllocator allocator;
  private long left;

  ScanMerge(
      RouterOptions options,
      ShardMap.Collection collection,
      List<ShardScan> shards,
      OptionalInt limit,
      BufferAllocator allocator) {
    this.options = options;
    this.collection = collection;
    this.shards = List.copyOf(shards);
    this.left = limit.isPresent() ? limit.getAsInt() : Long.MAX_VALUE;
    this.allocator = allocator;
  }

  /** Gives rows until the limit or the end, once every shard has answered; answers the cursor. */
  String into(ScanSink sink, Schema schema, Optional<ScanCursor> from, ActiveCall call)
      throws InterruptedException {
    shards.forEach(ShardScan::begin);
    Optional<PointId> last = from.map(ScanCursor::after);
    List<Page> pages = pages(call);
    sink.start(schema);
    while (left > 0) {
      if (pages.isEmpty()) {
        return ScanCursor.END;
      }
      int rowsMax = (int) Math.min(left, BATCH_ROWS_MAX);
      try (VectorSchemaRoot rows =
          IdOrderMerger.next(pages, rowsMax, options.answerBytesMax(), allocator)) {
        left -= rows.getRowCount();
        last = Optional.of(lastId(rows));
        sink.next(rows);
      }
      // Also after the last row asked for: that tells one that was the last from one that was not.
      pages = pages(call);
    }
    return pages.isEmpty() ? ScanCursor.END : cursor(last.orElseThrow(), from).text();
  }

  private List<Page> pages(ActiveCall call) throws InterruptedException {
    List<Page> pages = new ArrayList<>(shards.size());
    for (ShardScan shard : shards) {
      try {
        shard.page().ifPresent(pages::add);
      } catch (InterruptedException | SagittaException e) {
        throw e;
      } catch (TimeoutException e) {
        throw call.ended("scan of shard " + shard.shard().number(), e);
      } catch (Exception e) {
        throw new SagittaException(ErrorCode.INTERNAL, "a scan failed", e);
      }
    }
    return pages;
  }

  private PointId lastId(VectorSchemaRoot rows) {
    IdKeys ids = IdKeys.of(collection.schema().idType(), rows.getVector(CollectionSchema.ID));
    return ids.id(rows.getRowCount() - 1);
  }

  private ScanCursor cursor(PointId after, Optional<ScanCursor> from) {
    Map<ShardId, Long> indexes = new HashMap<>();
    for (ShardScan shard : shards) {
      indexes.put(shard.shard().id(), shard.index());
    }
    CommitToken seen = from.map(ScanCursor::seen).orElse(CommitToken.EMPTY);
    return new ScanCursor(collection.id(), after, seen.merge(new CommitToken(indexes)));
  }

  @Override
  public void close() {
    shards.forEach(ShardScan::close);
  }
}
