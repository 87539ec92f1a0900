// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.model.SagittaException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The bounds on what is at work at a time. A read beyond them is refused at once: it has cost
 * nothing yet, and waiting readers would only grow a queue. A batch waits a little, for it has
 * already travelled and its stream slows down meanwhile.
 */
final class Admission {
  /** Suggested to refused clients: long against a search, short against a human. */
  private static final long RETRY_AFTER_MS = 100;

  private static final int UNIT_BYTES = 1 << 10;

  private final RouterOptions options;
  private final Semaphore reads;
  private final Semaphore scans;
  private final Semaphore writeUnits;

  /** Gives back what was admitted; idempotent use is the caller's duty. */
  interface Admitted extends AutoCloseable {
    @Override
    void close();
  }

  Admission(RouterOptions options) {
    this.options = options;
    this.reads = new Semaphore(options.readsMax());
    this.scans = new Semaphore(options.scansMax());
    this.writeUnits = new Semaphore(units(options.writeBytesMax()), true);
  }

  Admitted read() {
    return admit(reads, options.readsMax() + " reads");
  }

  Admitted scan() {
    return admit(scans, options.scansMax() + " scans");
  }

  /** Waits up to {@link RouterOptions#writeWait}; a batch larger than all there is takes it all. */
  Admitted write(long bytes) throws InterruptedException {
    int units = Math.min(units(bytes), units(options.writeBytesMax()));
    if (!writeUnits.tryAcquire(units, options.writeWait().toNanos(), TimeUnit.NANOSECONDS)) {
      throw SagittaException.unavailable(
          "the node is at work on batches of " + options.writeBytesMax() + " bytes, its limit",
          RETRY_AFTER_MS);
    }
    return () -> writeUnits.release(units);
  }

  private static Admitted admit(Semaphore room, String what) {
    if (!room.tryAcquire()) {
      throw SagittaException.unavailable(
          "the node is at work on " + what + ", its limit", RETRY_AFTER_MS);
    }
    return room::release;
  }

  private static int units(long bytes) {
    return Math.toIntExact(Math.max(1, (bytes + UNIT_BYTES - 1) / UNIT_BYTES));
  }
}
