// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.GroupColumn;
import io.sagitta.model.Metric;
import io.sagitta.shard.distance.BestRows;
import io.sagitta.shard.distance.TieBreak;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;

/**
 * The k best groups among the rows seen, by the best row of each. Rows may be offered in any order,
 * and twice.
 *
 * <p>It remembers k groups only, and that is enough: a group that was pushed out had, at that time,
 * k groups before it, whose best rows only get better. It can return by a row that is better than
 * what it had, and then that row is its best; what was forgotten of it does not matter.
 *
 * <p>Most rows are worse than the k-th group and cost one comparison.
 */
final class GroupTop implements BestRows {
  private final int k;
  private final boolean higherIsBetter;
  private final TieBreak ties;
  private final GroupValues values;
  private final Map<GroupColumn.Value, Leader> leaders = new HashMap<>();
  private final TreeSet<Leader> order = new TreeSet<>(this::compare);

  /** Scores worse than this cannot enter. */
  private float floor;

  /** The best row of a group. */
  record Leader(GroupColumn.Value group, float score, long ref) {}

  GroupTop(int k, Metric metric, TieBreak ties, GroupValues values) {
    this.k = k;
    this.higherIsBetter = metric.higherIsBetter();
    this.ties = ties;
    this.values = values;
    this.floor = higherIsBetter ? Float.NEGATIVE_INFINITY : Float.POSITIVE_INFINITY;
  }

  /** Refuses from now on every score strictly worse than {@code score}. */
  void bound(float score) {
    if (isWorse(floor, score)) {
      floor = score;
    }
  }

  @Override
  public void offerAll(float[] scores, int at, int count, long firstRef) {
    for (int i = 0; i < count; i++) {
      if (!isWorse(scores[at + i], floor)) {
        offer(scores[at + i], firstRef + i);
      }
    }
  }

  @Override
  public void offerAll(float[] scores, int at, int[] ordinals, int count, long firstRef) {
    for (int i = 0; i < count; i++) {
      if (!isWorse(scores[at + i], floor)) {
        offer(scores[at + i], firstRef + ordinals[i]);
      }
    }
  }

  private void offer(float score, long ref) {
    GroupColumn.Value group = values.of(ref);
    if (group != null) {
      offer(group, score, ref);
    }
  }

  /** Offers a row whose group is known. */
  void offer(GroupColumn.Value group, float score, long ref) {
    if (isWorse(score, floor)) {
      return;
    }
    Leader offered = new Leader(group, score, ref);
    Leader before = leaders.get(group);
    if (before != null) {
      if (compare(offered, before) >= 0) {
        return;
      }
      order.remove(before);
    } else if (isFull()) {
      Leader last = order.last();
      if (compare(offered, last) >= 0) {
        return;
      }
      order.remove(last);
      leaders.remove(last.group);
    }
    leaders.put(group, offered);
    order.add(offered);
    if (isFull()) {
      bound(order.last().score);
    }
  }

  boolean isFull() {
    return order.size() == k;
  }

  /** Whether a row of this score might change anything; where scores are equal, its id decides. */
  boolean canImprove(float score) {
    return isFull() ? isWorse(floor, score) : !isWorse(score, floor);
  }

  /** The groups, best first. */
  Collection<Leader> leaders() {
    return Collections.unmodifiableCollection(order);
  }

  /** Best first, equal scores by id. */
  int compare(Leader a, Leader b) {
    if (a.score != b.score) {
      return isWorse(a.score, b.score) ? 1 : -1;
    }
    return ties.compare(a.ref, b.ref);
  }

  private boolean isWorse(float score, float than) {
    return higherIsBetter ? score < than : score > than;
  }
}
