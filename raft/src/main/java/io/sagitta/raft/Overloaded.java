// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft;

/** A bound was reached before anything was appended. */
public final class Overloaded extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public Overloaded(String message) {
    super(message);
  }

  public Overloaded(String message, Throwable cause) {
    super(message, cause);
  }
}
