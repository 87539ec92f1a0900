// SPDX-License-Identifier: Apache-2.0
/**
 * The filter language (docs/filters.md): one SQL-like grammar at every entry.
 *
 * <p>Text becomes a {@link io.sagitta.model.filter.Filter} ({@link
 * io.sagitta.model.filter.FilterParser}: grammar and limits, no schema), which becomes a {@link
 * io.sagitta.model.filter.Predicate} ({@link io.sagitta.model.filter.FilterBinder}: names, types,
 * literals turned into exact bounds of the column's own type). The engine evaluates predicates on
 * columns; the router binds only to refuse early. Start with {@code Filter}.
 *
 * <p>Invariants: a value never becomes text; nothing recurses deeper than {@link
 * io.sagitta.model.filter.FilterParser#DEPTH_MAX}; numbers are exact until they meet a column.
 */
package io.sagitta.model.filter;
