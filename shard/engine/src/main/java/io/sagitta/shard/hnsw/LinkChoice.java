// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.shard.distance.CodeScorer;
import io.sagitta.shard.distance.QueryPlanes;
import java.util.Arrays;

/**
 * Chooses a row's links from candidates: the nearest first, and after that only those nearer to the
 * row than to any link chosen before (Malkov and Yashunin 2018, algorithm 4), so that links lead in
 * all directions. Distances are between 8-bit codes; one thread at a time.
 *
 * <p>Copies of one vector would fill a list and say nothing. Of candidates that are copies of each
 * other one is chosen, which depends on the row whose list it is, so that each copy gets into some
 * lists. Copies of the row itself get a share of its list, so that a knot of copies hangs together;
 * nothing is passed over because it is as near to them, since all that is near the row is. A few of
 * the nearest that were passed over are added where few were chosen.
 */
final class LinkChoice {
  private static final int SPREAD = 0x9e3779b1;

  /** Its inverse modulo 2^32. */
  private static final int GATHER = 0x0e8b2f51;

  private final QueryPlanes planes;

  /** Which part of a list copies of the row itself may fill. */
  private static final int COPIES_SHARE = 4;

  private GraphMemory memory;
  private GraphSpace space;
  private final int[] self = new int[1];
  private final float[] toSelf = new float[1];
  private int[] candidates = new int[0];
  private float[] distances = new float[0];
  private long[] keys = new long[0];
  private int[] passedOver = new int[0];
  private float[] toChosen = new float[0];
  private float[] chosenDistances = new float[0];

  LinkChoice(QueryPlanes planes) {
    this.planes = planes;
  }

  void begin(GraphMemory newMemory, GraphSpace newSpace) {
    memory = newMemory;
    space = newSpace;
  }

  void end() {
    memory = null;
    space = null;
  }

  /** Room for the candidates of {@link #choose}; filled by the caller. */
  int[] candidates(int count) {
    if (candidates.length < count) {
      candidates = Arrays.copyOf(candidates, Math.max(count, 2 * candidates.length));
      distances = new float[candidates.length];
      keys = new long[candidates.length];
      passedOver = new int[candidates.length];
    }
    return candidates;
  }

  /**
   * Chooses at most {@code max} links of {@code row} from the first {@code count} candidates, at
   * least {@code min} where there are as many; nearest first, but for those added.
   *
   * @return how many, in {@code out}
   */
  int choose(int row, int count, int min, int max, int[] out) {
    assert areRows(candidates, count) : "candidates of row " + row;
    if (toChosen.length < max) {
      toChosen = new float[max];
      chosenDistances = new float[max];
    }
    sort(row, count);
    int copies = 0;
    int chosen = 0;
    int passed = 0;
    for (int i = 0; i < count && chosen < max; i++) {
      int candidate = (DistanceKeys.low(keys[i]) - row) * GATHER;
      float distance = DistanceKeys.distance(keys[i]);
      boolean copy = distance == toSelf[0];
      if (copy ? copies == max / COPIES_SHARE : isOccluded(candidate, distance, out, chosen)) {
        passedOver[passed++] = candidate;
      } else {
        copies += copy ? 1 : 0;
        chosenDistances[chosen] = distance;
        out[chosen++] = candidate;
      }
    }
    for (int i = 0; i < passed && chosen < min; i++) {
      out[chosen++] = passedOver[i];
    }
    return chosen;
  }

  private boolean areRows(int[] ordinals, int count) {
    for (int i = 0; i < count; i++) {
      if (ordinals[i] < 0 || ordinals[i] >= memory.capacity) {
        return false;
      }
    }
    return true;
  }

  private void sort(int row, int count) {
    space.rowPlanes(memory.rows, row, planes);
    score(candidates, count, distances);
    self[0] = row;
    score(self, 1, toSelf);
    for (int i = 0; i < count; i++) {
      keys[i] = DistanceKeys.key(distances[i], candidates[i] * SPREAD + row);
    }
    Arrays.sort(keys, 0, count);
  }

  /** Whether a candidate that is no copy of the row is nearer to, or a copy of, one chosen. */
  private boolean isOccluded(int candidate, float distance, int[] chosen, int count) {
    if (count == 0) {
      return false;
    }
    space.rowPlanes(memory.rows, candidate, planes);
    score(chosen, count, toChosen);
    boolean bits = memory.parameters.bits();
    for (int i = 0; i < count; i++) {
      if (chosenDistances[i] == toSelf[0]) {
        continue;
      }
      // Numbers of differing bits are often equal by chance, other distances are not.
      boolean copy = bits ? toChosen[i] == 0 : chosenDistances[i] == distance;
      if (copy || toChosen[i] < distance) {
        return true;
      }
    }
    return false;
  }

  private void score(int[] ordinals, int count, float[] out) {
    if (memory.parameters.bits()) {
      CodeScorer.bits(memory.rows, planes, ordinals, count, out);
    } else {
      CodeScorer.eight(memory.rows, planes, ordinals, count, out);
    }
  }
}
