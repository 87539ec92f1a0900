// SPDX-License-Identifier: Apache-2.0

/**
 * What the cluster agrees on, and how it comes about: nodes, collections, their shards and where
 * each replica lives.
 *
 * <p>The agreed state is {@link io.sagitta.node.placement.ClusterState}, an immutable value
 * replicated by the metadata group ({@link io.sagitta.node.placement.MetaState}); only a {@code
 * Transition} makes a new one. The metadata leader compares it with what nodes report and lets
 * {@code Planner}, a pure function, say what to do next; {@link
 * io.sagitta.node.placement.Reconciler} does it. Every command, order and step may be repeated.
 *
 * <p>Invariants: the epoch grows with every change a router may have to know; a group's voters
 * change by one at a time; a replica is made once, and one that is missing later does not vote
 * again as its old self; a collection is in the {@code ShardMap} only once all its shards have come
 * up.
 *
 * <p>Start with {@link io.sagitta.node.placement.Cluster}, the package's door; then {@code
 * Planner}.
 */
package io.sagitta.node.placement;
