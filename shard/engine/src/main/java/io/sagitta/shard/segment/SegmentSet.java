// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import io.sagitta.model.CollectionSchema;
import java.util.List;

/**
 * Everything a view at one log index sees; immutable. A row of it is seen exactly if {@link
 * Lives#isAlive} at {@link #index}, since the segments hold no row born later.
 *
 * @param schema the shard's schema at that index; null before the shard is initialised
 * @param segments oldest first; ids are unique among their rows that are seen
 * @param term term of the last entry applied
 * @param index log index of the last entry applied
 * @param rows rows seen
 */
public record SegmentSet(
    CollectionSchema schema, List<Segment> segments, long term, long index, long rows) {

  /** No row found. */
  public static final long NO_REF = -1;

  public SegmentSet {
    segments = List.copyOf(segments);
  }

  /** A row's place in this set: its segment's position and its ordinal in one long. */
  public static long ref(int segment, int row) {
    return ((long) segment << 32) | row;
  }

  /** Position of a reference's segment. */
  public static int segment(long ref) {
    return (int) (ref >>> 32);
  }

  /** Ordinal of a reference's row. */
  public static int row(long ref) {
    return (int) ref;
  }

  /** Where the row with an id is that is seen, or {@link #NO_REF}. */
  public long find(IdColumn ids, int row, long hash) {
    for (int i = segments.size() - 1; i >= 0; i--) {
      int found = segments.get(i).find(ids, row, hash);
      if (found != Segment.NOT_FOUND) {
        // An older segment's row with this id died when this one was born.
        return segments.get(i).lives().isAlive(found, index) ? ref(i, found) : NO_REF;
      }
    }
    return NO_REF;
  }
}
