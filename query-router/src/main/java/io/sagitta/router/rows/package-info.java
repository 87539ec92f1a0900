// SPDX-License-Identifier: Apache-2.0

/**
 * Rows as a client sends them to rows as the log holds them.
 *
 * <p>{@link io.sagitta.router.rows.RowNormaliser} is compiled once for a stream's schema and then
 * takes batch after batch: it checks a whole batch before any of it is used, converts what is not
 * canonical yet ({@link io.sagitta.model.ArrowSchemas}), borrows what is, and refuses the rest
 * naming row and column. {@link io.sagitta.router.rows.IdKeys} and {@link
 * io.sagitta.router.rows.LastRows} then say which row goes to which slot and which rows a later one
 * replaces. {@link io.sagitta.router.rows.InferredSchema} makes a collection's schema out of a
 * stream's.
 *
 * <p>Invariants: nothing here looks at a shard map, a clock or another batch; the result depends on
 * the batch and the collection's schema alone, so a batch that is sent again is cut into the same
 * pieces. Every byte of a batch comes from the network and is checked before it is read through
 * ({@code SentStructure}).
 */
package io.sagitta.router.rows;
