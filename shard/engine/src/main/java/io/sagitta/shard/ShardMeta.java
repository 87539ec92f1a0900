// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.SlotRange;

/**
 * What a shard is, beside its rows and writers: changed only by entries of its own log. Immutable.
 *
 * @param init what it was created as
 * @param epoch shard-map epoch at which its slots or schema last changed; an entry routed by an
 *     older map is stale
 * @param slots the slots it owns
 * @param schema its schema
 * @param fieldIdMax highest field id it has ever seen; ids are not used again
 */
record ShardMeta(
    ShardInit init, long epoch, SlotRange slots, CollectionSchema schema, int fieldIdMax) {

  static ShardMeta of(ShardInit init) {
    return new ShardMeta(
        init, init.epoch(), init.slots(), init.schema(), fieldIdMax(init.schema(), 0));
  }

  ShardMeta withSchema(CollectionSchema next, long mapEpoch) {
    return new ShardMeta(
        init, Math.max(epoch, mapEpoch), slots, next, fieldIdMax(next, fieldIdMax));
  }

  /** {@code _version} of rows written by the entry at a log index. */
  long version(long index) {
    return init.versionBase() + index;
  }

  private static int fieldIdMax(CollectionSchema schema, int before) {
    return schema.fields().stream().mapToInt(f -> f.fieldId()).reduce(before, Math::max);
  }
}
