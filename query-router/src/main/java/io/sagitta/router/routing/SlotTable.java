// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.routing;

import io.sagitta.model.HashSlot;
import io.sagitta.model.ShardMap;
import java.util.Arrays;
import java.util.List;

/** Slot to shard of one collection, as an array. */
public final class SlotTable {
  private final List<ShardMap.Shard> shards;
  private final short[] owners = new short[HashSlot.COUNT];

  /**
   * The table of a collection.
   *
   * @throws IllegalArgumentException when a slot has no shard or two: the map is broken
   */
  public SlotTable(ShardMap.Collection collection) {
    shards = collection.shards();
    Arrays.fill(owners, (short) -1);
    for (int place = 0; place < shards.size(); place++) {
      for (int slot = shards.get(place).slots().from();
          slot < shards.get(place).slots().to();
          slot++) {
        if (owners[slot] >= 0) {
          throw new IllegalArgumentException(
              "slot " + slot + " of " + collection.name() + " has two shards");
        }
        owners[slot] = (short) place;
      }
    }
    for (int slot = 0; slot < owners.length; slot++) {
      if (owners[slot] < 0) {
        throw new IllegalArgumentException(
            "slot " + slot + " of " + collection.name() + " is free");
      }
    }
  }

  /** Place in the collection's list of shards of the one that owns the slot. */
  public int place(int slot) {
    return owners[slot];
  }

  public ShardMap.Shard shard(int slot) {
    return shards.get(owners[slot]);
  }

  public List<ShardMap.Shard> shards() {
    return shards;
  }
}
