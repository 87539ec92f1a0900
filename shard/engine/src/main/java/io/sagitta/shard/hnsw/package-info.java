// SPDX-License-Identifier: Apache-2.0

/**
 * The graph: build and search, without any I/O.
 *
 * <p>A {@link io.sagitta.shard.hnsw.VectorIndex} holds one vector field of one segment: a code for
 * each row, from which distances are estimated, and a hierarchical navigable small world of links
 * between rows (Malkov and Yashunin 2018). Read it first, then {@link
 * io.sagitta.shard.hnsw.GraphMemory}, where the bytes are. {@link
 * io.sagitta.shard.hnsw.GraphBuilder} inserts, {@link io.sagitta.shard.hnsw.GraphSearcher}
 * searches; both go by {@link io.sagitta.shard.hnsw.GraphWalk}. {@link
 * io.sagitta.shard.hnsw.NeighbourCodes} spare a search of a complete graph most of its visits.
 * {@link io.sagitta.shard.hnsw.GraphSpace} says what a distance is.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>An ordinal means the same row in every stage of a segment, so an index grows with it, is
 *       sealed with it and is mapped back without being rewritten.
 *   <li>A row is encoded before it is inserted, and inserted once. Its code never changes after.
 *   <li>Links lead to rows that are encoded, on a level that they have, never to a row without a
 *       vector, never to the row itself, never twice in one list.
 *   <li>Estimates are the same bits on every machine ({@link
 *       io.sagitta.shard.distance.CodeScorer}). Graphs are not: they depend on who inserted first,
 *       and are shipped, not rebuilt.
 *   <li>A search allocates nothing once it has grown its room.
 *   <li>Memory outlives its last reader: a search holds what it reads.
 * </ul>
 *
 * <p><b>Memory, byte by byte</b>, also in files; little-endian; {@code n} rows, {@code M} links.
 *
 * <pre>
 * high    n * stride   high nibbles and factors of each row, or bits: CodeLayout
 * low     n * stride   low nibbles and factors; absent for bits, and once dropped
 * links   n * 8 M      level 0: 2 M ints a row: ordinals from the front, then -1
 * levels  n * 4        an int a row: 16 * (first block in upper) + level; on level 0 alone 0;
 *                      -1 for a row without a vector
 * upper   b * 4 M      blocks of M ints, ordinals from the front, then -1: a row of level l has l,
 *                      for its levels 1 to l
 * near    n * 16 R     where it pays: a nibble for each of R runs of components and each of 2 M = 32
 *                      links; for each 16 links, runs in pairs, 16 bytes: ScanTable.putCodes
 * </pre>
 *
 * <p>Beside these an image has the parameters, the centre, the number of rows, the entry and its
 * level. What a code means depends further on {@link io.sagitta.shard.hnsw.Rotation}, which never
 * changes.
 */
package io.sagitta.shard.hnsw;
