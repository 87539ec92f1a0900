// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.log;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardWrite;
import io.sagitta.shard.Candidates;
import io.sagitta.shard.ShardInit;
import java.nio.ByteBuffer;

/**
 * Encodes log entries. {@code timeMs} is always the leader's clock, milliseconds since the epoch; the
 * state's own time never goes back whatever it says.
 */
public final class ShardEntries {
  private ShardEntries() {}

  /** Bytes one entry may have. */
  public static final int ENTRY_BYTES_MAX = 1 << 20;

  /** Upsert, insert, update or delete of rows. */
  public static ByteBuffer rows(ShardWrite.Rows write, long timeMs) {
    throw new UnsupportedOperationException();
  }

  /** Delete of the rows a filter matches; {@code candidates} as resolved on the leader. */
  public static ByteBuffer deleteWhere(
      ShardWrite.DeleteWhere write, Candidates candidates, long timeMs) {
    throw new UnsupportedOperationException();
  }

  /** Set and unset of payload of the rows a filter matches. */
  public static ByteBuffer setWhere(ShardWrite.SetWhere write, Candidates candidates, long timeMs) {
    throw new UnsupportedOperationException();
  }

  /** The first entry of a shard's log. */
  public static ByteBuffer init(ShardInit init, long timeMs) {
    throw new UnsupportedOperationException();
  }

  /**
   * A new schema: the shard's own with fields added or dropped and a higher version.
   *
   * @param mapEpoch epoch of the shard map that holds the new schema
   */
  public static ByteBuffer schemaChange(
      ShardId shard, long mapEpoch, CollectionSchema schema, long timeMs) {
    throw new UnsupportedOperationException();
  }

  /** Freezes the growing segment at this entry, on every replica. */
  public static ByteBuffer freeze(ShardId shard, long timeMs) {
    throw new UnsupportedOperationException();
  }
}
