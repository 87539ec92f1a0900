// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft;

/** The group is not hosted here. */
public final class NoSuchGroup extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public NoSuchGroup(String message) {
    super(message);
  }

  public NoSuchGroup(String message, Throwable cause) {
    super(message, cause);
  }
}
