// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.GroupColumn;
import io.sagitta.shard.distance.BestRows;
import io.sagitta.shard.distance.TopK;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The best rows of each of some groups. */
final class GroupMembers implements BestRows {
  private final GroupValues values;
  private final Supplier<TopK> heaps;
  private final Map<GroupColumn.Value, TopK> groups = new LinkedHashMap<>();

  /**
   * No groups yet.
   *
   * @param heaps makes an empty heap for the rows of one group
   */
  GroupMembers(GroupValues values, Supplier<TopK> heaps) {
    this.values = values;
    this.heaps = heaps;
  }

  /** The rows of a group, best first; at least one. */
  record Rows(float[] scores, long[] refs) {}

  void add(GroupColumn.Value group) {
    groups.computeIfAbsent(group, g -> heaps.get());
  }

  boolean has(GroupColumn.Value group) {
    return groups.containsKey(group);
  }

  /** The groups and the heaps that hold their rows. */
  Map<GroupColumn.Value, TopK> groups() {
    return groups;
  }

  @Override
  public void offerAll(float[] scores, int at, int count, long firstRef) {
    for (int i = 0; i < count; i++) {
      offer(values.of(firstRef + i), scores[at + i], firstRef + i);
    }
  }

  @Override
  public void offerAll(float[] scores, int at, int[] ordinals, int count, long firstRef) {
    for (int i = 0; i < count; i++) {
      long ref = firstRef + ordinals[i];
      offer(values.of(ref), scores[at + i], ref);
    }
  }

  /** Offers a row; those of other groups are passed over. */
  void offer(GroupColumn.Value group, float score, long ref) {
    TopK heap = group == null ? null : groups.get(group);
    if (heap != null) {
      heap.offer(score, ref);
    }
  }

  /** The groups that have rows, in no order; empties the heaps. */
  List<Rows> drain() {
    List<Rows> all = new ArrayList<>();
    for (TopK heap : groups.values()) {
      if (heap.size() > 0) {
        Rows rows = new Rows(new float[heap.size()], new long[heap.size()]);
        heap.drain(rows.scores, rows.refs);
        all.add(rows);
      }
    }
    return all;
  }
}
