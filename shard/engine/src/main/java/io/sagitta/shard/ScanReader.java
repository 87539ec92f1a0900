// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.Field;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardRead;
import io.sagitta.shard.segment.IdColumn;
import io.sagitta.shard.segment.RowRun;
import io.sagitta.shard.segment.Segment;
import io.sagitta.shard.segment.SegmentSet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Answers a scan, one page at a time in id order. Rows do not lie in that order, so a page looks at
 * every row and keeps the smallest ids after the cursor: memory is bounded by the page, and a
 * cursor holds nothing but an id, so it outlives views and restarts.
 */
final class ScanReader {
  /** Rows of a page where fewer are not asked for. */
  static final int PAGE_ROWS_MAX = 10_000;

  /** Bytes of values after which a page is cut. */
  static final long PAGE_BYTES_MAX = 4L << 20;

  private final SegmentSet set;
  private final StopSignal stop;

  ScanReader(SegmentSet set, StopSignal stop) {
    this.set = set;
    this.stop = stop;
  }

  ReadResult scan(ShardRead.Scan scan, BufferAllocator allocator) {
    List<Field> fields = AnswerRows.fields(set.schema(), scan.fields());
    int limit = Math.min(scan.limit().orElse(PAGE_ROWS_MAX), PAGE_ROWS_MAX);
    if (limit < 1) {
      throw SagittaException.invalid("limit is " + limit + ", expected at least 1");
    }
    List<Place> smallest;
    Selection selection = new Selection(limit);
    VisibleRows visible = new VisibleRows(set, scan.filter(), stop);
    if (scan.after().isPresent()) {
      try (FieldVector after =
          IdVectors.of(set.schema().idType(), List.of(scan.after().get()), allocator)) {
        select(visible, IdColumn.of(set.schema().idType(), after), selection);
      }
    } else {
      select(visible, null, selection);
    }
    smallest = selection.sorted();
    long[] refs = smallest.stream().mapToLong(Place::ref).toArray();
    int count = fitting(refs, fields);
    boolean more = selection.dropped || count < refs.length;
    return new ReadResult(
        AnswerRows.of(set, refs, count, fields, allocator),
        new ReadStats(true, 0, 0, 0, set.segments().size(), selection.seen, 1, more, ""));
  }

  private void select(VisibleRows visible, IdColumn after, Selection selection) {
    for (int i = 0; i < set.segments().size(); i++) {
      Segment segment = set.segments().get(i);
      long[] bits = visible.of(segment);
      for (RowRun run : segment.runs()) {
        stop.check();
        selectRun(run, SegmentSet.ref(i, run.start()), bits, after, selection);
      }
    }
  }

  private static void selectRun(
      RowRun run, long firstRef, long[] bits, IdColumn after, Selection selection) {
    IdColumn ids = run.ids();
    for (int row = 0; row < run.rows(); row++) {
      int ordinal = run.start() + row;
      if ((bits[ordinal >> 6] & (1L << ordinal)) != 0) {
        selection.seen++;
        if (after == null || ids.compare(row, after, 0) > 0) {
          selection.offer(ids, row, firstRef + row);
        }
      }
    }
  }

  /** How many rows of the page fit its bytes; at least one. */
  private int fitting(long[] refs, List<Field> fields) {
    RowGather rows = new RowGather(set, refs, refs.length);
    long bytes = 0;
    for (int i = 0; i < refs.length; i++) {
      for (Field field : fields) {
        bytes += rows.valueBytes(field, i);
      }
      if (bytes > PAGE_BYTES_MAX) {
        return Math.max(1, i);
      }
    }
    return refs.length;
  }

  private record Place(IdColumn ids, int row, long ref) {
    int compare(Place other) {
      return ids.compare(row, other.ids, other.row);
    }
  }

  /** The rows with the smallest ids, the largest of them on top. */
  private static final class Selection {
    private static final Comparator<Place> BY_ID = Place::compare;

    private final int limit;
    private final PriorityQueue<Place> largestFirst = new PriorityQueue<>(BY_ID.reversed());
    private boolean dropped;
    private long seen;

    Selection(int limit) {
      this.limit = limit;
    }

    void offer(IdColumn ids, int row, long ref) {
      if (largestFirst.size() == limit) {
        dropped = true;
        Place largest = largestFirst.peek();
        if (ids.compare(row, largest.ids, largest.row) > 0) {
          return;
        }
        largestFirst.poll();
      }
      largestFirst.add(new Place(ids, row, ref));
    }

    List<Place> sorted() {
      List<Place> places = new ArrayList<>(largestFirst);
      Collections.sort(places, BY_ID);
      return places;
    }
  }
}
