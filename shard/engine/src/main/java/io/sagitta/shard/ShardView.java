// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.Field;
import io.sagitta.model.FilterText;
import io.sagitta.model.IdType;
import io.sagitta.model.RowBatch;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardRead;
import io.sagitta.shard.index.Indexer;
import io.sagitta.shard.log.ShardEntries;
import io.sagitta.shard.segment.IdColumn;
import io.sagitta.shard.segment.Leases;
import io.sagitta.shard.segment.Segment;
import io.sagitta.shard.segment.SegmentSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * A shard as of one log index: sees exactly the rows born at or before it that had not died. A
 * counted lease; whatever it needs stays until it is closed. Safe for any thread, also several at
 * once.
 *
 * <p>Before the shard's Init entry has been applied every read fails with UNAVAILABLE.
 */
public final class ShardView implements AutoCloseable {
  private static final long RETRY_MS = 100;

  private final Leases.Lease<SegmentSet> lease;
  private final Indexer indexer;

  ShardView(Leases.Lease<SegmentSet> lease, Indexer indexer) {
    this.lease = lease;
    this.indexer = indexer;
  }

  /** Log index of the last entry seen. */
  public long index() {
    return lease.value().index();
  }

  /** The k nearest rows to each query vector; {@code allocator} holds the answer. */
  public ReadResult search(ShardRead.Search search, BufferAllocator allocator, StopSignal stop) {
    return new SearchReader(set(), indexer, stop).search(search, allocator);
  }

  /** The rows with these ids, in the order asked, absent ones left out. */
  public ReadResult get(ShardRead.Get get, BufferAllocator allocator, StopSignal stop) {
    SegmentSet set = set();
    List<Field> fields = AnswerRows.fields(set.schema(), get.fields());
    IdType type = set.schema().idType();
    stop.check();
    long[] refs = new long[get.ids().size()];
    int count = 0;
    try (FieldVector column = IdVectors.of(type, get.ids(), allocator)) {
      IdColumn ids = IdColumn.of(type, column);
      long[] hashes = ids.hashes();
      for (int i = 0; i < refs.length; i++) {
        long ref = set.find(ids, i, hashes[i]);
        if (ref != SegmentSet.NO_REF) {
          refs[count++] = ref;
        }
      }
    }
    return new ReadResult(
        AnswerRows.of(set, refs, count, fields, allocator), looked(refs.length, ""));
  }

  /**
   * One page of rows in id order: at most {@code limit} rows and some 4 MiB, so that a page is cut
   * early where rows are large; {@link ReadStats#more} says whether to ask on after its last id.
   */
  public ReadResult scan(ShardRead.Scan scan, BufferAllocator allocator, StopSignal stop) {
    return new ScanReader(set(), stop).scan(scan, allocator);
  }

  /** Number of rows, of those that match where there is a filter. */
  public ReadResult count(ShardRead.Count count, BufferAllocator allocator, StopSignal stop) {
    SegmentSet set = set();
    long rows = set.rows();
    if (count.filter().isPresent()) {
      VisibleRows visible = new VisibleRows(set, count.filter(), stop);
      rows = 0;
      for (Segment segment : set.segments()) {
        rows += Bits.count(visible.of(segment));
      }
    }
    return new ReadResult(AnswerRows.ofCount(rows, allocator), looked(set.rows(), ""));
  }

  /** The rows a filter matches, for a DeleteWhere or SetWhere entry. Runs on the leader. */
  public Candidates resolve(FilterText filter, BufferAllocator allocator, StopSignal stop) {
    SegmentSet set = set();
    VisibleRows visible = new VisibleRows(set, Optional.of(filter), stop);
    LongStream.Builder refs = LongStream.builder();
    long found = 0;
    for (int i = 0; i < set.segments().size(); i++) {
      int position = i;
      long[] bits = visible.of(set.segments().get(i));
      found += Bits.count(bits);
      if (found > ShardEntries.ENTRY_BYTES_MAX / Long.BYTES) {
        return new Candidates(set.index(), Optional.empty());
      }
      Bits.forEach(bits, row -> refs.add(SegmentSet.ref(position, row)));
    }
    long[] places = refs.build().toArray();
    RowGather rows = new RowGather(set, places, places.length);
    try (VectorSchemaRoot ids =
        new VectorSchemaRoot(List.of(rows.ids(set.schema().idType(), allocator)))) {
      return new Candidates(
          set.index(), Optional.of(RowBatchCodec.encode(ids, List.of(RowBatch.COLUMN_ID))));
    }
  }

  /** Order-independent digest over (id, version, vectors, payload) of the rows seen; 24 bytes. */
  public byte[] digest() {
    return Digest.of(set());
  }

  @Override
  public void close() {
    lease.close();
  }

  private SegmentSet set() {
    SegmentSet set = lease.value();
    if (set.schema() == null) {
      throw SagittaException.unavailable("the shard is not initialised yet", RETRY_MS);
    }
    return set;
  }

  private static ReadStats looked(long rows, String explain) {
    return new ReadStats(true, 0, 0, 0, 0, rows, 1, false, explain);
  }
}
