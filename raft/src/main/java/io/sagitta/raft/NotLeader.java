// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft;

/** This peer does not lead the group; nothing was appended. */
public final class NotLeader extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public NotLeader(String message) {
    super(message);
  }

  public NotLeader(String message, Throwable cause) {
    super(message, cause);
  }
}
