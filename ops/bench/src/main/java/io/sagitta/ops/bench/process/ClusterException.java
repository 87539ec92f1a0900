// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

/** A cluster of processes does not come up, or something it needs is missing. */
public final class ClusterException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ClusterException(String message) {
    super(message);
  }

  public ClusterException(String message, Throwable cause) {
    super(message, cause);
  }
}
