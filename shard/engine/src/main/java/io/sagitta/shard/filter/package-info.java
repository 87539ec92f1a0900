// SPDX-License-Identifier: Apache-2.0
/**
 * Evaluates predicates on columns: a run of rows at a time, 64 rows a word, by SQL's three-valued
 * logic. Growing and flushed rows go through the same code, so that they cannot differ.
 *
 * <p>Start with {@link io.sagitta.shard.filter.ColumnFilter}. Invariants: a row is never both true
 * and false; a row that is neither is unknown and is not returned; bits at and past the number of
 * rows are zero.
 */
package io.sagitta.shard.filter;
