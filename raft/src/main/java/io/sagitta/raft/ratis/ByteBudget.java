// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import java.util.concurrent.atomic.AtomicLong;

/** Bytes in flight, up to a bound. */
final class ByteBudget {
  private final long bytesMax;
  private final AtomicLong used = new AtomicLong();

  ByteBudget(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  boolean tryTake(long bytes) {
    if (used.addAndGet(bytes) <= bytesMax) {
      return true;
    }
    used.addAndGet(-bytes);
    return false;
  }

  void giveBack(long bytes) {
    used.addAndGet(-bytes);
  }

  long used() {
    return used.get();
  }

  long bytesMax() {
    return bytesMax;
  }
}
