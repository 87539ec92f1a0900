// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.FilterText;
import io.sagitta.model.filter.FilterBinder;
import io.sagitta.shard.filter.ColumnFilter;
import io.sagitta.shard.filter.RowColumns;
import io.sagitta.shard.segment.RowRun;
import io.sagitta.shard.segment.Segment;
import org.apache.arrow.vector.FieldVector;

/** A filter bound to a schema, ready to be evaluated on segments. */
final class RowFilter {
  private final ColumnFilter filter;

  private RowFilter(ColumnFilter filter) {
    this.filter = filter;
  }

  /** INVALID_ARGUMENT where the filter does not fit the schema. */
  static RowFilter of(FilterText text, CollectionSchema schema) {
    return new RowFilter(new ColumnFilter(FilterBinder.bind(text, schema)));
  }

  /** Clears the rows that do not match; runs of which no row is set are not looked at. */
  void and(Segment segment, long[] bits) {
    for (RowRun run : segment.runs()) {
      int rows = Math.min(run.rows(), segment.rows() - run.start());
      if (rows > 0 && Bits.any(bits, run.start(), run.start() + rows)) {
        Bits.keep(bits, run.start(), rows, filter.matching(new RunColumns(run, rows)));
      }
    }
  }

  /** The columns of a run, or of those of its rows that a view sees. */
  private record RunColumns(RowRun run, int rows) implements RowColumns {
    @Override
    public FieldVector column(int fieldId) {
      return fieldId == 0 ? run.columns().ids() : run.column(fieldId);
    }

    @Override
    public boolean hasVector(int fieldId, int row) {
      return run.vectors(fieldId) != null && run.hasVector(fieldId, row);
    }
  }
}
