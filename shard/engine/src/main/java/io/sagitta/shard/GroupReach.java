// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.GroupColumn;
import io.sagitta.shard.distance.TopK;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the walks of one query over one segment have seen of its groups: their rows, and for each
 * group down to which score nothing of it was passed over.
 */
final class GroupReach {
  private final boolean higherIsBetter;
  private final List<Seen> rows = new ArrayList<>();
  private final Map<GroupColumn.Value, Float> reach = new HashMap<>();

  /** Down to which score groups of which no row was seen have none. */
  private float reachOfOthers;

  /** A row that a walk brought. */
  record Seen(GroupColumn.Value group, float score, long ref) {}

  GroupReach(boolean higherIsBetter) {
    this.higherIsBetter = higherIsBetter;
    this.reachOfOthers = nowhere();
  }

  private float nowhere() {
    return higherIsBetter ? Float.POSITIVE_INFINITY : Float.NEGATIVE_INFINITY;
  }

  private float everywhere() {
    return -nowhere();
  }

  /** Forgets all: a walk that went further brings all of it again. */
  void clear() {
    rows.clear();
    reach.clear();
    reachOfOthers = nowhere();
  }

  /**
   * Takes in a walk over rows of groups not seen before.
   *
   * @param hits what it brought
   * @param isAll whether those were all rows there were
   * @param worst score of the last of them otherwise
   */
  void add(List<Seen> hits, boolean isAll, float worst) {
    float to = isAll ? everywhere() : worst;
    rows.addAll(hits);
    hits.forEach(hit -> reach.put(hit.group, to));
    reachOfOthers = to;
  }

  /** What a scan finds of the groups not seen before is not kept. */
  void othersUnknown() {
    reachOfOthers = nowhere();
  }

  boolean hasSeen(GroupColumn.Value group) {
    return reach.containsKey(group);
  }

  /** Whether every row of every group was seen. */
  boolean isAll() {
    return reachOfOthers == everywhere()
        && reach.values().stream().allMatch(to -> to == everywhere());
  }

  /** The rows seen. */
  List<Seen> rows() {
    return rows;
  }

  /**
   * Whether a group's best rows, as they are now in {@code best}, can be without others of here.
   */
  boolean isComplete(GroupColumn.Value group, TopK best) {
    float to = reach.getOrDefault(group, reachOfOthers);
    if (to == everywhere()) {
      return true;
    }
    return best.isFull() && (higherIsBetter ? best.floor() >= to : best.floor() <= to);
  }
}
