// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.GroupColumn;
import io.sagitta.shard.segment.RowRun;
import io.sagitta.shard.segment.Segment;
import io.sagitta.shard.segment.SegmentSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.apache.arrow.vector.FieldVector;

/** Which group a row belongs to: its value of one field. One request, one thread. */
final class GroupValues {
  private final SegmentSet set;
  private final int fieldId;
  private final Map<RowRun, Optional<GroupColumn>> columns = new IdentityHashMap<>();

  GroupValues(SegmentSet set, int fieldId) {
    this.set = set;
    this.fieldId = fieldId;
  }

  /** The group of a row by its reference; null where it belongs to none. */
  GroupColumn.Value of(long ref) {
    int row = SegmentSet.row(ref);
    RowRun run = set.segments().get(SegmentSet.segment(ref)).runOf(row);
    return value(column(run), row - run.start());
  }

  /** Clears those rows of a segment that belong to no group, or to one that does not pass. */
  void keep(Segment segment, long[] bits, Predicate<GroupColumn.Value> passes, StopSignal stop) {
    for (RowRun run : segment.runs()) {
      stop.check();
      Optional<GroupColumn> column = column(run);
      int end = Math.min(segment.rows(), run.start() + run.rows());
      for (int row = Bits.next(bits, run.start(), end);
          row < end;
          row = Bits.next(bits, row + 1, end)) {
        GroupColumn.Value value = value(column, row - run.start());
        if (value == null || !passes.test(value)) {
          bits[row >> 6] &= ~(1L << row);
        }
      }
    }
  }

  private Optional<GroupColumn> column(RowRun run) {
    return columns.computeIfAbsent(
        run,
        r -> {
          FieldVector column = r.column(fieldId);
          return column == null ? Optional.empty() : Optional.of(GroupColumn.of(column));
        });
  }

  /** Rows written before the field was added have no column of it. */
  private static GroupColumn.Value value(Optional<GroupColumn> column, int row) {
    return column.isEmpty() ? null : column.get().value(row);
  }
}
