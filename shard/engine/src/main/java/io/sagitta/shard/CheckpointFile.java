// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

/**
 * A file of a checkpoint, as its manifest names it.
 *
 * @param name name within the shard's directory; what peers ask for
 * @param length bytes
 * @param checksum CRC32C of all its bytes
 */
public record CheckpointFile(String name, long length, int checksum) {}
