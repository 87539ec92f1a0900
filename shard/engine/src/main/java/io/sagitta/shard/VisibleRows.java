// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.FilterText;
import io.sagitta.shard.segment.Segment;
import io.sagitta.shard.segment.SegmentSet;
import java.util.Optional;

/** Which rows of a segment a read looks at: those that live at the view's index and match. */
final class VisibleRows {
  private final SegmentSet set;
  private final Optional<RowFilter> filter;
  private final StopSignal stop;

  /** INVALID_ARGUMENT where the filter does not fit the schema. */
  VisibleRows(SegmentSet set, Optional<FilterText> filter, StopSignal stop) {
    this.set = set;
    this.filter = filter.map(text -> RowFilter.of(text, set.schema()));
    this.stop = stop;
  }

  /** One bit a row. */
  long[] of(Segment segment) {
    stop.check();
    long[] bits = segment.lives().alive(segment.rows(), set.index());
    filter.ifPresent(f -> f.and(segment, bits));
    return bits;
  }
}
