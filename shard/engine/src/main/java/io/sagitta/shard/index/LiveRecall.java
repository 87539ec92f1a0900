// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

/**
 * Corrects a calibration by what searches miss. The queries that come in need not be like the
 * stored rows it was measured with; where they miss more than was asked, searches are planned for
 * fewer misses by a factor, which every sample moves a little: up where the search missed more than
 * it was allowed, down where less, so that it rests where they miss as much as they may. It is
 * never below 1: what the build measured is kept at least.
 *
 * <p>Any thread.
 */
public final class LiveRecall {
  /** How far one sample moves the factor's logarithm, for each time that it missed too much. */
  private static final double GAIN = 0.02;

  /**
   * The most times that a sample counts at once. What a search missed beyond that is owed to the
   * next samples, which pay it off where they miss nothing: one search that found nothing is no
   * reason yet, but where the misses are all such searches, the mean is made of them.
   */
  private static final double MOVE_MAX = 5;

  private static final double OWED_MAX = 200;

  /** Of searches that may miss next to nothing, this is what they may. */
  private static final double ALLOWED_MIN = 0.005;

  private static final double FACTOR_MAX = 1_000;

  private double logFactor;
  private double owed;
  private long samples;

  private volatile double factor = 1;

  /**
   * Takes a search that was repeated exactly.
   *
   * @param wanted the mean recall that was asked for
   * @param recall what it found of the true hits
   */
  synchronized void observed(double wanted, double recall) {
    double allowed = Math.max(ALLOWED_MIN, 1 - wanted);
    owed = Math.min(OWED_MAX, owed + (1 - recall) / allowed - 1);
    double move = Math.min(MOVE_MAX, owed);
    owed -= move;
    logFactor = Math.clamp(logFactor + GAIN * move, 0, Math.log(FACTOR_MAX));
    factor = Math.exp(logFactor);
    samples++;
  }

  /** The recall that a calibration must promise for {@code wanted} to come true. */
  public double toPlan(double wanted) {
    return 1 - (1 - wanted) / factor;
  }

  /** What is to be expected where a calibration promises {@code planned}. */
  public double expected(double planned) {
    return factor > 1 ? Math.max(0, 1 - (1 - planned) * factor) : planned;
  }

  /** By how much fewer misses are planned than asked; 1 where the calibration holds. */
  public double factor() {
    return factor;
  }

  /** Searches repeated so far. */
  public synchronized long samples() {
    return samples;
  }
}
