// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import java.util.concurrent.atomic.AtomicInteger;

/** Something with several holders, whose memory goes with the last. Made with one. */
abstract class Counted {
  private final AtomicInteger holders = new AtomicInteger(1);

  /** Becomes a holder, unless there is none any more: then false. */
  public final boolean tryRetain() {
    int count = holders.get();
    while (count > 0) {
      int seen = holders.compareAndExchange(count, count + 1);
      if (seen == count) {
        return true;
      }
      count = seen;
    }
    return false;
  }

  /** Ends a hold. */
  public final void release() {
    int left = holders.decrementAndGet();
    if (left == 0) {
      free();
    } else if (left < 0) {
      throw new IllegalStateException("released more often than held");
    }
  }

  abstract void free();
}
