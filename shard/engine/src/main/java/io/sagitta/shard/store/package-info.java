// SPDX-License-Identifier: Apache-2.0

/**
 * The seam to the file system: everything a shard keeps goes through {@link
 * io.sagitta.shard.store.FileStore}, one directory of files under names the engine chose.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>No path and no name of a client's gets here; {@link io.sagitta.shard.store.FileNames} is
 *       the one rule.
 *   <li>Nothing is durable before it is asked for: a file's bytes after {@link
 *       io.sagitta.shard.store.FileOutput#sync}, a name (created, renamed, deleted) after {@link
 *       io.sagitta.shard.store.FileStore#syncDirectory}.
 *   <li>A failed sync is final for the file: the bytes may be lost although a second sync succeeds.
 * </ul>
 *
 * <p>{@link io.sagitta.shard.store.FsStore} is the real one. The test jar has {@code
 * CrashableStore}, which loses whatever was not asked to be durable, at any operation.
 */
package io.sagitta.shard.store;
