// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import io.sagitta.model.CollectionSchema;
import java.util.List;

/**
 * Rows of a shard that were applied one after the other, as readers see them. A row's place is its
 * ordinal; it never changes through the stages of a segment, and is the same on every replica.
 *
 * <p>Stages: {@link GrowingPrefix} (what a view sees of a growing segment), then {@link
 * FrozenSegment} (complete, in memory), then {@link FlushedSegment} (in files).
 */
public sealed interface Segment permits GrowingPrefix, FrozenSegment, FlushedSegment {
  /** {@link #find} found nothing. */
  int NOT_FOUND = -1;

  /** The segment's number within the shard: larger numbers hold younger rows. */
  long number();

  /** The schema its rows were written by. */
  CollectionSchema schema();

  /** Rows a view sees, dead ones included. */
  int rows();

  /** {@code _version} of a row; never falls from row to row. */
  long version(int row);

  /** Who is alive. */
  Lives lives();

  /** The rows in order, in runs. */
  List<? extends RowRun> runs();

  /**
   * The last row with an id, dead or alive.
   *
   * @param hash {@link io.sagitta.model.HashSlot#hash} of the id at {@code row} of {@code ids}
   */
  int find(IdColumn ids, int row, long hash);

  /** Bytes in memory or in files. */
  long bytes();

  /** The run that holds a row. */
  default RowRun runOf(int row) {
    List<? extends RowRun> runs = runs();
    int low = 0;
    int high = runs.size() - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (runs.get(middle).start() <= row) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return runs.get(low);
  }

  /** The first row whose version is above one; {@link #rows} where there is none. */
  default int firstAbove(long version) {
    int low = 0;
    int high = rows();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (version(middle) > version) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}
