// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import java.util.OptionalLong;
import java.util.random.RandomGenerator;

/**
 * Waits between attempts: doubling from 25 ms to 2 s, spread by half so that clients do not march
 * in step.
 */
final class Backoff {
  private static final long FIRST_MS = 25;
  private static final long LAST_MS = 2_000;

  private final RandomGenerator random;
  private int failures;

  Backoff(RandomGenerator random) {
    this.random = random;
  }

  /** Milliseconds to wait after another failure; never less than the server asked for. */
  long next(OptionalLong retryAfterMs) {
    long base = Math.min(LAST_MS, FIRST_MS << Math.min(failures, 16));
    failures++;
    long spread = base / 2 + random.nextLong(base);
    return Math.max(spread, retryAfterMs.orElse(0));
  }

  /** Something worked: begin again with short waits. */
  void reset() {
    failures = 0;
  }
}
