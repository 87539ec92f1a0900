// SPDX-License-Identifier: Apache-2.0

/**
 * Runs plans against shards: who is asked next, how long it is waited for, what is tried again.
 *
 * <p>{@link io.sagitta.router.fanout.ShardReader} reads one shard from whichever replica answers,
 * {@link io.sagitta.router.fanout.ReadFanout} several at once; {@link
 * io.sagitta.router.fanout.ShardWriter} sends entries to a shard's leader. {@link
 * io.sagitta.router.fanout.PeerConnections} holds the connections to other nodes and gives the
 * remote {@link io.sagitta.flight.internal.ShardDoor}.
 *
 * <p>Invariants. A read may be asked of anyone any number of times. A write without a key is never
 * sent again once it may have been appended; with a key it is, until the deadline. An answer that
 * nobody waits for any more is closed by whoever gave up waiting. Everything that waits, waits on a
 * virtual thread, by the call's deadline and for its cancellation.
 */
package io.sagitta.router.fanout;
