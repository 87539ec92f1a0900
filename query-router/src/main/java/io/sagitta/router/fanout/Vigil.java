// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.fanout;

import io.sagitta.model.ShardMap;
import io.sagitta.router.Doors;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * Waits for an answer for as long as there is reason to. A replica may take its time over a large
 * read, but one whose process is paused, or which is cut off, neither answers nor refuses: its
 * callers would wait for their deadline beside replicas that can answer. So whoever has been silent
 * for a while is asked a small question, on a connection that no read or write can hold up, and
 * without a reply is waited for no longer. Nor is a leader once this node knows of another.
 */
final class Vigil {
  /** Between two looks at who leads; short against an election. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final Doors doors;
  private final Duration silence;

  /**
   * A vigil.
   *
   * @param silence how long somebody may be silent, and how long a reply may take
   */
  Vigil(Doors doors, Duration silence) {
    this.doors = doors;
    this.silence = silence;
  }

  /**
   * Waits.
   *
   * @param done completes, in whatever way, when there is nothing more to wait for
   * @param asked who may complete it
   * @param superseded whether somebody else is to be asked instead
   * @return false when whoever was asked is to be given up; otherwise it is done, or the call over
   */
  boolean keep(
      CompletableFuture<?> done,
      List<ShardMap.Node> asked,
      BooleanSupplier superseded,
      ActiveCall call)
      throws InterruptedException {
    long heard = call.remainingNanos();
    while (!Attempt.isDoneWithin(done, Math.min(LOOK_NANOS, call.remainingNanos()))) {
      if (call.isOver()) {
        return true;
      }
      if (superseded.getAsBoolean()) {
        return false;
      }
      if (heard - call.remainingNanos() >= silence.toNanos()) {
        if (!replies(done, asked)) {
          return false;
        }
        heard = call.remainingNanos();
      }
    }
    return true;
  }

  /** Whether one of them is there; or meanwhile there is nothing more to wait for. */
  private boolean replies(CompletableFuture<?> done, List<ShardMap.Node> asked)
      throws InterruptedException {
    CompletableFuture<Boolean> alive = new CompletableFuture<>();
    AtomicInteger left = new AtomicInteger(asked.size());
    for (ShardMap.Node node : asked) {
      CompletableFuture<?> unused =
          doors
              .door(node)
              .pulse(silence)
              .whenComplete(
                  (reply, failure) -> {
                    if (failure == null) {
                      alive.complete(true);
                    } else if (left.decrementAndGet() == 0) {
                      alive.complete(false);
                    }
                  });
    }
    Attempt.isDoneWithin(CompletableFuture.anyOf(done, alive), silence.toNanos());
    return done.isDone() || alive.getNow(false);
  }
}
