// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.flight.internal.ShardDoor;
import io.sagitta.model.ShardMap;

/**
 * The door to each node's shards: in-process for this node, over the internal port for the others
 * (the fan-out's peer connections). Any thread, never blocks; a node that cannot be reached shows
 * in the futures of its door.
 */
public interface Doors {
  ShardDoor door(ShardMap.Node node);
}
