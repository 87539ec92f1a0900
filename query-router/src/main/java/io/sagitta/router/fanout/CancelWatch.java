// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.fanout;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Calls off what runs on a peer when its caller has gone here. A call carries only a flag, since
 * the engine looks at flags between graph hops; so one task looks at the flags of all calls to
 * peers.
 */
final class CancelWatch implements AutoCloseable {
  /** Long against a search, short against what a forgotten one costs. */
  private static final long PERIOD_MS = 20;

  private final Map<Watched, Boolean> calls = new ConcurrentHashMap<>();
  private final ScheduledFuture<?> task;

  /** A call under watch, compared by identity. */
  final class Watched implements AutoCloseable {
    private final AtomicBoolean cancelled;
    private final Runnable cancel;

    private Watched(AtomicBoolean cancelled, Runnable cancel) {
      this.cancelled = cancelled;
      this.cancel = cancel;
    }

    /** The call has ended. */
    @Override
    public void close() {
      calls.remove(this);
    }
  }

  CancelWatch(ScheduledExecutorService timer) {
    task = timer.scheduleWithFixedDelay(this::look, PERIOD_MS, PERIOD_MS, TimeUnit.MILLISECONDS);
  }

  /** Runs {@code cancel} soon after the flag is set, unless closed before. */
  Watched watch(AtomicBoolean cancelled, Runnable cancel) {
    Watched watched = new Watched(cancelled, cancel);
    calls.put(watched, Boolean.TRUE);
    return watched;
  }

  private void look() {
    for (Watched watched : calls.keySet()) {
      if (watched.cancelled.get() && calls.remove(watched) != null) {
        watched.cancel.run();
      }
    }
  }

  @Override
  public void close() {
    task.cancel(false);
  }
}
