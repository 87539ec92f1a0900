// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.Field;
import io.sagitta.model.FilterText;
import io.sagitta.model.Names;
import io.sagitta.model.PayloadField;
import io.sagitta.model.RowBatch;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.SagittaException;
import io.sagitta.model.WriteOutcome;
import io.sagitta.shard.log.LogEntry;
import io.sagitta.shard.segment.IdColumn;
import io.sagitta.shard.segment.Segment;
import io.sagitta.shard.segment.SegmentSet;
import io.sagitta.shard.segment.Segments;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Applies a delete or a set by filter: to exactly the rows that match at the entry's log position.
 * Of the rows that the leader's view saw, the entry names those that matched, and rows never
 * change; so only rows born after that view are looked at here.
 */
final class WhereWriter {
  /** Rows a set may write anew, in bytes: they are in memory until the next flush. */
  static final long SET_BYTES_MAX = 256L << 20;

  private static final int BLOCK_ROWS = 1_024;
  private static final long NOW = Long.MAX_VALUE - 1;

  private final Segments segments;
  private final ShardMeta meta;
  private final BufferAllocator allocator;

  WhereWriter(Segments segments, ShardMeta meta, BufferAllocator allocator) {
    this.segments = segments;
    this.meta = meta;
    this.allocator = allocator;
  }

  /** Deletes what matches. */
  WriteOutcome delete(LogEntry.DeleteWhere where, long index) {
    long[] refs = matching(where.filter(), where.candidates(), segments.writersView(0, NOW));
    for (long ref : refs) {
      segments.die(ref, index);
    }
    return new WriteOutcome.Applied(index, refs.length, List.of(), false);
  }

  /**
   * Sets and unsets fields of what matches: each such row is written anew with its other values.
   */
  WriteOutcome set(LogEntry.SetWhere where, long index) {
    checkFields(where);
    SegmentSet before = segments.writersView(0, NOW);
    long[] refs = matching(where.filter(), where.candidates(), before);
    checkSize(before, refs);
    try (VectorSchemaRoot values =
        where.values().isPresent()
            ? RowBatchCodec.decode(where.values().get(), meta.schema(), allocator)
            : new VectorSchemaRoot(List.of())) {
      List<Integer> columns = where.values().map(RowBatch::columns).orElse(List.of());
      Set<Integer> unset = new HashSet<>(where.unset());
      for (int from = 0; from < refs.length; from += BLOCK_ROWS) {
        long[] block = Arrays.copyOfRange(refs, from, Math.min(refs.length, from + BLOCK_ROWS));
        rewrite(new RowGather(before, block, block.length), columns, values, unset, index);
        for (long ref : block) {
          segments.die(ref, index);
        }
      }
    }
    return new WriteOutcome.Applied(index, refs.length, List.of(), false);
  }

  /** References of the live rows that match, each once, in the order of their places. */
  private long[] matching(FilterText text, Candidates candidates, SegmentSet set) {
    RowFilter filter = RowFilter.of(text, meta.schema());
    LongStream.Builder refs = LongStream.builder();
    long seen = Long.MIN_VALUE;
    if (candidates.ids().isPresent()) {
      seen = meta.version(candidates.viewIndex());
      addCandidates(candidates.ids().get(), seen, refs);
    }
    for (int i = set.segments().size() - 1; i >= 0; i--) {
      Segment segment = set.segments().get(i);
      int from = segment.firstAbove(seen);
      if (from < segment.rows()) {
        long[] bits = segment.lives().alive(segment.rows(), NOW);
        Bits.clear(bits, 0, from);
        filter.and(segment, bits);
        int position = i;
        Bits.forEach(bits, row -> refs.add(SegmentSet.ref(position, row)));
      }
    }
    return refs.build().sorted().distinct().toArray();
  }

  private void addCandidates(RowBatch batch, long seen, LongStream.Builder refs) {
    if (!batch.columns().equals(List.of(RowBatch.COLUMN_ID))) {
      throw SagittaException.invalid(
          "candidates have columns " + batch.columns() + ", expected the id alone");
    }
    try (VectorSchemaRoot root = RowBatchCodec.decode(batch, meta.schema(), allocator)) {
      IdColumn ids = IdColumn.of(meta.schema().idType(), root.getVector(0));
      long[] hashes = ids.hashes();
      for (int row = 0; row < ids.rows(); row++) {
        long ref = segments.find(ids, row, hashes[row]);
        if (ref != SegmentSet.NO_REF && segments.version(ref) <= seen) {
          refs.add(ref);
        }
      }
    }
  }

  private void checkFields(LogEntry.SetWhere where) {
    List<Integer> named = new ArrayList<>(where.unset());
    where.values().ifPresent(values -> named.addAll(values.columns()));
    if (named.isEmpty()) {
      throw SagittaException.invalid("there is nothing to set or unset");
    }
    if (new HashSet<>(named).size() != named.size()) {
      throw SagittaException.invalid("a field is set or unset twice: " + named);
    }
    for (int fieldId : named) {
      Field field =
          meta.schema()
              .field(fieldId)
              .orElseThrow(() -> SagittaException.invalid("no field has number " + fieldId));
      if (!(field instanceof PayloadField)) {
        throw SagittaException.invalid(
            "field " + Names.quote(field.name()) + " is not payload: only payload can be set");
      }
    }
  }

  private void checkSize(SegmentSet set, long[] refs) {
    RowGather rows = new RowGather(set, refs, refs.length);
    long bytes = 0;
    for (int i = 0; i < refs.length; i++) {
      for (Field field : meta.schema().fields()) {
        bytes += rows.valueBytes(field, i);
      }
    }
    if (bytes > SET_BYTES_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT,
          "the filter matches %d points of %d bytes together, which a set would write anew; at most %d are allowed: narrow the filter"
              .formatted(refs.length, bytes, SET_BYTES_MAX));
    }
  }

  private void rewrite(
      RowGather rows,
      List<Integer> columns,
      VectorSchemaRoot values,
      Set<Integer> unset,
      long index) {
    List<FieldVector> anew = new ArrayList<>();
    long[] hashes;
    try {
      anew.add(rows.ids(meta.schema().idType(), allocator));
      hashes = IdColumn.of(meta.schema().idType(), anew.getFirst()).hashes();
      for (Field field : meta.schema().fields()) {
        int at = columns.indexOf(field.fieldId());
        if (at >= 0) {
          anew.add(RowGather.repeated(field, values.getVector(at), rows.count(), allocator));
        } else if (unset.contains(field.fieldId())) {
          anew.add(RowGather.nulls(field, rows.count(), allocator));
        } else {
          anew.add(rows.column(field, allocator));
        }
      }
    } catch (Throwable e) {
      anew.forEach(FieldVector::close);
      throw e;
    }
    segments.append(new VectorSchemaRoot(anew), hashes, meta.version(index));
  }
}
