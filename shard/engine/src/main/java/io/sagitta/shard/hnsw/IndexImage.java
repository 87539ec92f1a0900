// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import java.lang.foreign.MemorySegment;

/**
 * An index as the regions of memory it consists of, for a file and back; the package comment says
 * what each holds. Valid while the index is.
 *
 * @param centre what was subtracted from every vector, not rotated
 * @param size rows, with and without a vector
 * @param entry row that searches start at; -1 where no row has a vector
 * @param entryLevel its level
 * @param upperBlocks blocks in {@code upper}
 * @param low null where it was dropped, and for bits
 * @param neighbours null where there are none
 */
public record IndexImage(
    IndexParameters parameters,
    float[] centre,
    int size,
    int entry,
    int entryLevel,
    int upperBlocks,
    MemorySegment high,
    MemorySegment low,
    MemorySegment links,
    MemorySegment levels,
    MemorySegment upper,
    Neighbours neighbours) {
  /**
   * What neighbours are like, see {@link NeighbourCodes}.
   *
   * @param codes of every row
   * @param codebook of {@link io.sagitta.shard.distance.SubspaceQuantizer}
   * @param deviation of the estimates' errors
   */
  public record Neighbours(MemorySegment codes, float[] codebook, float deviation) {}
}
