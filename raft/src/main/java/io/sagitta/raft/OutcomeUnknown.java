// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft;

/** Leadership was lost or the peer stopped after the entry was appended, or perhaps. */
public final class OutcomeUnknown extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public OutcomeUnknown(String message) {
    super(message);
  }

  public OutcomeUnknown(String message, Throwable cause) {
    super(message, cause);
  }
}
