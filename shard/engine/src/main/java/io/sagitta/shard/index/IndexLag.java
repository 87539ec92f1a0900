// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

/**
 * How far a shard's graphs are behind its rows. Rows without a graph are found too, by scanning
 * them, so that searches take longer the more of them there are.
 *
 * @param waitingBytes of vectors that the indexer has yet to insert; those of segments that are too
 *     small for a graph, or whose graph finds no room in memory, do not wait
 * @param bytesPerRow of all vector fields
 * @param bytesPerSecond of vectors that have lately got into graphs while the indexer was at work;
 *     0 where it has not been yet
 */
public record IndexLag(long waitingBytes, long bytesPerRow, double bytesPerSecond) {
  /** Nothing waits. */
  public static final IndexLag NONE = new IndexLag(0, 0, 0);
}
