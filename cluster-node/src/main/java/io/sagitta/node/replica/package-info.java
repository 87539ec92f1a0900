// SPDX-License-Identifier: Apache-2.0

/**
 * Where Raft and the shard engine meet.
 *
 * <p>{@link io.sagitta.node.replica.LocalShards} is what router and peers see: writes are admitted,
 * encoded, proposed; reads wait until they are fresh enough and run on the search pool. {@code
 * ShardReplica} is one shard under Raft. {@link io.sagitta.node.replica.CheckpointFetcher} and
 * {@link io.sagitta.node.replica.CheckpointExports} move checkpoints before Raft announces them;
 * {@link io.sagitta.node.replica.ReplicaRepair} has them moved where a replica's files are damaged,
 * and {@link io.sagitta.node.replica.Scrub} finds damage while the node runs.
 *
 * <p>Invariants: nothing is logged of a write that was refused; no read runs on a Raft or network
 * thread; Raft alone opens and closes replicas. Start with {@code LocalShards}.
 */
package io.sagitta.node.replica;
