// SPDX-License-Identifier: Apache-2.0

/**
 * {@code verify}: whether the replicas of a shard hold the same, and which one is odd.
 *
 * <p>{@link io.sagitta.node.verify.Verification} asks, {@link
 * io.sagitta.node.verify.ReplicaComparison} judges. Start with the latter: it is a pure function of
 * the answers. Two rules hold it: only digests taken at one log index say anything about each
 * other, and only a majority of all replicas of a shard says who is right.
 */
package io.sagitta.node.verify;
