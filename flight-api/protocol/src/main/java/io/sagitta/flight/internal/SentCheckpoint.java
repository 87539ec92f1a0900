// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.internal;

/**
 * A checkpoint whose files a peer has brought here.
 *
 * @param term term of the last entry that it holds
 * @param index log index of that entry
 * @param manifest names and checksums its files
 * @param configuration the group's as committed at the peer, no older than the checkpoint; opaque
 */
public record SentCheckpoint(long term, long index, byte[] manifest, byte[] configuration) {}
