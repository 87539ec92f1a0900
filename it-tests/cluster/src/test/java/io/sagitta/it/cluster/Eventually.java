// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.cluster;

import io.sagitta.model.SagittaException;
import java.time.Duration;
import java.util.concurrent.Callable;

/** Waits for what a cluster does by itself. The longest time only tells a hang from slowness. */
final class Eventually {
  private static final Duration LONGEST = Duration.ofMinutes(4);
  private static final Duration POLL = Duration.ofMillis(200);

  private Eventually() {}

  /** Looks until it is so; a cluster that cannot answer now has not got there yet. */
  static void is(String what, Callable<Boolean> so) throws Exception {
    long end = System.nanoTime() + LONGEST.toNanos();
    SagittaException last = null;
    while (true) {
      try {
        if (so.call()) {
          return;
        }
      } catch (SagittaException e) {
        last = e;
      }
      if (System.nanoTime() > end) {
        throw new AssertionError(
            "not within " + LONGEST + ": " + what + (last == null ? "" : "; " + last), last);
      }
      Thread.sleep(POLL);
    }
  }
}
