// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

/** The shard is closing or being replaced: the step at hand ends without a result. */
final class IndexingStopped extends RuntimeException {
  private static final long serialVersionUID = 1;

  IndexingStopped() {
    super("indexing has been stopped", null, false, false);
  }
}
