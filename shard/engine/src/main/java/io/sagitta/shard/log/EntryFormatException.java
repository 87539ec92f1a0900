// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.log;

import java.io.IOException;

/**
 * A log entry this version cannot read: damaged, or written by a later version. Applying what
 * follows it would let this replica drift from the others, so it stops.
 */
public final class EntryFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  EntryFormatException(String message) {
    super(message);
  }

  EntryFormatException(String message, Throwable cause) {
    super(message, cause);
  }
}
