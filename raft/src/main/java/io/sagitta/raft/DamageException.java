// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft;

import java.io.IOException;

/**
 * What lies on disk is not what was written there. Unlike other failures of a disk, trying again
 * does not help; the message names the file, and what was found and expected.
 */
public class DamageException extends IOException {
  private static final long serialVersionUID = 1L;

  public DamageException(String message) {
    super(message);
  }

  public DamageException(String message, Throwable cause) {
    super(message, cause);
  }
}
