// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The first {@code rows} rows of a segment in memory at one instant: what a growing segment shows
 * of itself and what it leaves behind when it is frozen. Immutable, though the columns it points
 * into go on growing behind its rows.
 */
final class AppliedRows {
  private final Chunk[] chunks;
  private final int chunkCount;
  private final int rows;
  private final LongPages versions;
  private final LongPages previous;
  private final IdTable table;
  private final long bytes;

  /**
   * An instant.
   *
   * @param chunks its chunks in order; elements behind {@code chunkCount} are not looked at
   * @param previous ordinal of the row before with the same id in this segment, or NOT_FOUND
   * @param table the last row of each id, some of them perhaps behind {@code rows}
   */
  AppliedRows(
      Chunk[] chunks,
      int chunkCount,
      int rows,
      LongPages versions,
      LongPages previous,
      IdTable table,
      long bytes) {
    this.chunks = chunks;
    this.chunkCount = chunkCount;
    this.rows = rows;
    this.versions = versions;
    this.previous = previous;
    this.table = table;
    this.bytes = bytes;
  }

  int rows() {
    return rows;
  }

  long bytes() {
    return bytes;
  }

  long version(int row) {
    return versions.get(row);
  }

  List<Chunk> runs() {
    return Collections.unmodifiableList(Arrays.asList(chunks).subList(0, chunkCount));
  }

  /**
   * The last row with an id. Entries of the table may have been moved to rows behind ours since;
   * rows of one chain have one id, so the first of it that is ours is looked at instead.
   */
  int find(IdColumn ids, int row, long hash) {
    for (long cursor = table.start(hash);
        cursor != IdTable.END;
        cursor = table.next(hash, cursor)) {
      int found = table.row(cursor);
      while (found >= rows) {
        found = (int) previous.get(found);
      }
      if (found != Segment.NOT_FOUND && has(found, ids, row)) {
        return found;
      }
    }
    return Segment.NOT_FOUND;
  }

  /** Whether the row has the id at {@code row} of {@code ids}. */
  private boolean has(int found, IdColumn ids, int row) {
    Chunk chunk = chunkOf(found);
    return ids.same(row, chunk.ids(), found - chunk.start());
  }

  private Chunk chunkOf(int row) {
    return Chunk.holding(chunks, chunkCount, row);
  }
}
