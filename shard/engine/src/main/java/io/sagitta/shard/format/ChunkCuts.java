// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.RowSelection;
import io.sagitta.shard.segment.RowChunk;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * How a segment's rows are cut into messages: by the rows alone, however they lay in memory, since
 * every replica must cut alike.
 */
final class ChunkCuts {
  /** So that a filter's bitmaps of a chunk, 2 KiB each, stay in the first cache. */
  static final int ROWS_MAX = 16_384;

  /** What an encoder holds at a time; with one group of large rows at most twice as much. */
  static final int BYTES_MAX = 32 << 20;

  /** Chunks begin at whole words of bitmaps. */
  static final int GROUP_ROWS = 64;

  private ChunkCuts() {}

  /**
   * Ordinals at which chunks begin, and the number of rows at the end.
   *
   * @param columns what will be written
   */
  static List<Integer> of(List<RowChunk> chunks, Schema columns) {
    List<Integer> cuts = new ArrayList<>();
    cuts.add(0);
    int ordinal = 0;
    long bytes = 0;
    long group = 0;
    for (RowChunk chunk : chunks) {
      for (int size : RowBatchCodec.rowBytes(columns, RowSelection.all(chunk.columns()))) {
        group += size;
        ordinal++;
        if (ordinal % GROUP_ROWS == 0) {
          bytes = add(cuts, ordinal - GROUP_ROWS, bytes, group);
          group = 0;
        }
      }
    }
    if (ordinal % GROUP_ROWS != 0) {
      add(cuts, ordinal - ordinal % GROUP_ROWS, bytes, group);
    }
    if (ordinal > 0) {
      cuts.add(ordinal);
    }
    return cuts;
  }

  /** Adds a group to the last chunk, or begins one with it; gives the bytes of the last chunk. */
  private static long add(List<Integer> cuts, int groupStart, long bytes, long group) {
    int rows = groupStart - cuts.getLast();
    if (rows > 0 && (rows + GROUP_ROWS > ROWS_MAX || bytes + group > BYTES_MAX)) {
      cuts.add(groupStart);
      return group;
    }
    return bytes + group;
  }
}
