// SPDX-License-Identifier: Apache-2.0
/**
 * Log entries: a protobuf header ({@code log.proto}) and at most one Arrow record batch.
 *
 * <p>{@link io.sagitta.shard.log.ShardEntries} writes them on the leader, {@link
 * io.sagitta.shard.log.LogEntryDecoder} reads them on every replica into the sealed {@link
 * io.sagitta.shard.log.LogEntry}. Invariant: what cannot be read exactly is never applied; it stops
 * the replica. Start with {@code LogEntry}.
 */
package io.sagitta.shard.log;
