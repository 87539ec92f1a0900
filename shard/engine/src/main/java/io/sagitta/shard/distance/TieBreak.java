// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

/** Orders two candidates of equal score by their ids; asked only for such. */
@FunctionalInterface
public interface TieBreak {
  /** Negative where the id of {@code left} comes first; 0 only for the same point. */
  int compare(long left, long right);
}
