// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

/** Takes scored rows, a block at a time, and keeps of them what it holds to be the best. */
public interface BestRows {
  /** Offers {@code scores[at + i]} as {@code firstRef + i} for {@code i} below {@code count}. */
  void offerAll(float[] scores, int at, int count, long firstRef);

  /** Offers {@code scores[at + i]} as {@code firstRef + ordinals[i]}. */
  void offerAll(float[] scores, int at, int[] ordinals, int count, long firstRef);
}
