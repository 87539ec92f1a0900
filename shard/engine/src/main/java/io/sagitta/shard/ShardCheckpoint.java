// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

/**
 * A durable checkpoint: the state at exactly one log position.
 *
 * @param term term of the last entry it holds
 * @param index log index of that entry
 * @param manifest the small self-describing manifest that names and checksums every other file
 */
public record ShardCheckpoint(long term, long index, byte[] manifest) {}
