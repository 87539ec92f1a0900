// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.FilterText;
import io.sagitta.shard.segment.Segment;

/** A filter bound to a schema, ready to be evaluated on segments. */
final class RowFilter {
  private RowFilter() {}

  static RowFilter of(FilterText text, CollectionSchema schema) {
    throw new UnsupportedOperationException();
  }

  /** Clears the rows that do not match; only rows set are looked at. */
  void and(Segment segment, long[] bits) {
    throw new UnsupportedOperationException();
  }
}
