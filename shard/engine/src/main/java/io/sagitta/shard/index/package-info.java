// SPDX-License-Identifier: Apache-2.0

/**
 * Which graphs a shard has, and how it comes by them.
 *
 * <p>Read {@link io.sagitta.shard.index.Indexer} first. For every segment of some size and every
 * vector field it keeps a {@link io.sagitta.shard.index.FieldIndex}: a graph over a prefix of the
 * segment's rows that grows in the background, and a measurement of the recall it gives.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>A graph is derived: it is never logged, no checkpoint names it, and losing one costs time,
 *       never an answer. What a graph does not hold is scanned.
 *   <li>Rows keep their ordinals from the growing segment to the files, and a segment's number
 *       stands for the same rows on every replica, so a graph outlives its segment's stages.
 *   <li>No graph is searched before its recall has been measured on rows outside of it.
 *   <li>What was measured is a floor: {@link io.sagitta.shard.index.RecallSampler} repeats a few
 *       searches exactly, and {@link io.sagitta.shard.index.LiveRecall} asks more of the graph
 *       where they miss more than they may, never less.
 *   <li>A graph is in memory of its own, in huge pages, whether it was built or read from its file;
 *       the page cache gives up under pressure what a search touches everywhere. Its bytes are
 *       claimed from {@link io.sagitta.shard.MemoryBudget} before they are taken: without room a
 *       finished graph is mapped until there is some, and one that grows waits, its rows scanned.
 *   <li>The coordinator holds a lease while it reads a segment; readers hold the graph while they
 *       search it. Neither waits for the other.
 * </ul>
 */
package io.sagitta.shard.index;
