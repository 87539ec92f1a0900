// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ShardId;
import io.sagitta.model.SlotRange;

/**
 * What the first entry of a shard's log says: which shard this is and where it starts.
 *
 * @param shard the shard, also its Raft group
 * @param collection the collection it belongs to
 * @param number its place in the collection, from 0
 * @param epoch epoch of the shard map that created it
 * @param slots the slots it owns
 * @param schema the collection's schema
 * @param versionBase {@code _version} of a row is this plus the log index of its entry; at least 0
 * @param freeze when the growing segment is frozen, the same on every replica
 */
public record ShardInit(
    ShardId shard,
    CollectionId collection,
    int number,
    long epoch,
    SlotRange slots,
    CollectionSchema schema,
    long versionBase,
    FreezePolicy freeze) {
  public ShardInit {
    if (number < 0 || epoch < 0 || versionBase < 0) {
      throw new IllegalArgumentException(
          "shard number "
              + number
              + ", epoch "
              + epoch
              + ", version base "
              + versionBase
              + ": none may be negative");
    }
  }
}
